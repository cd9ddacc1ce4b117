"""Read tables in chunks: CSV in any of its dialects, or Parquet; packed by gzip or not.

Rows are counted from 1, without the header; blank lines are not counted. A chunk of a CSV file has
text in all of its columns, without surrounding blanks; empty cells and marks such as NA are null.
A chunk of a Parquet file has the file's types, its text treated alike.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from hyperlvq.checks import InputError
from hyperlvq.tables.cells import clean, missing_marks, shown
from hyperlvq.tables.dialect import Utf8Text, find_dialect
from hyperlvq.tables.names import check_names, tidy
from hyperlvq.tables.rows import RaggedRowError, RowParser, Rows, last_row_end
from hyperlvq.tables.source import Peekable, Source, open_source

BLOCK_SIZE = 8 << 20
MOST_ROW_BYTES = 64 << 20
MOST_PARQUET_ROWS = 1 << 16


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
    marks: Mapping[str, Counter[str]] = field(default_factory=dict)


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
    marks : dict of Counter
        For each column, how often which text has been read as missing; blanks are not counted.
    """

    delimiter: str | None = None

    def __init__(self, source: Source, columns: Sequence[str], wanted: Collection[str] | None):
        self.name = source.name
        self.columns = tuple(columns)
        self.decimal: str | None = None
        self.marks = {name: Counter[str]() for name in self.columns}
        self._source = source
        wanted = set(wanted or ())
        positions = range(len(self.columns))
        # with none of them there, all are read: what is missing is for the caller to say
        self._wanted = [i for i in positions if self.columns[i] in wanted] or [*positions]
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
            for name, column in zip(names, batch.columns, strict=True):
                self.marks[name] += missing_marks(column, data[name])
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
        About how many bytes of text to read at a time.
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
        dialect = reader.delimiter, reader.encoding
        return Table(reader.name, reader.columns, data, *dialect, marks=reader.marks)


class _CsvReader(TableReader):
    """Text with delimiters, cut into blocks that end where a row does."""

    def __init__(self, source: Source, wanted: Collection[str] | None, block_size: int):
        self._decoded = Utf8Text(source)
        self._text = Peekable(self._decoded)
        dialect = find_dialect(self._text, source.name)
        super().__init__(source, dialect.columns, wanted)
        self.delimiter = dialect.delimiter
        self._header_size = dialect.header_size
        self._block_size = block_size
        self._parser = RowParser(self.delimiter, len(self.columns), dialect.n_unnamed, self._wanted)

    @property
    def encoding(self) -> str | None:
        return self._decoded.encoding

    @property
    def position(self) -> float | None:
        return self._source.position

    def _batches(self) -> Iterator[pa.Table]:
        self._text.read(self._header_size)
        rest, needed = b"", 0
        while block := self._text.read(self._block_size):
            rest += block
            end = last_row_end(rest) if len(rest) >= needed else 0
            rows = self._parse(rest[:end]) if end else None
            if rows is None or rows.ends_in_quote:
                needed = max(needed, self._more_than(len(rest)))
                continue
            rest, needed = rest[end:], 0
            yield from self._named(rows.data)
        rows = self._parse(rest)
        if rows.ends_in_quote:
            number = self._n_rows + rows.n_rows
            raise InputError(f"{self.name}, row {number}: a quote is opened and never closed")
        yield from self._named(rows.data)

    def _more_than(self, size: int) -> int:
        """Return how many bytes to have before the next attempt to find the end of a row."""
        if size > MOST_ROW_BYTES:
            raise InputError(
                f"{self.name}: a row after row {self._n_rows} goes on for more than "
                f"{MOST_ROW_BYTES >> 20} MB: is a quote never closed?"
            )
        return 2 * size

    def _parse(self, block: bytes) -> Rows:
        try:
            return self._parser.parse(block)
        except RaggedRowError as ragged:
            fields = "1 field" if ragged.n_found == 1 else f"{ragged.n_found} fields"
            number = self._n_rows + ragged.row
            raise InputError(
                f"{self.name}, row {number}: {fields} where the header has {ragged.n_expected}"
            ) from None
        except pa.ArrowException as error:
            raise InputError(f"{self.name} cannot be read as CSV: {error}") from None

    def _named(self, data: pa.Table) -> Iterator[pa.Table]:
        """Yield the wanted columns, if there are rows; those without a name must be empty."""
        n_wanted = len(self._wanted)
        for position, column in enumerate(data.columns[n_wanted:], len(self.columns) + 1):
            if (index := pc.index(pc.is_valid(clean(column)), True).as_py()) >= 0:
                raise InputError(
                    f"{self.name}, row {self._n_rows + index + 1}: {shown(column[index].as_py())} "
                    f"is in column {position}, which has no name in the header"
                )
        if len(data):
            yield data.select(range(n_wanted))


class _ParquetReader(TableReader):
    def __init__(self, source: Source, wanted: Collection[str] | None, block_size: int):
        self._block_size = block_size
        with _parquet_sentences(source.name):
            # by its path: arrow's threads and a file of Python's may wait for each other
            self._parquet = pyarrow.parquet.ParquetFile(source.stored())
            self._stored_names = self._parquet.schema_arrow.names
        names = [tidy(name) for name in self._stored_names]
        check_names(names, source.name)
        super().__init__(source, names, wanted)

    def close(self) -> None:
        self._parquet.close()
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
