"""A data set with its splits, as every collection gives it, and the texts of the public layout.

A table has one header line (a tab, the features' names, `clase`), then one line per sample: its
number from 1, its features, its class from 0, separated by tabs. A list of row numbers has a line
for the training rows and one for the test rows of every split, from 0, separated by spaces.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from itertools import islice
from reprlib import repr as short
from typing import NamedTuple

import numpy as np

from hyperlvq.checks import InputError

COLLECTION = "collection"
CLASS_COLUMN = "clase"
LONGEST_ROW = 2**22
N_FOLDS = 3


class SplitRows(NamedTuple):
    """Row numbers, from 0, of the samples to train on and of those to test on."""

    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class DataSet:
    """A data set and how to split it.

    `tuning` is the split in halves that settings are tuned on; of the four `splits`, three quarters
    to a quarter, the test parts overlap. Where there is a fixed test file (`X_test`, `y_test`), `X`
    and `y` are the training file. Sets of one name differ between sources, "collection" and
    "built-in".
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    tuning: SplitRows
    splits: tuple[SplitRows, ...]
    X_test: np.ndarray | None = None
    y_test: np.ndarray | None = None
    source: str = COLLECTION

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The numbers of samples, features and classes, less those of a test file."""
        return *self.X.shape, int(self.y.max()) + 1


def parse_table(
    content: bytes, name: str, n_classes: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return features and class numbers; without `n_classes`, each class needs a sample."""
    header = next(_lines(content, name, LONGEST_ROW))
    first, *features, last = header.split("\t") if "\t" in header else (header, "")
    if first or not features or last != CLASS_COLUMN:
        expected = f"a tab, the feature names and {CLASS_COLUMN!r}, separated by tabs"
        raise _fault(name, 1, f"the header must be {expected}, got {short(header)}")
    values = _numbers(content, ["sample number", *features, "class"], name)
    if (wrong := np.flatnonzero(values[:, 0] != np.arange(1, len(values) + 1))).size:
        fault = f"sample number {values[wrong[0], 0]:g}, expected {wrong[0] + 1}"
        raise _fault(name, wrong[0] + 2, fault)
    classes, most = values[:, -1], n_classes or len(values)
    is_class = (classes == np.floor(classes)) & (classes >= 0) & (classes < most)
    if (wrong := np.flatnonzero(~is_class)).size:
        what = f"class {classes[wrong[0]]:g} is not a whole number from 0 to {most - 1}"
        raise _fault(name, wrong[0] + 2, what)
    y = classes.astype(np.intp)
    missing = np.flatnonzero(np.bincount(y) == 0)
    if n_classes is None and missing.size:
        raise InputError(f"{name}: class {missing[0]} has no samples, but class {y.max()} has")
    return values[:, 1:-1].copy(), y


def parse_splits(content: bytes, name: str, n_rows: int, n_splits: int) -> tuple[SplitRows, ...]:
    """Return the splits of a table of `n_rows` rows."""
    if (n_lines := sum(1 for _ in _lines(content, name))) != 2 * n_splits:
        raise InputError(f"{name} has {n_lines} lines, expected {2 * n_splits}")
    lines = _lines(content, name)
    rows = [_row_numbers(line, n_rows, name, number) for number, line in enumerate(lines, 1)]
    splits = [SplitRows(*pair) for pair in zip(rows[::2], rows[1::2], strict=True)]
    for number, (train, test) in enumerate(splits, 1):
        if (shared := np.intersect1d(train, test)).size:
            raise _fault(name, 2 * number, f"row number {shared[0]} is also a training row")
    return tuple(splits)


def _fault(name: str, line: int, what: str) -> InputError:
    return InputError(f"{name}, line {line}: {what}")


def _lines(content: bytes, name: str, longest: float = np.inf) -> Iterator[str]:
    """Yield the lines one by one; the cells of a table take many times the memory of their text."""
    if not content:
        raise InputError(f"{name} is empty")
    if not content.isascii():
        start = re.search(rb"[^\x00-\x7f]", content).start()  # type: ignore[union-attr]
        raise _fault(name, content.count(b"\n", 0, start) + 1, "not ASCII text")
    for number, ended in enumerate(TextIOWrapper(BytesIO(content), "ascii"), 1):
        line = ended.rstrip("\n")
        if len(line) > longest:
            raise _fault(name, number, f"longer than {longest} characters")
        yield line


def _numbers(content: bytes, columns: list[str], name: str) -> np.ndarray:
    number = 1

    def rows() -> Iterator[str]:
        nonlocal number
        for number, line in islice(enumerate(_lines(content, name, LONGEST_ROW), 1), 1, None):
            if (n_cells := line.count("\t") + 1) != len(columns):
                raise _fault(name, number, f"{n_cells} columns, expected {len(columns)}")
            yield line
        if number == 1:
            raise InputError(f"{name} has a header but no samples")

    try:
        values = _parsed(rows())
        wrong = np.flatnonzero(~np.isfinite(values).all(axis=1)) + 2
    except InputError:
        raise
    except ValueError:  # of the row that was asked for last
        wrong = np.array([number])
    if wrong.size:
        cells = next(islice(_lines(content, name), wrong[0] - 1, None)).split("\t")
        named = zip(columns, cells, strict=True)
        column, cell = next((column, cell) for column, cell in named if not _is_finite(cell))
        fault = f"{column} is {short(cell)}, not a finite number"
        raise _fault(name, wrong[0], fault)
    return values


def _parsed(rows: Iterable[str]) -> np.ndarray:
    return np.loadtxt(rows, delimiter="\t", comments=None, ndmin=2)


def _is_finite(cell: str) -> bool:
    try:
        return bool(cell) and bool(np.isfinite(_parsed([cell])).all())
    except ValueError:
        return False


def _row_numbers(line: str, n_rows: int, name: str, number: int) -> np.ndarray:
    words = line.split(maxsplit=n_rows)  # all of them could take many times the line's memory
    if len(words) > n_rows:
        raise _fault(name, number, f"more than {n_rows} row numbers, the number of rows")
    if not words:
        raise _fault(name, number, "no row numbers")
    for word in words:
        # numpy takes more for a number than digits; the length keeps it within an integer
        if not word.isdecimal() or len(word) > 18:
            raise _fault(name, number, f"{short(word)} is not a row number")
    rows = np.array(words, dtype=np.intp)
    if rows.max() >= n_rows:
        raise _fault(name, number, f"row number {rows.max()}, but the last row is {n_rows - 1}")
    if (counts := np.bincount(rows)).max() > 1:
        raise _fault(name, number, f"row number {counts.argmax()} occurs twice")
    return rows


def stratified_folds(
    rows: np.ndarray, y: np.ndarray, n_folds: int = N_FOLDS
) -> Iterator[SplitRows]:
    """Yield rows to train and to score on, every class dealt out to the folds in turn.

    Unlike scikit-learn's, it takes classes of fewer samples than folds as they are.
    """
    fold_of = np.empty(len(y), dtype=int)
    fold_of[_shuffled_by_class(y)] = np.arange(len(y)) % n_folds
    for fold in range(n_folds):
        yield SplitRows(rows[fold_of != fold], rows[fold_of == fold])


def stratified_part(rows: np.ndarray, y: np.ndarray, n_rows: int) -> np.ndarray:
    """Return at most so many of the rows, in their order, of each class its share."""
    places = np.linspace(0, len(rows) - 1, min(n_rows, len(rows))).astype(int)
    return rows[np.sort(_shuffled_by_class(y)[places])]


def _shuffled_by_class(y: np.ndarray) -> np.ndarray:
    """Return the places of the labels, class by class, in random order within a class."""
    return np.lexsort((np.random.default_rng(0).permutation(len(y)), y))
