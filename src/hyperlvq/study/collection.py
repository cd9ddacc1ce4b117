"""Data sets by name: the collection of 121 UCI data sets, others in its layout, built-in ones.

What is known of the public collection stands in `manifest.csv`. A collection is a folder or an
archive; files that are not of the public layout are passed over.
"""

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha1
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Any, TypeVar

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.study.archive import read_archive
from hyperlvq.study.data_set import DataSet, SplitRows, parse_splits, parse_table

#: Where Fernández-Delgado et al. (2014) published the collection; torchhd names it, too.
HOME = "http://persoal.citius.usc.es/manuel.fernandez.delgado/papers/jmlr/data.tar.gz"
TUNING_FILE = "conxuntos.dat"
SPLITS_FILE = "conxuntos_kfold.dat"
N_SPLITS = 4
SPLITS = "splits"
TEST_FILE = "test file"
SIZES = ("samples", "features", "classes", "n_train", "n_test")
BUILT_IN = ("iris", "wine", "breast-cancer", "digits")

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
    found = {}
    with files("hyperlvq.study").joinpath("manifest.csv").open(encoding="ascii") as table:
        for row in csv.DictReader(table):
            tables = table_files(row["name"], row["kind"] == TEST_FILE)
            names = (*tables, TUNING_FILE, SPLITS_FILE)
            sums = row["table_sha1"], row["test_sha1"], row["tuning_sha1"], row["splits_sha1"]
            checksums = dict(zip(names, filter(None, sums), strict=True))
            sizes = {key: int(row[key]) for key in SIZES}
            found[row["name"]] = Facts(row["name"], kind=row["kind"], checksums=checksums, **sizes)
    return found


def facts_of(data_set: DataSet) -> Facts:
    """Return the sizes of a data set of T samples, K features and L classes."""
    T, K, L = data_set.sizes
    if data_set.X_test is None:
        n_train, n_test = map(len, data_set.splits[0])
        return Facts(data_set.name, T, K, L, SPLITS, n_train, n_test)
    n_test = len(data_set.X_test)
    return Facts(data_set.name, T + n_test, K, L, TEST_FILE, T, n_test)


def table_files(name: str, has_test_file: bool) -> tuple[str, ...]:
    """Return the names of a set's tables: the only one, or one to train and one to test on."""
    return (f"{name}_train_R.dat", f"{name}_test_R.dat") if has_test_file else (f"{name}_R.dat",)


def git_blob_sha1(content: bytes) -> str:
    """Return the checksum that git gives a file of this content."""
    # SHA-1 tells a damaged file from a whole one here; nothing rests on it being secure
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


class Collection:
    """Data sets by name, each loaded and checked when it is first asked for."""

    def __init__(self, place: str | Path, loaders: dict[str, Callable[[], DataSet]]) -> None:
        self._place, self._loaders = place, loaders

    def names(self) -> list[str]:
        """Return the names of the data sets."""
        return list(self._loaders)

    def load(self, name: str) -> DataSet:
        """Return a data set; InputError says what is wrong with its files."""
        if name not in self._loaders:
            raise InputError(f"{self._place} has no data set called {name!r}")
        data_set = self._loaders[name]()
        # without its files, whose texts are as large as the arrays
        self._loaders[name] = lambda: data_set
        return data_set


class BuiltinCollection(Collection):
    """Four of scikit-learn's data sets, split as the public collection splits its.

    Examples
    --------
    >>> from hyperlvq.study.collection import BuiltinCollection
    >>> BuiltinCollection().load("iris").X.shape
    (150, 4)
    """

    def __init__(self) -> None:
        super().__init__(
            "the built-in collection", {name: partial(_load_built_in, name) for name in BUILT_IN}
        )


def open_collection(path: str | Path) -> Collection:
    """Return the data sets in a folder, a `.tar.gz` or a `.tar.xz`.

    The public ones come first, in the manifest's order.
    """
    path = Path(path)
    found = find_files(path)
    if not found:
        raise InputError(f"{path} has no data set in the layout data/NAME/NAME_R.dat")
    names = [*(name for name in manifest() if name in found), *sorted(found.keys() - manifest())]
    return Collection(path, {name: partial(_read_set, name, found[name]) for name in names})


def _load_built_in(name: str) -> DataSet:
    from sklearn import datasets  # which lists of data sets need not wait for

    X, y = getattr(datasets, f"load_{name.replace('-', '_')}")(return_X_y=True)
    splits = stratified_splits(X, y)
    return DataSet(name, X.astype(np.float64), y.astype(np.intp), *splits, source="built-in")


def stratified_splits(X: np.ndarray, y: np.ndarray) -> tuple[SplitRows, tuple[SplitRows, ...]]:
    """Return a split in halves and four of three quarters to a quarter, always the same ones."""
    from sklearn.model_selection import StratifiedShuffleSplit

    halves = StratifiedShuffleSplit(1, test_size=0.5, random_state=0)
    quarters = StratifiedShuffleSplit(N_SPLITS, test_size=0.25, random_state=0)
    (tuning,) = (SplitRows(*rows) for rows in halves.split(X, y))
    return tuning, tuple(SplitRows(*rows) for rows in quarters.split(X, y))


def find_files(path: Path) -> Mapping[str, SetFiles]:
    """Return the files of a folder or an archive, which is read once, without unpacking it."""
    found: dict[str, dict[str, Path | bytes]] = {}
    try:
        for place, content in _files_of_folder(path) if path.is_dir() else _files_of_archive(path):
            name, file = place.parent.name, place.name
            if file in found.setdefault(name, {}):
                raise InputError(f"{path} contains {name}/{file} twice")
            found[name][file] = content
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    return found


def _files_of_folder(folder: Path) -> Iterator[tuple[PurePath, Path]]:
    data = folder / "data"
    for entry in (data if data.is_dir() else folder).iterdir():
        places = (entry / file for file in _layout_files(entry.name))
        yield from ((place, place) for place in places if place.is_file())


def _files_of_archive(path: Path) -> Iterator[tuple[PurePath, bytes]]:
    return read_archive(path, lambda place: place.name in _layout_files(place.parent.name))


def _layout_files(name: str) -> tuple[str, ...]:
    if not name.isprintable():  # it could be neither typed nor shown
        return ()
    return (*table_files(name, True), *table_files(name, False), TUNING_FILE, SPLITS_FILE)


def _read_set(name: str, set_files: SetFiles) -> DataSet:
    public = manifest().get(name)
    checksums = public.checksums if public else {}
    has_test_file = any(file in (checksums or set_files) for file in table_files(name, True))

    def read(file: str, parse: Callable[..., Parsed], **options: Any) -> Parsed:
        label = f"{name}/{file}"
        if file not in set_files:
            raise InputError(f"{label} is missing")
        content = set_files[file]
        try:
            content = content if isinstance(content, bytes) else content.read_bytes()
        except OSError as error:
            raise InputError(f"{label} cannot be read: {error.strerror}") from None
        # parsed first, as a line number helps more than a checksum
        parsed = parse(content, label, **options)
        found = git_blob_sha1(content)
        if (expected := checksums.get(file, found)) != found:
            fault = f"(git blob SHA-1 {found}, expected {expected})"
            raise InputError(f"{label} differs from the file that the study used {fault}")
        return parsed

    table, *held_out = table_files(name, has_test_file)
    X, y = read(table, parse_table)
    (tuning,) = read(TUNING_FILE, parse_splits, n_rows=len(X), n_splits=1)
    splits = read(SPLITS_FILE, parse_splits, n_rows=len(X), n_splits=N_SPLITS)
    if not held_out:
        return DataSet(name, X, y, tuning, splits)
    X_test, y_test = read(held_out[0], parse_table, n_classes=y.max() + 1)
    if X_test.shape[1] != X.shape[1]:
        fault = f"has {X_test.shape[1]} features, the training file has {X.shape[1]}"
        raise InputError(f"{name}/{held_out[0]} {fault}")
    return DataSet(name, X, y, tuning, splits, X_test, y_test)
