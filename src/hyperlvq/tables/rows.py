"""Rows of text with delimiters, parsed by arrow in blocks of whole rows.

Arrow also knows whether a block ends where a row does: a record of our own behind it, the end mark,
comes out as a row, unless a quote is still open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.csv

from hyperlvq.tables.dialect import NO_DELIMITER

END_MARK = "\x1e"
QUOTE = b'"'


def last_row_end(block: bytes) -> int:
    """Return the end of the last line that does not end within quotes, by counting them; or 0.

    A quote within a word is none, and may mislead the count: the parser knows.
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


class RaggedRowError(Exception):
    """A row has another number of fields than the header; `row` is its number in the block."""

    def __init__(self, row: int, n_found: int, n_expected: int):
        super().__init__()
        self.row, self.n_found, self.n_expected = row, n_found, n_expected


@dataclass(frozen=True)
class Rows:
    """Parsed rows; if the text ends within quotes, `n_rows` counts the row where they open."""

    data: pa.Table
    n_rows: int
    ends_in_quote: bool


class RowParser:
    """Rows of text by arrow, which calls columns by their positions."""

    def __init__(self, delimiter: str | None, n_named: int, n_unnamed: int, wanted: Sequence[int]):
        names = [str(i) for i in range(n_named + n_unnamed)]
        self._names = names
        self._delimiter = delimiter or NO_DELIMITER
        self._end = self._delimiter.join([END_MARK] * len(names))
        self._convert = pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            include_columns=[*(names[i] for i in wanted), *names[n_named:]],
            check_utf8=False,  # the text has been decoded
        )

    def parse(self, block: bytes) -> Rows:
        """Return the rows of a block that begins with a row."""
        # a blank line first, as arrow drops a byte order mark at the very start
        text = b"\n" + block + b"\n" + self._end.encode()
        irregular = _IrregularRows(self._end)
        options = pyarrow.csv.ReadOptions(
            column_names=self._names,
            block_size=len(text) + 1,
            use_threads=False,  # threads lose the numbers of irregular rows
        )
        parse = pyarrow.csv.ParseOptions(
            delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=irregular
        )
        try:
            data = pyarrow.csv.read_csv(pa.BufferReader(text), options, parse, self._convert)
        except pa.ArrowInvalid:
            if irregular.ragged:
                raise irregular.ragged from None
            raise
        is_marked = len(data) and all(column[-1].as_py() == END_MARK for column in data.columns)
        if irregular.ends_in_quote or not is_marked:
            return Rows(data, len(data) + irregular.ends_in_quote, True)
        return Rows(data.slice(0, len(data) - 1), len(data) - 1, False)


class _IrregularRows:
    """Tell arrow what to do with rows that have too few or too many fields."""

    def __init__(self, end: str):
        self._end = end
        self._n_blank = 0
        self.ends_in_quote = False
        self.ragged: RaggedRowError | None = None

    def __call__(self, row: Any) -> str:
        if not row.text.strip():
            self._n_blank += 1
            return "skip"
        if row.text.endswith(self._end):
            self.ends_in_quote = True
            return "skip"
        number = row.number - self._n_blank
        self.ragged = RaggedRowError(number, row.actual_columns, row.expected_columns)
        return "error"
