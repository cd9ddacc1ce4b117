"""Predict tables batch by batch, however long they are, and write what is predicted.

Predictions are written as they come: as CSV, TSV or Parquet, gzipped or not.
"""

import csv
import gzip
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from hyperlvq.checks import InputError, refusals_as_input_errors
from hyperlvq.prediction import Predictor
from hyperlvq.tables.cells import as_text, is_plain, numbers_to_arrow, text_to_arrow
from hyperlvq.tables.columns import Column, to_arrays
from hyperlvq.tables.read import Table, TableReader
from hyperlvq.tables.unseen import Unseen
from hyperlvq.writing import replacing, standard_output

#: A table's batches are the same however its reader cuts it up, and so is every last digit.
BATCH_ROWS = 8192
STANDARD = "-"
DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
PARQUET = ".parquet"
MARGIN = "margin"
PROBABILITY = "p_"


@dataclass(frozen=True)
class PredictedBatch:
    """Rows of a table, their classes and, if asked for, margins and probabilities by class."""

    table: Table
    classes: np.ndarray
    margins: np.ndarray | None = None
    probabilities: Mapping[str, np.ndarray] = field(default_factory=dict)


def predict_batches(
    model: Predictor,
    columns: Sequence[Column],
    reader: TableReader,
    with_margins: bool = False,
    with_probabilities: bool = False,
    unseen: Unseen | None = None,
) -> Iterator[PredictedBatch]:
    """Yield the predictions of a table in its order; `unseen` looks at its values."""
    names = [str(label) for label in model.classes]
    for batch in batches(reader):
        values = to_arrays(batch, columns)
        if unseen is not None:
            unseen.look_at(batch, values)
        with refusals_as_input_errors(f"{reader.name}: the model refuses it: "):
            decisions = model.decide(values)
        margins = margins_of(decisions) if with_margins else None
        probabilities = {}
        if with_probabilities:
            probabilities = dict(zip(names, model.probabilities(decisions).T, strict=True))
        yield PredictedBatch(batch, model.labels(decisions), margins, probabilities)


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


def prediction_table(batch: PredictedBatch, name: str, kept: Sequence[str]) -> pa.Table:
    """Return what is written of a batch: the columns kept, the classes, what else was asked for."""
    columns = {column: batch.table.data[column] for column in kept}
    labels, places = np.unique(batch.classes, return_inverse=True)
    names = text_to_arrow([str(label) for label in labels])
    columns[_free(name, columns)] = names.take(numbers_to_arrow(places))
    if batch.margins is not None:
        columns[_free(MARGIN, columns)] = numbers_to_arrow(batch.margins)
    for label, probabilities in batch.probabilities.items():
        columns[_free(f"{PROBABILITY}{label}", columns)] = numbers_to_arrow(probabilities)
    return pa.table(columns)


def _free(name: str, taken: Collection[str]) -> str:
    """Return a name that no other column has, and that can be written."""
    name = name.encode(errors="backslashreplace").decode()  # half a character has no UTF-8
    return _free(f"predicted_{name}", taken) if name in taken else name


def check_output(path: str) -> None:
    """Refuse a name that does not say which format to write; a device or a pipe gets CSV."""
    is_device = Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir()
    if path != STANDARD and not is_device and _format(path) not in (*DELIMITERS, PARQUET):
        raise InputError(f"{path} must be named *.csv, *.tsv or *.parquet (or *.csv.gz, *.tsv.gz)")


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
        file: parquet.ParquetWriter | None = None
        delimiter, is_begun = DELIMITERS.get(_format(path), ","), False

        def write(table: pa.Table) -> None:
            nonlocal file, is_begun
            if _format(path) != PARQUET:
                header = [] if is_begun else [table.column_names]
                rows = zip(*map(_cells, table.columns), strict=True)
                sink.write(_to_csv([*header, *rows], delimiter))
            else:
                if file is None:  # the first table has the columns and their types
                    file = stack.enter_context(parquet.ParquetWriter(sink, table.schema))
                file.write_table(table)
            is_begun = True

        yield write


def _to_csv(rows: Iterable[Sequence[str | None]], delimiter: str) -> bytes:
    """Return rows with quotes where they are needed; arrow's writer quotes all text."""
    text = StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _cells(column: pa.ChunkedArray) -> list[str | None]:
    if is_plain(column.type):
        return as_text(column).to_pylist()
    return [None if cell is None else str(cell) for cell in column.to_pylist()]
