"""Read tables in chunks: CSV in any of its dialects, or Parquet; packed by gzip or not.

Rows are counted from 1, without the header; blank lines are not counted. A chunk of a CSV file has
text in all of its columns, without surrounding blanks; empty cells and marks such as NA are null.
A chunk of a Parquet file has the file's types, its text treated alike.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from hyperlvq.checks import InputError
from hyperlvq.tables.cells import clean
from hyperlvq.tables.dialect import NO_DELIMITER, Utf8Text, find_dialect
from hyperlvq.tables.names import check_names
from hyperlvq.tables.source import Peekable, Source, open_source

BLOCK_SIZE = 8 << 20
MOST_PARQUET_ROWS = 1 << 16
# follows the last row; it is not read as a row of its own if a quote is still open
END_MARK = "\x1e"


@dataclass(frozen=True)
class Chunk:
    """Some rows of a table; `first_row` is the number of the first one, from 1."""

    first_row: int
    data: pa.Table


@dataclass
class Table:
    """All rows of a table, and how it was written; see `TableReader` for the attributes."""

    name: str
    columns: tuple[str, ...]
    data: pa.Table
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None


class TableReader(ABC):
    """A table that is read in chunks; a context manager.

    Attributes
    ----------
    name : str
        What messages call it: the path, or "standard input".
    columns : tuple of str
        All names in the header, stripped.
    delimiter : str or None
        None for Parquet and for a table of one column.
    decimal : str or None
        The decimal mark of its numbers, None until one has been seen.
    """

    delimiter: str | None = None

    def __init__(self, source: Source, columns: Sequence[str], wanted: Collection[str] | None):
        self.name = source.name
        self.columns = tuple(columns)
        self.decimal: str | None = None
        self._source = source
        positions = range(len(self.columns))
        # with none of them there, all are read: what is missing is for the caller to say
        self._wanted = [i for i in positions if self.columns[i] in (wanted or ())] or [*positions]
        self._n_rows = 0

    def __enter__(self) -> "TableReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    @property
    def encoding(self) -> str | None:
        """The text's encoding as far as it has been read; None for Parquet."""
        return None

    @property
    @abstractmethod
    def position(self) -> float | None:
        """The share of the input that has been read, 0 to 1; None where that is unknown."""

    def chunks(self) -> Iterator[Chunk]:
        """Yield the table's rows in order, once, a few megabytes at a time."""
        names = [self.columns[i] for i in self._wanted]
        for batch in self._batches():
            data = pa.table([clean(column) for column in batch.columns], names)
            yield Chunk(self._n_rows + 1, data)
            self._n_rows += len(data)
        if not self._n_rows:
            raise InputError(f"{self.name} has a header but no rows")

    @abstractmethod
    def _batches(self) -> Iterator[pa.Table]:
        """Yield the wanted columns of rows in order; `_n_rows` are done when one is asked for."""


def open_table(
    path: str | Path, *, columns: Collection[str] | None = None, block_size: int = BLOCK_SIZE
) -> TableReader:
    """Open a table, `-` being standard input.

    Parameters
    ----------
    path : str or Path
        A CSV or Parquet file, packed by gzip or not, told by its content.
    columns : collection of str, optional
        Read only these, as far as they exist.
    block_size : int
        About how many bytes of text to read at a time; a row must fit.
    """
    source = open_source(path)
    try:
        reader = _ParquetReader if source.is_parquet else _CsvReader
        return reader(source, columns, block_size)
    except BaseException:
        source.close()
        raise


def read_table(path: str | Path) -> Table:
    """Read a whole table, `-` being standard input."""
    with open_table(path) as reader:
        data = pa.concat_tables([chunk.data for chunk in reader.chunks()])
        return Table(reader.name, reader.columns, data, reader.delimiter, reader.encoding)


class _CsvReader(TableReader):
    """Text with delimiters; arrow parses it, and calls the columns by their positions."""

    def __init__(self, source: Source, wanted: Collection[str] | None, block_size: int):
        self._decoded = Utf8Text(source)
        self._text = Peekable(self._decoded)
        dialect = find_dialect(self._text, source.name)
        super().__init__(source, dialect.columns, wanted)
        self.delimiter = dialect.delimiter
        self._unnamed = [len(self.columns) + i for i in range(dialect.n_unnamed)]
        self._header_size = dialect.header_size
        self._block_size = block_size
        self._ragged_row: Any = None
        self._n_blank = 0

    @property
    def encoding(self) -> str | None:
        return self._decoded.encoding

    @property
    def position(self) -> float | None:
        return self._source.position

    def _batches(self) -> Iterator[pa.Table]:
        try:
            with self._open() as parser:
                for batch in self._up_to_end_mark(parser):
                    table = pa.Table.from_batches([batch])
                    self._check_unnamed(table)
                    yield table.select(range(len(self._wanted)))
        except pa.ArrowInvalid as error:
            raise self._sentence(error) from None

    def _open(self) -> pyarrow.csv.CSVStreamingReader:
        names = [str(i) for i in range(len(self.columns) + len(self._unnamed))]
        included = [names[i] for i in (*self._wanted, *self._unnamed)]
        delimiter = self.delimiter or NO_DELIMITER
        self._text.read(self._header_size)
        end = "\n" + delimiter.join([END_MARK] * len(names))
        return pyarrow.csv.open_csv(
            _Feed(self._text, end.encode()),
            # threads would lose the number of a ragged row
            pyarrow.csv.ReadOptions(
                block_size=self._block_size, column_names=names, use_threads=False
            ),
            pyarrow.csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                invalid_row_handler=self._on_ragged_row,
            ),
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=included,
                check_utf8=False,  # the text has been decoded
            ),
        )

    def _on_ragged_row(self, row: Any) -> str:
        if not row.text.strip():
            self._n_blank += 1
            return "skip"
        self._ragged_row = row
        return "error"

    def _up_to_end_mark(self, parser: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        last = None
        for batch in filter(len, parser):
            if last is not None:
                yield last
            last = batch
        if last is None or last.column(0)[-1].as_py() != END_MARK:
            raise self._open_quote(self._n_rows + (len(last) if last else 1))
        if len(last) > 1:
            yield last.slice(0, len(last) - 1)

    def _check_unnamed(self, table: pa.Table) -> None:
        for position, column in enumerate(table.columns[len(self._wanted) :], len(self.columns)):
            if (index := pc.index(pc.is_valid(clean(column)), True).as_py()) >= 0:
                raise InputError(
                    f"{self.name}, row {self._n_rows + index + 1}: {column[index].as_py()!r} "
                    f"is in column {position + 1}, which has no name in the header"
                )

    def _sentence(self, error: pa.ArrowInvalid) -> InputError:
        if row := self._ragged_row:
            number = row.number - self._n_blank
            if END_MARK in row.text:
                return self._open_quote(number)
            fields = "1 field" if row.actual_columns == 1 else f"{row.actual_columns} fields"
            return InputError(
                f"{self.name}, row {number}: {fields} where the header has {row.expected_columns}"
            )
        if "straddling" in str(error):
            return InputError(
                f"{self.name}: a row after row {self._n_rows} has more than {self._block_size} "
                "bytes: is a quote never closed?"
            )
        return InputError(f"{self.name} cannot be read as CSV: {error}")

    def _open_quote(self, row: int) -> InputError:
        return InputError(f"{self.name}, row {row}: a quote is opened and never closed")


class _Feed:
    """What arrow reads: the text, then a last record of our own."""

    closed = False

    def __init__(self, text: Peekable, end: bytes):
        self._text = text
        self._end = end

    def read(self, size: int) -> bytes:
        if block := self._text.read(size):
            return block
        end, self._end = self._end, b""
        return end

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


class _ParquetReader(TableReader):
    def __init__(self, source: Source, wanted: Collection[str] | None, block_size: int):
        self._file = source.seekable()
        with _parquet_sentences(source.name):
            self._parquet = pyarrow.parquet.ParquetFile(self._file)
            self._stored_names = self._parquet.schema_arrow.names
        names = [name.strip() for name in self._stored_names]
        check_names(names, source.name)
        super().__init__(source, names, wanted)
        self._block_size = block_size

    def close(self) -> None:
        self._file.close()  # a copy of its own, where the source is a pipe
        super().close()

    @property
    def position(self) -> float | None:
        return self._n_rows / max(self._parquet.metadata.num_rows, 1)

    def _batches(self) -> Iterator[pa.Table]:
        names = [self._stored_names[i] for i in self._wanted]
        with _parquet_sentences(self.name):
            for batch in self._parquet.iter_batches(self._rows_per_batch(), columns=names):
                table = pa.Table.from_batches([batch]).select(names)
                table.validate(full=True)  # text of a damaged file need not be UTF-8
                yield table

    def _rows_per_batch(self) -> int:
        metadata = self._parquet.metadata
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        n_bytes = sum(group.total_byte_size for group in groups)
        bytes_per_row = max(n_bytes / max(metadata.num_rows, 1), 1)
        return max(1, min(int(self._block_size / bytes_per_row), MOST_PARQUET_ROWS))


@contextmanager
def _parquet_sentences(name: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError):
        raise InputError(
            f"{name} begins like a Parquet file but cannot be read: it is damaged or cut off"
        ) from None
