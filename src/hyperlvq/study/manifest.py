"""What is known of the public collection: sizes, files and their checksums."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha1
from importlib.resources import files

from hyperlvq.study.data_set import DataSet

TUNING_FILE = "conxuntos.dat"
SPLITS_FILE = "conxuntos_kfold.dat"
SPLITS = "splits"
TEST_FILE = "test file"


@dataclass(frozen=True)
class Facts:
    """The sizes of a data set.

    `kind` says what it is evaluated on: its "splits" or its "test file"; `n_train` and `n_test`
    are the samples of one split, or of the two files. For a public set, `checksums` has the git
    blob SHA-1 by file.
    """

    name: str
    samples: int
    features: int
    classes: int
    kind: str
    n_train: int
    n_test: int
    checksums: Mapping[str, str] = field(default_factory=dict)


@cache
def manifest() -> dict[str, Facts]:
    """Return the public collection's data sets by name, in its order."""
    with files("hyperlvq.study").joinpath("manifest.csv").open(encoding="ascii") as table:
        return {row["name"]: _facts(row) for row in csv.DictReader(table)}


def facts_of(data_set: DataSet) -> Facts:
    """Return the sizes of a data set."""
    X, X_test = data_set.X, data_set.X_test
    n_train, n_test = (len(part) for part in data_set.splits[0])
    if X_test is not None:
        n_train, n_test = len(X), len(X_test)
    return Facts(
        data_set.name,
        samples=len(X) + (0 if X_test is None else n_test),
        features=X.shape[1],
        classes=int(data_set.y.max()) + 1,
        kind=SPLITS if X_test is None else TEST_FILE,
        n_train=n_train,
        n_test=n_test,
    )


def training_file(name: str, has_test_file: bool) -> str:
    """Return the name of the table that is trained on: the only one, or one of two."""
    return f"{name}_train_R.dat" if has_test_file else f"{name}_R.dat"


def held_out_file(name: str) -> str:
    """Return the name of the fixed test file, for sets that have one."""
    return f"{name}_test_R.dat"


def git_blob_sha1(content: bytes) -> str:
    """Return the checksum that git gives a file of this content."""
    # SHA-1 tells a damaged file from a whole one here; nothing rests on it being secure
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _facts(row: dict[str, str]) -> Facts:
    numbers = {
        column: int(row[column])
        for column in ("samples", "features", "classes", "n_train", "n_test")
    }
    return Facts(name=row["name"], kind=row["kind"], checksums=_checksums(row), **numbers)


def _checksums(row: dict[str, str]) -> dict[str, str]:
    name, has_test_file = row["name"], row["kind"] == TEST_FILE
    checksums = {
        training_file(name, has_test_file): row["table_sha1"],
        TUNING_FILE: row["tuning_sha1"],
        SPLITS_FILE: row["splits_sha1"],
    }
    return checksums | ({held_out_file(name): row["test_sha1"]} if has_test_file else {})
