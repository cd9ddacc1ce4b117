"""Predict tables batch by batch, however long they are, and write what is predicted.

Predictions are written as they come: as CSV, TSV or Parquet, gzipped or not. What later tables have
and training had not is counted by column on the way, said in notes, or refused.
"""

import csv
import gzip
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from hyperlvq.checks import InputError, refusals_as_input_errors
from hyperlvq.kernels.features import level_lookups
from hyperlvq.prediction import Predictor
from hyperlvq.tables.cells import as_text, is_plain, numbers_to_arrow, quoted, text_to_arrow
from hyperlvq.tables.columns import Column, Kind, listed, to_arrays
from hyperlvq.tables.dates import days_of
from hyperlvq.tables.read import Table, TableReader
from hyperlvq.writing import STANDARD, replacing, standard_output

#: A table's batches are the same however its reader cuts it up, and so is every last digit.
BATCH_ROWS = 8192
DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
PARQUET = ".parquet"
#: So many different values that are new are remembered of a column.
MOST_VALUES = 1000

#: What can be new about a column: as a note on some rows, and as what is wrong with a cell.
News = tuple[str, str]
NEW_LEVEL = (
    "has {values} not seen in training: {listed} ({rows})",
    "{cell} was not seen in training",
)
MISSING_VALUE = (
    "is missing in {rows}, but was never missing in training",
    "the value is missing, but was never missing in training",
)


class Unseen:
    """Look for values of columns that a model has not seen, in one batch of rows after another.

    New are levels of text, numbers outside of those of training by more than their range, and
    missing values where none was missing. If `strict`, the first one is refused.
    """

    def __init__(self, model: Predictor, columns: Sequence[Column], strict: bool = False) -> None:
        self._columns = {column.name: column for column in columns}
        self._strict = strict
        self._n_rows = Counter[tuple[str, News]]()
        # in the order of their first rows
        self._values = defaultdict[tuple[str, News], dict[str, None]](dict)
        self._levels: dict[str, Mapping[str | None, int]] = {}
        first = model.parts[0]
        if first.kind == "FrameVectorizer":
            lookups = level_lookups(first.learnt)
            self._levels = dict(zip(first.parameters["text"], lookups, strict=True))
        self._complete = _complete_columns(model)

    def look_at(self, table: Table, values: Mapping[str, np.ndarray]) -> None:
        """Count what is new in the columns of a table, as `to_arrays` gives them."""
        for name, cells in values.items():
            column = self._columns[name]
            cells = days_of(cells) if column.kind is Kind.DATE else cells
            for news, is_new in self._news(column, cells):
                rows = np.flatnonzero(is_new)
                if len(rows) and self._strict:
                    refusal = news[1].format(cell=f"'{_shown(cells[rows[0]], column)}'")
                    raise table.error(name, rows[0], f"{refusal} (--strict)")
                if len(rows):
                    self._n_rows[name, news] += len(rows)
                    found = self._values[name, news]
                    for cell in cells[rows] if len(found) < MOST_VALUES else ():
                        found[_shown(cell, column)] = None

    def _news(self, column: Column, cells: np.ndarray) -> Iterator[tuple[News, np.ndarray]]:
        """Yield what may be new, and in which rows it is."""
        is_missing = cells != cells  # NaN, of numbers, of dates and of text
        is_known = column.minimum is not None or column.levels is not None
        if (is_known and column.n_missing == 0) or column.name in self._complete:
            yield MISSING_VALUE, is_missing
        if column.name in self._levels:
            new = {*cells[~is_missing].tolist()} - self._levels[column.name].keys()
            if new:
                yield NEW_LEVEL, np.array([cell in new for cell in cells])
        elif column.minimum is not None and column.maximum is not None:
            extent = column.maximum - column.minimum
            low, high = column.minimum - extent, column.maximum + extent
            seen = f"{column.shown(column.minimum)} to {column.shown(column.maximum)}"
            far = f"far outside the training range {seen}"
            yield (
                (f"is {far} in {{rows}}: {{listed}}", f"{{cell}} is {far}"),
                (cells < low) | (cells > high),
            )

    @property
    def notes(self) -> list[str]:
        """What was new, in one sentence for each column."""
        notes = []
        for (name, news), n_rows in self._n_rows.items():
            found = self._values[name, news]
            rows = "1 row" if n_rows == 1 else f"{n_rows} rows"
            values = "a value" if len(found) == 1 else "values"
            note = news[0].format(rows=rows, values=values, listed=listed(found))
            notes.append(f"{name!r} {note}")
        return notes


def _complete_columns(model: Predictor) -> set[str]:
    """List the numeric columns without missing values in training."""
    first = model.parts[0]
    names = first.learnt.get("feature_names_in_", ())
    if first.kind == "FrameVectorizer":  # its numbers are the first features
        names = () if first.parameters["fill"] else first.parameters["numbers"]
    units = next((part.learnt for part in model.parts if "kinds_" in part.learnt), {})
    pairs = zip(names, units.get("medians_", ()), strict=False)
    return {name for name, median in pairs if not np.isnan(median)}


def _shown(cell: str | float, column: Column) -> str:
    return quoted(cell)[1:-1] if isinstance(cell, str) else column.shown(cell)


def predict_batches(
    model: Predictor, columns: Sequence[Column], reader: TableReader, unseen: Unseen
) -> Iterator[tuple[Table, np.ndarray]]:
    """Yield a table in its order, with what is decided; `unseen` looks at its values."""
    for batch in batches(reader):
        values = to_arrays(batch, columns)
        unseen.look_at(batch, values)
        with refusals_as_input_errors(f"{reader.name} cannot be predicted: "):
            decisions = model.decide(values)
        yield batch, decisions


def batches(reader: TableReader) -> Iterator[Table]:
    """Yield a table in batches of `BATCH_ROWS` rows; the last one has what is left."""
    first_row, waiting = 1, None
    for chunk in reader.chunks():
        waiting = chunk.data if waiting is None else pa.concat_tables([waiting, chunk.data])
        while len(waiting) >= BATCH_ROWS:
            yield Table(reader, waiting.slice(0, BATCH_ROWS), first_row)
            first_row, waiting = first_row + BATCH_ROWS, waiting.slice(BATCH_ROWS)
    if waiting is not None and len(waiting):
        yield Table(reader, waiting, first_row)


def margins_of(scores: np.ndarray) -> np.ndarray:
    """Return by how much each row's best score exceeds the next best."""
    if scores.ndim == 1:
        return np.abs(scores)
    best_two = np.partition(scores, -2, axis=1)[:, -2:]
    return best_two[:, 1] - best_two[:, 0]


def prediction_table(
    model: Predictor,
    table: Table,
    decisions: np.ndarray,
    name: str,
    kept: Sequence[str],
    with_margins: bool = False,
    with_probabilities: bool = False,
    digits: int | None = None,
) -> pa.Table:
    """Build the output columns of a batch; probabilities are rounded to `digits` decimals."""
    columns = {column: table.data[column] for column in kept}
    labels, places = np.unique(model.labels(decisions), return_inverse=True)
    names = text_to_arrow([str(label) for label in labels])
    columns[_free(name, columns)] = names.take(numbers_to_arrow(places))
    if with_margins:
        columns[_free("margin", columns)] = numbers_to_arrow(margins_of(decisions))
    if with_probabilities:
        probabilities = model.probabilities(decisions)
        if digits is not None:
            probabilities = probabilities.round(digits)
        for label, of_class in zip(model.classes, probabilities.T, strict=True):
            columns[_free(f"p_{label}", columns)] = numbers_to_arrow(of_class)
    return pa.table(columns)


def _free(name: str, taken: Collection[str]) -> str:
    """Return a name that no other column has, and that can be written."""
    name = name.encode(errors="backslashreplace").decode()  # half a character has no UTF-8
    return _free(f"predicted_{name}", taken) if name in taken else name


def check_output(path: str) -> None:
    """Refuse a name that does not say which format to write; a device or a pipe gets CSV."""
    is_device = Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir()
    if path != STANDARD and not is_device and _format(path) not in (*DELIMITERS, PARQUET):
        raise InputError(f"the output {path} must end in .csv, .tsv, .parquet, .csv.gz or .tsv.gz")


def _format(path: str) -> str:
    return Path(path.lower().removesuffix(".gz")).suffix


@contextmanager
def open_output(path: str) -> Iterator[Callable[[pa.Table], None]]:
    """Yield a function that writes one table after another to a file, or to standard output."""
    with ExitStack() as stack:
        if path == STANDARD:
            sink: Any = stack.enter_context(standard_output()).buffer
        else:
            sink = stack.enter_context(open(stack.enter_context(replacing(path)), "wb"))
        if path.lower().endswith(".gz"):
            packed = gzip.GzipFile(fileobj=sink, mode="wb", filename="", mtime=0)
            sink = stack.enter_context(packed)
        file: Any = None
        delimiter, is_first = DELIMITERS.get(_format(path), ","), True

        def write(table: pa.Table) -> None:
            nonlocal file, is_first
            if _format(path) != PARQUET:
                rows = zip(*map(_cells, table.columns), strict=True)
                text = StringIO()  # arrow's writer would quote all text
                writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
                writer.writerows([*([table.column_names] if is_first else []), *rows])
                sink.write(text.getvalue().encode())
            else:
                if is_first:  # the first table has the columns and their types
                    file = stack.enter_context(parquet.ParquetWriter(sink, table.schema))
                file.write_table(table)
            is_first = False

        yield write


def _cells(column: pa.ChunkedArray) -> list[str | None]:
    if is_plain(column.type):
        return as_text(column).to_pylist()
    return [None if cell is None else str(cell) for cell in column.to_pylist()]
