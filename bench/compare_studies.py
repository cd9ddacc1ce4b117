"""Two studies of the same models, mean accuracy against mean accuracy over the data sets.

    python bench/compare_studies.py RECORDS RECORDS

RECORDS is a records.jsonl, or one compressed by gzip.
"""

import argparse
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
from measure import Table

from hyperlvq.report.results import summarise_records

# Means of the same accuracies, added up in another order, differ by less.
ROUNDING = 1e-12


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Compare two studies.")
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    options = parser.parse_args()
    first, second = (accuracies(path) for path in (options.first, options.second))
    rows = [row(name, first[name], second[name]) for name in first if name in second]
    header = ["model", "first", "second", "difference", "standard error", "better / equal / worse"]
    print(Table("Mean accuracy", header, rows, []))


def accuracies(path: Path) -> pd.DataFrame:
    """Return the accuracy of every data set (rows) and model (columns)."""
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return summarise_records(map(json.loads, text.splitlines())).accuracies


def row(name: str, first: pd.Series, second: pd.Series) -> list[str]:
    """Return a model's means over the data sets that both have, and how they differ."""
    both = pd.concat([first, second], axis=1).dropna()
    difference = (both.iloc[:, 0] - both.iloc[:, 1]).to_numpy()
    means = [f"{mean:.4f}" for mean in both.mean()]
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    better, worse = (difference > ROUNDING).sum(), (difference < -ROUNDING).sum()
    counts = f"{better} / {len(difference) - better - worse} / {worse}"
    return [name, *means, f"{difference.mean():+.5f}", f"{error:.4f}", counts]


if __name__ == "__main__":
    main()
