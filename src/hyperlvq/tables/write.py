"""Write predictions as they come: CSV, TSV or Parquet, gzipped or not."""

import csv
import gzip
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import StringIO
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from pyarrow import parquet

from hyperlvq.checks import InputError
from hyperlvq.tables.cells import as_text, is_plain, numbers_to_arrow, text_to_arrow
from hyperlvq.tables.prediction import Prediction
from hyperlvq.writing import replacing, standard_output

STANDARD = "-"
DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
PARQUET = ".parquet"
MARGIN = "margin"

Write = Callable[[pa.Table], None]


def prediction_table(prediction: Prediction, name: str, kept: Sequence[str]) -> pa.Table:
    """Return what is written of a batch: the columns kept, the classes, margins if asked for."""
    name = name.encode(errors="backslashreplace").decode()  # half a character has no UTF-8
    columns = {column: prediction.rows[column] for column in kept}
    columns[_free(name, columns)] = text_to_arrow([str(label) for label in prediction.classes])
    if prediction.margins is not None:
        columns[_free(MARGIN, columns)] = numbers_to_arrow(prediction.margins)
    return pa.table(columns)


def _free(name: str, taken: Collection[str]) -> str:
    return _free(f"predicted_{name}", taken) if name in taken else name


def check_output(path: str) -> None:
    """Refuse a name that does not say which format to write; a device or a pipe gets CSV."""
    is_device = Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir()
    if path != STANDARD and not is_device and _format(path) not in (*DELIMITERS, PARQUET):
        raise InputError(f"{path} must be named *.csv, *.tsv or *.parquet (or *.csv.gz, *.tsv.gz)")


@contextmanager
def open_output(path: str) -> Iterator[Write]:
    """Yield a function that writes one table after another to a file, or to standard output."""
    with ExitStack() as stack:
        if path == STANDARD:
            sink: _Sink = stack.enter_context(standard_output()).buffer
        else:
            sink = stack.enter_context(open(stack.enter_context(replacing(path)), "wb"))
        if path.lower().endswith(".gz"):
            packed = gzip.GzipFile(fileobj=sink, mode="wb", filename="", mtime=0)
            sink = stack.enter_context(packed)
        yield _Writer(sink, path, stack)


class _Sink(Protocol):
    def write(self, content: bytes, /) -> int: ...

    def flush(self) -> object: ...


class _File(Protocol):
    def write_table(self, table: pa.Table) -> None: ...


class _Writer:
    """A file that is begun with its first table, since that has the columns and their types."""

    def __init__(self, sink: _Sink, path: str, stack: ExitStack):
        self.sink, self.path, self.stack = sink, path, stack
        self.file: _File | None = None

    def __call__(self, table: pa.Table) -> None:
        if self.file is None:
            self.file = self._begin(table.schema)
        self.file.write_table(table)

    def _begin(self, schema: pa.Schema) -> _File:
        if _format(self.path) == PARQUET:
            return self.stack.enter_context(parquet.ParquetWriter(self.sink, schema))
        return _TextFile(self.sink, DELIMITERS.get(_format(self.path), ","), schema.names)


class _TextFile:
    """CSV as people write it, with quotes where they are needed."""

    def __init__(self, sink: _Sink, delimiter: str, names: Sequence[str]):
        self.sink, self.delimiter = sink, delimiter
        self._write([names])

    def write_table(self, table: pa.Table) -> None:
        columns = [_cells(column) for column in table.columns]
        self._write(zip(*columns, strict=True))

    def _write(self, rows: Iterable[Sequence[str | None]]) -> None:
        text = StringIO()
        csv.writer(text, delimiter=self.delimiter, lineterminator="\n").writerows(rows)
        self.sink.write(text.getvalue().encode())


def _cells(column: pa.ChunkedArray) -> list[str | None]:
    if is_plain(column.type):
        return as_text(column).to_pylist()
    return [None if cell is None else str(cell) for cell in column.to_pylist()]


def _format(path: str) -> str:
    name = path.lower().removesuffix(".gz")
    return Path(name).suffix
