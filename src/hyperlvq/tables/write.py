"""Write predictions as they come: CSV, TSV or Parquet, gzipped or not."""

import gzip
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
from pyarrow import csv, parquet

from hyperlvq.checks import InputError
from hyperlvq.tables.prediction import Prediction
from hyperlvq.writing import replacing

STANDARD = "-"
DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
PARQUET = ".parquet"
MARGIN = "margin"

Write = Callable[[pa.Table], None]


def prediction_table(prediction: Prediction, name: str, kept: Sequence[str]) -> pa.Table:
    """Return what is written of a batch: the columns kept, the classes, margins if asked for."""
    columns = {column: prediction.rows[column] for column in kept}
    columns[name] = pa.array([str(label) for label in prediction.classes])
    if prediction.margins is not None:
        columns[MARGIN] = pa.array(prediction.margins)
    return pa.table(columns)


def check_output(path: str) -> None:
    """Refuse a name that does not say which format to write."""
    if path != STANDARD and _format(path) not in (*DELIMITERS, PARQUET):
        raise InputError(f"{path} must be named *.csv, *.tsv or *.parquet (or *.csv.gz, *.tsv.gz)")


@contextmanager
def open_output(path: str) -> Iterator[Write]:
    """Yield a function that writes one table after another to a file, or to standard output."""
    with ExitStack() as stack:
        if path == STANDARD:
            sink: BinaryIO = stack.enter_context(_standard_output())
        else:
            sink = stack.enter_context(open(stack.enter_context(replacing(path)), "wb"))
        if path.lower().endswith(".gz"):
            sink = stack.enter_context(gzip.GzipFile(fileobj=sink, mode="wb", filename="", mtime=0))
        yield _Writer(sink, path, stack)


class _Writer:
    """A file that is begun with its first table, since that has the columns and their types."""

    def __init__(self, sink: BinaryIO, path: str, stack: ExitStack):
        self.sink, self.path, self.stack = sink, path, stack
        self.file: csv.CSVWriter | parquet.ParquetWriter | None = None

    def __call__(self, table: pa.Table) -> None:
        if self.file is None:
            self.file = self.stack.enter_context(self._begin(table.schema))
        self.file.write_table(table)

    def _begin(self, schema: pa.Schema) -> csv.CSVWriter | parquet.ParquetWriter:
        if _format(self.path) == PARQUET:
            return parquet.ParquetWriter(self.sink, schema)
        delimiter = DELIMITERS.get(_format(self.path), ",")
        options = csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
        return csv.CSVWriter(self.sink, schema, write_options=options)


def _format(path: str) -> str:
    name = path.lower().removesuffix(".gz")
    return Path(name).suffix


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # whoever read our output, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
