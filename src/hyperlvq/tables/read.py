"""Read tables in chunks: CSV in any of its dialects, or Parquet; packed by gzip or not.

Rows are counted from 1, without the header; blank lines are not counted. A chunk of a CSV file has
text in all of its columns, one of a Parquet file has the file's types. `Table.data` has cells as
they are in the file, `Table.cells` has them without surrounding blanks, with null for empty ones
and for marks such as NA.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from hyperlvq.checks import InputError
from hyperlvq.tables.cells import MISSING_MARKS, clean, quoted
from hyperlvq.tables.dialect import NO_DELIMITER, Utf8Text, check_names, find_dialect, tidy
from hyperlvq.tables.source import PARQUET_MAGIC, Source, check_format, open_source

BLOCK_SIZE = 2 << 20
MOST_ROW_BYTES = 64 << 20
MOST_PARQUET_ROWS = 1 << 16
END_MARK = "\x1e"
QUOTE = b'"'


@dataclass
class TableForm:
    """How a table is written, as far as it has been read."""

    name: str  # what messages call it: the path, or "standard input"
    columns: tuple[str, ...]  # all names in the header, stripped
    delimiter: str | None = None  # None for Parquet and for a table of one column
    encoding: str | None = None  # None for Parquet
    decimal: str | None = None  # the decimal mark of numbers, None until one has been seen
    missing: tuple[str, ...] = ()  # words for a missing value, beside the usual ones


@dataclass(frozen=True)
class Table:
    """Rows of a table: all of them, or a chunk; `first_row` is the number of the first one."""

    form: TableForm
    data: pa.Table
    first_row: int = 1
    _cleaned: dict[str, pa.ChunkedArray] = field(default_factory=dict, repr=False, compare=False)

    def cells(self, name: str) -> pa.ChunkedArray:
        """Return the cells of a column, text without surrounding blanks, null where missing."""
        if name not in self._cleaned:
            missing = (*MISSING_MARKS, *self.form.missing)
            self._cleaned[name] = clean(self.data[name], missing)
        return self._cleaned[name]

    def labels(self, name: str) -> pa.ChunkedArray:
        """Return the cells of a column of classes, of which one may be called NA or None."""
        return clean(self.data[name], ("", *self.form.missing))

    def shown(self, name: str, index: int) -> str:
        """Return a cell for a message: in quotes, its end left out if it is long."""
        return quoted(str(self.cells(name)[index].as_py()))

    def error(self, name: str, index: int, what: str) -> InputError:
        """Return what is wrong with a cell, after the number of its row and its column."""
        row = self.first_row + index
        return InputError(f"{self.form.name}, row {row}, column {name!r}: {what}")


class TableReader(TableForm, AbstractContextManager):
    """A table that is read in chunks; a context manager."""

    def __init__(self, source: Source, columns: Sequence[str], wanted: Collection[str]) -> None:
        super().__init__(source.name, tuple(columns))
        self._source = source
        positions = range(len(self.columns))
        # with none of them there, all are read: what is missing is for the caller to say
        self._wanted = [i for i in positions if self.columns[i] in wanted] or [*positions]
        self._n_rows = 0

    def __exit__(self, *_: object) -> None:
        self._source.close()

    @property
    def position(self) -> float | None:
        """The share of the input that has been read, 0 to 1; None where that is unknown."""
        return self._source.position

    def chunks(self) -> Iterator[Table]:
        """Yield the table's rows in order, once, a few megabytes at a time."""
        names = [self.columns[i] for i in self._wanted]
        for batch in self._batches():
            yield Table(self, batch.rename_columns(names), self._n_rows + 1)
            self._n_rows += len(batch)
        if not self._n_rows:
            raise InputError(f"{self.name} has a header but no rows")

    @abstractmethod
    def _batches(self) -> Iterator[pa.Table]:
        """Yield the wanted columns of rows in order; `_n_rows` are done when one is asked for."""


def open_table(
    path: str | Path,
    *,
    columns: Collection[str] = (),
    missing: Sequence[str] = (),
    encoding: str | None = None,
    skip_rows: int = 0,
    block_size: int = BLOCK_SIZE,
) -> TableReader:
    """Open a CSV or Parquet file, told by its content; `-` is standard input.

    Only `columns` are read, as far as they exist, and about `block_size` bytes at a time. Cells
    that are in `missing` have no value; of text, `encoding` is not guessed where it is given, and
    so many lines are skipped before the header.
    """
    source, wanted = open_source(path), {*columns}
    try:
        check_format(source)
        is_parquet = source.peek(len(PARQUET_MAGIC)) == PARQUET_MAGIC
        if is_parquet and (encoding or skip_rows):
            raise InputError(f"{source.name} is a Parquet file: it has no encoding or lines to say")
        reader: TableReader
        if is_parquet:
            reader = _ParquetReader(source, wanted, block_size)
        else:
            reader = _CsvReader(source, wanted, block_size, encoding, skip_rows)
        reader.missing = tuple(word.strip() for word in missing)
        return reader
    except BaseException:
        source.close()
        raise


def read_table(path: str | Path, **how: Any) -> Table:
    """Read a whole table, `-` being standard input; `how` is as for `open_table`."""
    with open_table(path, **how) as reader:
        return Table(reader, pa.concat_tables([chunk.data for chunk in reader.chunks()]))


class _CsvReader(TableReader):
    """Text with delimiters, cut into blocks that end where a row does, and parsed by arrow.

    Arrow also knows whether a block ends where a row does: a record of our own behind it, the end
    mark, comes out as a row, unless a quote is still open.
    """

    def __init__(
        self,
        source: Source,
        wanted: Collection[str],
        block_size: int,
        encoding: str | None,
        skip_rows: int,
    ):
        self._text, self._block_size = Utf8Text(source, encoding), block_size
        dialect = find_dialect(self._text, source.name, skip_rows)
        super().__init__(source, dialect.columns, wanted)
        self.delimiter, self.encoding = dialect.delimiter, self._text.encoding
        self._text.read(dialect.header_size)
        # arrow calls columns by their positions
        self._positions = [str(i) for i in range(len(self.columns) + dialect.n_unnamed)]
        self._end_mark = (self.delimiter or NO_DELIMITER).join([END_MARK] * len(self._positions))

    def _batches(self) -> Iterator[pa.Table]:
        rest, needed = b"", 0
        while block := self._text.read(self._block_size):
            self.encoding = self._text.encoding
            rest += block
            if len(rest) < needed:
                continue
            end = last_row_end(rest)
            data, open_row = self._parse(rest[:end])
            if not end or open_row is not None:
                needed = self._more_than(len(rest))
                continue
            rest, needed = rest[end:], 0
            yield from self._named(data)
        data, open_row = self._parse(rest)
        if open_row is not None:
            raise InputError(f"{self.name}, row {open_row}: unclosed quote")
        yield from self._named(data)

    def _more_than(self, size: int) -> int:
        """Return how many bytes to have before the next attempt to find the end of a row."""
        if size > MOST_ROW_BYTES:
            raise InputError(
                f"{self.name}: a row after row {self._n_rows} is longer than "
                f"{MOST_ROW_BYTES >> 20} MB: check it for an unclosed quote"
            )
        return min(2 * size, MOST_ROW_BYTES + 1)

    def _parse(self, block: bytes) -> tuple[pa.Table, int | None]:
        """Return rows by positions of columns, and the number of the one whose quote is open."""
        # a blank line first, as arrow drops a byte order mark at the very start
        text = b"\n" + block + b"\n" + self._end_mark.encode()
        irregular = _IrregularRows(self._end_mark)
        try:
            data = pyarrow.csv.read_csv(
                pa.BufferReader(text),
                pyarrow.csv.ReadOptions(
                    column_names=self._positions,
                    block_size=len(text) + 1,
                    use_threads=False,  # threads lose the numbers of irregular rows
                ),
                pyarrow.csv.ParseOptions(
                    delimiter=self.delimiter or NO_DELIMITER,
                    newlines_in_values=True,
                    invalid_row_handler=irregular,
                ),
                pyarrow.csv.ConvertOptions(
                    column_types=dict.fromkeys(self._positions, pa.string()),
                    include_columns=[
                        *(self._positions[i] for i in self._wanted),
                        *self._positions[len(self.columns) :],
                    ],
                    check_utf8=False,  # the text has been decoded
                ),
            )
        except pa.ArrowException as error:
            if irregular.row is None:
                raise InputError(f"{self.name} cannot be read as CSV: {error}") from None
            row, n_found = irregular.row.number - irregular.n_blank, irregular.row.actual_columns
            raise InputError(
                f"{self.name}, row {self._n_rows + row}: "
                f"{n_found} field{'' if n_found == 1 else 's'}, expected "
                f"{irregular.row.expected_columns} as in the header"
            ) from None
        ends_in_quote = irregular.row is not None
        is_marked = len(data) and all(column[-1].as_py() == END_MARK for column in data.columns)
        if ends_in_quote or not is_marked:
            return data, self._n_rows + len(data) + ends_in_quote
        return data.slice(0, len(data) - 1), None

    def _named(self, data: pa.Table) -> Iterator[pa.Table]:
        """Yield the wanted columns, if there are rows; those without a name must be empty."""
        n_wanted = len(self._wanted)
        for position, column in enumerate(data.columns[n_wanted:], len(self.columns) + 1):
            if (index := pc.index(pc.is_valid(clean(column)), True).as_py()) >= 0:
                raise InputError(
                    f"{self.name}, row {self._n_rows + index + 1}: column {position} contains "
                    f"{quoted(column[index].as_py())} but has no name in the header"
                )
        if len(data):
            yield data.select(range(n_wanted))


class _IrregularRows:
    """Tell arrow what to do with rows that have too few or too many fields."""

    def __init__(self, end_mark: str):
        self._end_mark = end_mark
        self.n_blank = 0
        self.row: Any = None  # the last one that is not blank: the end mark in a quote, or an error

    def __call__(self, row: Any) -> str:
        if not row.text.strip():
            self.n_blank += 1
            return "skip"
        self.row = row
        return "skip" if row.text.endswith(self._end_mark) else "error"


def last_row_end(block: bytes) -> int:
    """Return the end of the last line that does not end within quotes, by counting them; or 0.

    A quote within a word does not open a field, and may mislead the count: the parser knows.
    """
    is_outside = block.count(QUOTE) % 2 == 0
    end = len(block)
    while end > 0:
        start = block.rfind(QUOTE, 0, end) + 1
        if is_outside and (line_end := _last_line_end(block, start, end)):
            return line_end
        end, is_outside = start - 1, not is_outside
    return _last_line_end(block, 0, len(block))


def _last_line_end(block: bytes, start: int, end: int) -> int:
    return max(block.rfind(mark, start, end) for mark in (b"\n", b"\r")) + 1


class _ParquetReader(TableReader):
    def __init__(self, source: Source, wanted: Collection[str], block_size: int):
        self._block_size = block_size
        with _parquet_errors(source.name):
            # by its path: arrow's threads and a file of Python's may wait for each other
            self._parquet = pyarrow.parquet.ParquetFile(source.stored())
            source.enter_context(self._parquet)
            self._stored_names = self._parquet.schema_arrow.names
        names = [tidy(name) for name in self._stored_names]
        check_names(names, source.name)
        super().__init__(source, names, wanted)

    @property
    def position(self) -> float | None:
        return self._n_rows / max(self._parquet.metadata.num_rows, 1)

    def _batches(self) -> Iterator[pa.Table]:
        names = [self._stored_names[i] for i in self._wanted]
        with _parquet_errors(self.name):
            for batch in self._parquet.iter_batches(self._rows_per_batch(), columns=names):
                table = pa.Table.from_batches([batch]).select(names)
                table.validate(full=True)  # text of a damaged file need not be UTF-8
                yield table

    def _rows_per_batch(self) -> int:
        metadata = self._parquet.metadata
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        n_bytes = sum(group.total_byte_size for group in groups)
        bytes_per_row = max(n_bytes / max(metadata.num_rows, 1), 1)
        return max(1, min(int(self._block_size / bytes_per_row), MOST_PARQUET_ROWS))


@contextmanager
def _parquet_errors(name: str) -> Iterator[None]:
    """Make one sentence of what arrow says about a damaged file."""
    try:
        yield
    except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError):
        raise InputError(f"{name} is a damaged or truncated Parquet file") from None
