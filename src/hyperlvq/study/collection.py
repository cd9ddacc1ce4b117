"""Data sets by name: the collection of 121 UCI data sets, others in its layout, built-in ones.

What is known of the public collection stands in `manifest.csv`. A collection is a folder or an
archive; files that are not of the public layout are passed over.
"""

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha1
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import TypeVar

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.study.archive import read_archive
from hyperlvq.study.data_set import DataSet, SplitRows, parse_splits, parse_table

TUNING_FILE = "conxuntos.dat"
SPLITS_FILE = "conxuntos_kfold.dat"
N_SPLITS = 4
SPLITS = "splits"
TEST_FILE = "test file"
BUILT_IN = ("iris", "wine", "breast-cancer", "digits")
_SEED = 0  # the splits are part of the data: every run sees the same ones

#: The files of a data set by name: a folder gives paths, an archive contents.
SetFiles = Mapping[str, Path | bytes]
Parsed = TypeVar("Parsed")


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
        return {row["name"]: _facts_of_row(row) for row in csv.DictReader(table)}


def _facts_of_row(row: dict[str, str]) -> Facts:
    name, kind = row["name"], row["kind"]
    checksums = {
        training_file(name, kind == TEST_FILE): row["table_sha1"],
        TUNING_FILE: row["tuning_sha1"],
        SPLITS_FILE: row["splits_sha1"],
        **({held_out_file(name): row["test_sha1"]} if kind == TEST_FILE else {}),
    }
    columns = ("samples", "features", "classes", "n_train", "n_test")
    return Facts(name, kind=kind, checksums=checksums, **{key: int(row[key]) for key in columns})


def facts_of(data_set: DataSet) -> Facts:
    """Return the sizes of a data set."""
    n_samples, n_features, n_classes = data_set.sizes
    if data_set.X_test is None:
        n_train, n_test = (len(rows) for rows in data_set.splits[0])
        return Facts(data_set.name, n_samples, n_features, n_classes, SPLITS, n_train, n_test)
    n_test = len(data_set.X_test)
    n_all = n_samples + n_test
    return Facts(data_set.name, n_all, n_features, n_classes, TEST_FILE, n_samples, n_test)


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


def open_collection(path: str | Path) -> "Collection":
    """Return the data sets in a folder, a `.tar.gz` or a `.tar.xz`."""
    path = Path(path)
    found = find_files(path)
    if not found:
        raise InputError(f"{path} has no data set in the layout data/NAME/NAME_R.dat")
    return Collection(path, found)


class Collection:
    """Data sets by name, each parsed and checked when it is first asked for."""

    def __init__(self, path: Path, found: Mapping[str, SetFiles]):
        self.path = path
        self._files = dict(found)
        self._loaded: dict[str, DataSet] = {}
        known = [name for name in manifest() if name in found]
        self._names = known + sorted(found.keys() - manifest().keys())

    def names(self) -> list[str]:
        """Return the public sets that are there, in the manifest's order, then any others."""
        return list(self._names)

    def load(self, name: str) -> DataSet:
        """Return a data set; InputError says what is wrong with its files."""
        if name not in self._names:
            raise InputError(f"{self.path} has no data set called {name!r}")
        if name not in self._loaded:
            self._loaded[name] = _read_set(name, self._files[name])
            del self._files[name]  # an archive's texts are as large as the arrays
        return self._loaded[name]


class BuiltinCollection:
    """Four of scikit-learn's data sets, split as the public collection splits its.

    Examples
    --------
    >>> from hyperlvq.study.collection import BuiltinCollection
    >>> BuiltinCollection().load("iris").X.shape
    (150, 4)
    """

    def names(self) -> list[str]:
        """Return the names of the data sets."""
        return list(BUILT_IN)

    def load(self, name: str) -> DataSet:
        """Return a data set with its splits."""
        if name not in BUILT_IN:
            raise InputError(f"no built-in data set is called {name!r}: {', '.join(BUILT_IN)} are")
        return _load_built_in(name)


@cache
def _load_built_in(name: str) -> DataSet:
    from sklearn import datasets  # which lists of data sets need not wait for

    load = getattr(datasets, f"load_{name.replace('-', '_')}")
    X, y = load(return_X_y=True)
    (tuning,) = _shuffled_splits(X, y, 1, test_size=0.5)
    splits = _shuffled_splits(X, y, N_SPLITS, test_size=0.25)
    return DataSet(name, X.astype(np.float64), y.astype(np.intp), tuning, splits, source="built-in")


def _shuffled_splits(
    X: np.ndarray, y: np.ndarray, n_splits: int, test_size: float
) -> tuple[SplitRows, ...]:
    from sklearn.model_selection import StratifiedShuffleSplit

    shuffle = StratifiedShuffleSplit(n_splits, test_size=test_size, random_state=_SEED)
    return tuple(SplitRows(*rows) for rows in shuffle.split(X, y))


def find_files(path: Path) -> Mapping[str, SetFiles]:
    """Return the files of a folder or an archive, which is read once, without unpacking it."""
    try:
        return _files_of_folder(path) if path.is_dir() else _files_of_archive(path)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None


def _files_of_folder(folder: Path) -> Mapping[str, SetFiles]:
    data = folder / "data"
    found = {
        entry.name: {
            file: entry / file for file in _layout_files(entry.name) if (entry / file).is_file()
        }
        for entry in (data if data.is_dir() else folder).iterdir()
    }
    return {name: set_files for name, set_files in found.items() if set_files}


def _files_of_archive(path: Path) -> Mapping[str, SetFiles]:
    found: dict[str, dict[str, bytes]] = {}
    for name, content in read_archive(path, _is_of_layout):
        set_files = found.setdefault(name.parent.name, {})
        if name.name in set_files:
            raise InputError(f"{path} has {name.parent.name}/{name.name} twice")
        set_files[name.name] = content
    return found


def _is_of_layout(name: PurePosixPath) -> bool:
    return name.name in _layout_files(name.parent.name)


def _layout_files(name: str) -> Iterable[str]:
    if not name.isprintable():  # it could be neither typed nor shown
        return ()
    tables = training_file(name, True), training_file(name, False), held_out_file(name)
    return (*tables, TUNING_FILE, SPLITS_FILE)


def _read_set(name: str, set_files: SetFiles) -> DataSet:
    public = manifest().get(name)
    checksums = public.checksums if public else {}
    held_out = held_out_file(name)
    pair = training_file(name, True), held_out
    has_test_file = any(file in (checksums or set_files) for file in pair)

    def read(file: str, parse: Callable[[bytes, str], Parsed]) -> Parsed:
        label = f"{name}/{file}"
        if file not in set_files:
            raise InputError(f"{label} is missing")
        content = _content(set_files[file], label)
        # parsed first, as a line number helps more than a checksum
        parsed = parse(content, label)
        found = git_blob_sha1(content)
        if (expected := checksums.get(file, found)) != found:
            raise InputError(
                f"{label} differs from the manifest (git blob SHA-1 {found}, expected {expected})"
            )
        return parsed

    X, y = read(training_file(name, has_test_file), parse_table)
    (tuning,) = read(TUNING_FILE, partial(parse_splits, n_rows=len(X), n_splits=1))
    splits = read(SPLITS_FILE, partial(parse_splits, n_rows=len(X), n_splits=N_SPLITS))
    if not has_test_file:
        return DataSet(name, X, y, tuning, splits)
    X_test, y_test = read(held_out, partial(parse_table, n_classes=y.max() + 1))
    if X_test.shape[1] != X.shape[1]:
        n_found, n_wanted = X_test.shape[1], X.shape[1]
        fault = f"has {n_found} features, the training file has {n_wanted}"
        raise InputError(f"{name}/{held_out} {fault}")
    return DataSet(name, X, y, tuning, splits, X_test, y_test)


def _content(source: Path | bytes, label: str) -> bytes:
    if isinstance(source, bytes):
        return source
    try:
        return source.read_bytes()
    except OSError as error:
        raise InputError(f"{label} cannot be read: {error.strerror}") from None
