"""The UCI collection and the paper's figures, for the tests marked `data`.

`HYPERLVQ_DATA` names the archive of the collection; the paper's table lies beside it.
"""

import csv
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest


def collection_path():
    """Return the archive's path; skip the test where there is none."""
    path = os.environ.get("HYPERLVQ_DATA")
    if not path:
        pytest.skip("needs the UCI collection: set HYPERLVQ_DATA to its archive")
    return Path(path)


def published_results():
    """Return the paper's settings and accuracies by data set."""
    with open(collection_path().with_name("paper_results.csv"), newline="") as table:
        return {row["dataset"]: row for row in csv.DictReader(table)}


def load_splits(names):
    """Return, by data set, its list of (X_train, y_train, X_test, y_test), each file in [0, 1]."""
    with tarfile.open(collection_path()) as archive:
        texts = {
            member.name: archive.extractfile(member).read().decode("ascii")
            for member in archive
            if member.isfile() and member.name.split("/")[-2] in names
        }
    return {name: _splits(name, texts) for name in names}


def _splits(name, texts):
    if f"data/{name}/{name}_R.dat" not in texts:
        train, test = (
            _table(texts[f"data/{name}/{name}_{part}_R.dat"]) for part in ("train", "test")
        )
        return [(*train, *test)]
    X, y = _table(texts[f"data/{name}/{name}_R.dat"])
    lines = texts[f"data/{name}/conxuntos_kfold.dat"].splitlines()
    rows = [np.array(line.split(), dtype=np.intp) for line in lines if line.strip()]
    return [
        (X[train], y[train], X[test], y[test])
        for train, test in zip(rows[::2], rows[1::2], strict=True)
    ]


def _table(text):
    values = np.array([line.split("\t")[1:] for line in text.splitlines()[1:]], dtype=np.float64)
    X, y = values[:, :-1], values[:, -1].astype(int)
    spread = np.ptp(X, axis=0)
    return (X - X.min(axis=0)) / np.where(spread > 0, spread, 1), y
