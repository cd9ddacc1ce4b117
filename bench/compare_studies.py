"""Two studies of the same models, or a search over settings and the published ones.

    python bench/compare_studies.py RECORDS RECORDS
    python bench/compare_studies.py TUNING paper_results.csv

RECORDS is a records.jsonl, TUNING the tuning.jsonl of `hyperlvq study tune`; either may be
compressed by gzip. The first form compares mean accuracies over the data sets. The second says how
often a search found the published setting of a model, how often that is one of the equally good
best ones, and by how much it is worse on the tuning split. Only what the search tried is compared:
GLVQ on a hidden layer has the units and the clip that the search found for RLS.
"""

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from measure import Table

from hyperlvq.report.results import summarise_records
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.records import Record
from hyperlvq.study.settings import read_settings
from hyperlvq.study.tuning import grid_of, settings_of_grid

# Means of the same accuracies, added up in another order, differ by less.
ROUNDING = 1e-12
STUDY_HEADER = (
    *("model", "first", "second", "difference", "standard error"),
    "better / equal / worse",
)
SEARCH_HEADER = (
    *("model", "data sets", "settings", "exact", "among the best", "equally good, median"),
    *("best", "published setting", "difference", "median"),
)


class Found(NamedTuple):
    """The published setting in one search.

    `rest` is how much less accurate it is on the tuning split than the best, `n_best` the number of
    equally good best settings of the `n_settings`.
    """

    n_settings: int
    is_exact: bool
    rest: float
    best: float
    n_best: int


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Compare two studies, or a search and the paper.")
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    options = parser.parse_args()
    if options.second.suffix == ".csv":
        found = found_by_model(read_lines(options.first), options.second)
        rows = [search_row(name, results) for name, results in found.items()]
        print(Table("Search and published settings", SEARCH_HEADER, rows, []))
        return
    first, second = (accuracies(path) for path in (options.first, options.second))
    rows = [row(name, first[name], second[name]) for name in first if name in second]
    print(Table("Mean accuracy", STUDY_HEADER, rows, []))


def read_lines(path: Path) -> Iterator[Record]:
    """Read records, compressed or not."""
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return map(json.loads, text.splitlines())


def accuracies(path: Path) -> pd.DataFrame:
    """Return the accuracy of every data set (rows) and model (columns)."""
    return summarise_records(read_lines(path)).accuracies


def row(name: str, first: pd.Series, second: pd.Series) -> list[str]:
    """Return a model's means over the data sets that both have, and how they differ."""
    both = pd.concat([first, second], axis=1).dropna()
    difference = (both.iloc[:, 0] - both.iloc[:, 1]).to_numpy()
    means = [f"{mean:.4f}" for mean in both.mean()]
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    better, worse = (difference > ROUNDING).sum(), (difference < -ROUNDING).sum()
    counts = f"{better} / {len(difference) - better - worse} / {worse}"
    return [name, *means, f"{difference.mean():+.5f}", f"{error:.4f}", counts]


def found_by_model(records: Iterator[Record], published: Path) -> dict[str, list[Found]]:
    """Look the published setting up in every search whose grid has it."""
    settings = read_settings(published)
    found: dict[str, list[Found]] = {}
    for record in records:
        if record["model"] is None or record["error"] is not None:
            continue
        model = MODELS[record["model"]]
        choice = settings.choose(model, record["dataset"], 0, as_published=True)
        grid = grid_of(model, record["grid"])
        if choice is None or choice.origin != settings.name:
            continue
        searched = {name: choice.parameters[name] for name in grid}
        tried = settings_of_grid(grid)
        if searched in tried:
            result = look_up(record, searched, tried)
            found.setdefault(model.name, []).append(result)
    return {name: found[name] for name in MODELS if name in found}


def look_up(record: Record, searched: Record, tried: list[Record]) -> Found:
    """Compare the published setting with the best of a search."""
    scores = np.array(record["scores"], dtype=float)
    score, best = scores[tried.index(searched)], np.nanmax(scores)
    is_exact = all(record[name] == value for name, value in searched.items())
    return Found(
        len(tried), is_exact, best - np.nan_to_num(score), best, int((scores == best).sum())
    )


def search_row(name: str, results: list[Found]) -> list[str]:
    """Return how often the published setting came out, and what it lacks."""
    n_settings, exact, rests, best, n_best = map(np.array, zip(*results, strict=True))
    counts = len(results), n_settings[0], exact.sum(), (rests == 0).sum(), f"{np.median(n_best):g}"
    means = best.mean(), (best - rests).mean(), rests.mean(), np.median(rests)
    return [name, *map(str, counts), *(f"{mean:.4f}" for mean in means)]


if __name__ == "__main__":
    main()
