"""The collection of 121 UCI data sets, and anyone's own sets in its layout."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from hyperlvq.checks import InputError
from hyperlvq.study.data_set import DataSet
from hyperlvq.study.files import Files, find_files
from hyperlvq.study.layout import parse_splits, parse_table
from hyperlvq.study.manifest import (
    SPLITS_FILE,
    TEST_FILE,
    TUNING_FILE,
    Facts,
    git_blob_sha1,
    held_out_file,
    manifest,
    training_file,
)

N_SPLITS = 4
Parsed = TypeVar("Parsed")


def open_collection(path: str | Path) -> "Collection":
    """Return the data sets in a folder, a `.tar.gz` or a `.tar.xz`."""
    path = Path(path)
    files = find_files(path)
    if not files:
        raise InputError(f"{path} has no data set in the layout data/NAME/NAME_R.dat")
    return Collection(path, files)


class Collection:
    """Data sets by name, each parsed and checked when it is first asked for."""

    def __init__(self, path: Path, files: Files):
        self.path = path
        self._files = dict(files)
        self._loaded: dict[str, DataSet] = {}
        known = [name for name in manifest() if name in files]
        self._names = known + sorted(files.keys() - manifest().keys())

    def names(self) -> list[str]:
        """Return the public sets that are there, in the manifest's order, then any others."""
        return list(self._names)

    def load(self, name: str) -> DataSet:
        """Return a data set; InputError says what is wrong with its files."""
        if name not in self._names:
            raise InputError(f"{self.path} has no data set called {name!r}")
        if name not in self._loaded:
            files = _SetFiles(name, self._files[name], manifest().get(name))
            self._loaded[name] = _read_set(files)
            del self._files[name]  # an archive's texts are as large as the arrays
        return self._loaded[name]


@dataclass(frozen=True)
class _SetFiles:
    name: str
    files: Mapping[str, Path | bytes]
    facts: Facts | None

    @property
    def has_test_file(self) -> bool:
        if self.facts:
            return self.facts.kind == TEST_FILE
        pair = training_file(self.name, True), held_out_file(self.name)
        return any(file in self.files for file in pair)

    def read(self, file: str, parse: Callable[[bytes, str], Parsed]) -> Parsed:
        """Return a file's parsed content, which has the manifest's checksum if it has one."""
        label = f"{self.name}/{file}"
        if file not in self.files:
            raise InputError(f"{label} is missing")
        content = _content(self.files[file], label)
        # parsed first, as a line number helps more than a checksum
        parsed = parse(content, label)
        if self.facts:
            _check_checksum(content, self.facts.checksums[file], label)
        return parsed


def _content(source: Path | bytes, label: str) -> bytes:
    if isinstance(source, bytes):
        return source
    try:
        return source.read_bytes()
    except OSError as error:
        raise InputError(f"{label} cannot be read: {error.strerror}") from None


def _check_checksum(content: bytes, expected: str, label: str) -> None:
    if (found := git_blob_sha1(content)) != expected:
        raise InputError(
            f"{label} differs from the manifest (git blob SHA-1 {found}, expected {expected})"
        )


def _read_set(files: _SetFiles) -> DataSet:
    X, y = files.read(training_file(files.name, files.has_test_file), parse_table)
    splits_of = partial(parse_splits, n_rows=len(X))
    (tuning,) = files.read(TUNING_FILE, partial(splits_of, n_splits=1))
    splits = files.read(SPLITS_FILE, partial(splits_of, n_splits=N_SPLITS))
    if not files.has_test_file:
        return DataSet(files.name, X, y, tuning, splits)
    held_out = held_out_file(files.name)
    X_test, y_test = files.read(held_out, partial(parse_table, n_classes=y.max() + 1))
    if X_test.shape[1] != X.shape[1]:
        raise InputError(
            f"{files.name}/{held_out} has {X_test.shape[1]} features, "
            f"the training file has {X.shape[1]}"
        )
    return DataSet(files.name, X, y, tuning, splits, X_test, y_test)
