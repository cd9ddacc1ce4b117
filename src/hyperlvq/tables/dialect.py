"""How a text table is written: its encoding, its delimiter and its header.

Encoding: a byte order mark says it, or the zeros of UTF-16 do; else it is UTF-8. Text that is ASCII
up to its first byte that is not UTF-8 is read as Windows-1252 (the usual encoding of older
spreadsheets) wherever that byte comes; a byte that fits neither is refused.

Delimiter: of comma, semicolon, tab and bar the one that cuts the rows as often as the header;
a single blank if it does so in every row and no other cuts the header. A first line `sep=;`
overrules. Without a delimiter the table has one column.

A user may say the encoding, and how many lines stand before the header.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from hyperlvq.checks import InputError
from hyperlvq.tables.cells import is_plain_number
from hyperlvq.tables.source import HEAD_SIZE, Peekable, Source

UTF_8 = "UTF-8"
WINDOWS_1252 = "Windows-1252"
# UTF-32's mark begins with UTF-16's
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "UTF-32-LE"),
    (codecs.BOM_UTF32_BE, "UTF-32-BE"),
    (codecs.BOM_UTF16_LE, "UTF-16-LE"),
    (codecs.BOM_UTF16_BE, "UTF-16-BE"),
)
# what decides a tie stands first; commas also stand in numbers and in text
KNOWN_DELIMITERS = ("\t", ";", "|", ",")
BLANK = " "
NO_DELIMITER = "\x1f"  # in no text that people write
SAMPLE_SIZES = (1 << 17, 1 << 20, 1 << 23)
SAMPLE_ROWS = 200
#: Hiragana and katakana in Shift-JIS, which begin like signs that Western text hardly has.
KANA = re.compile(rb"\x82[\x9f-\xf1]|\x83[\x40-\x96]")
LINE_END = r"(?:\r\n|\r|\n|\Z)"
LINE = rf"(?:[^\r\n]*{LINE_END})"
BLANK_LINES = rf"(?:[^\S\r\n]*{LINE_END})*"
SEPARATOR_LINE = rf'"?(?i:sep)=(?P<delimiter>[^\w\s"]|\t| )"?[ ]*{LINE_END}'
#: What an unnamed first column is called, as R and pandas write the names of rows.
ROW_NAME = "(row name)"


class Utf8Text(Peekable):
    """A source's text as UTF-8 bytes; its `encoding` may turn out to be another at a later byte."""

    def __init__(self, source: Source, encoding: str | None = None) -> None:
        super().__init__(self._read_utf8)
        self._source = source
        mark, found = _encoding(source.peek(HEAD_SIZE))
        self.encoding = encoding or found
        if _codec(self.encoding) == _codec(found):
            source.read(len(mark))
        self._is_certain = bool(encoding or mark) or found != UTF_8
        self._decoder = codecs.getincrementaldecoder(self.encoding)()
        self._line = 1

    def _read_utf8(self, size: int) -> bytes:
        """Return about `size` bytes; none at the end."""
        while block := self._source.read(size):
            if text := self._decode(block):
                return text.encode()
        return self._decode(b"").encode()

    def _decode(self, block: bytes) -> str:
        """Return the text of a block, an empty one being the end."""
        try:
            text = self._decoder.decode(block, not block)
        except UnicodeDecodeError as error:
            text = self._decode_otherwise(error, not block)
        except UnicodeError as error:  # such as of UTF-16 without its mark
            raise InputError(f"{self._source.name} is not {self.encoding} text: {error}") from None
        if "\0" in text:
            line = self._line + text[: text.index("\0")].count("\n")
            raise InputError(
                f"{self._source.name}, line {line}: found a zero byte, so this is not a text file"
            )
        self._is_certain = self._is_certain or not text.isascii()
        self._line += text.count("\n")
        return text

    def _decode_otherwise(self, error: UnicodeDecodeError, is_end: bool) -> str:
        if self._is_certain or not error.object[: error.start].isascii():
            raise self._undecodable(error, f"not {self.encoding}")
        if KANA.search(error.object):
            raise InputError(
                f"{self._source.name} is not UTF-8 and may be Shift-JIS: specify --encoding"
            )
        self.encoding, self._is_certain = WINDOWS_1252, True
        self._decoder = codecs.getincrementaldecoder("cp1252")()
        try:
            return self._decoder.decode(error.object, is_end)
        except UnicodeDecodeError as other:
            raise self._undecodable(other, f"neither {UTF_8} nor {WINDOWS_1252}") from None

    def _undecodable(self, error: UnicodeDecodeError, what: str) -> InputError:
        valid = error.object[: error.start].decode(error.encoding, "ignore")
        line, byte = self._line + valid.count("\n"), error.object[error.start]
        return InputError(
            f"{self._source.name}, line {line}: byte 0x{byte:02x} is {what} text: save the file as "
            "UTF-8 or specify --encoding"
        )


def _codec(encoding: str) -> str:
    try:
        b"".decode(encoding)  # which refuses what is no encoding of text
        return codecs.lookup(encoding).name
    except LookupError:
        raise InputError(f"--encoding: unknown encoding {encoding!r}") from None


def _encoding(head: bytes) -> tuple[bytes, str]:
    """Return the byte order mark, which may be empty, and the encoding."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return mark, encoding
    # ASCII in UTF-16 has a zero in one byte of every two
    low, high = head[::2].count(0), head[1::2].count(0)
    if max(low, high) > len(head) / 6 and not min(low, high):
        return b"", "UTF-16-LE" if high else "UTF-16-BE"
    return b"", UTF_8


class Dialect(NamedTuple):
    """How a text table is written."""

    delimiter: str | None  # None in a table of one column
    columns: tuple[str, ...]
    n_unnamed: int  # how many columns at the right have no name; they must be empty
    header_size: int  # in bytes of UTF-8


def find_dialect(text: Peekable, name: str, skip_rows: int) -> Dialect:
    """Return how the table is written, by a sample of its text without its first lines."""
    sample, is_whole = _sample(text)
    lines = rf"{LINE}{{{min(skip_rows, len(sample))}}}"
    skipped = re.match(rf"{lines}{BLANK_LINES}(?:{SEPARATOR_LINE})?{BLANK_LINES}", sample)
    start = skipped.end() if skipped else 0
    if start == len(sample):
        skipped_lines = f" after the first {skip_rows} lines (--skip-rows)" if skip_rows else ""
        raise InputError(f"{name} is empty{skipped_lines}")
    said = skipped["delimiter"] if skipped else None
    delimiter = said or _find_delimiter(sample[start:], is_whole)
    records, header_end = _records(sample[start:], delimiter, is_whole)
    if not records:
        raise InputError(f"{name} has no readable header: check it for an unclosed quote")
    header, *rows = records
    if not rows and is_whole:
        hint = ": check it for an unclosed quote" if "\n" in "".join(header) else ""
        raise InputError(f"{name} has a header but no rows{hint}")
    columns, n_unnamed = _columns(header, rows, name)
    return Dialect(delimiter, columns, n_unnamed, len(sample[: start + header_end].encode()))


def _sample(text: Peekable) -> tuple[str, bool]:
    """Return the first rows of the text, and whether they are all of it."""
    for size in SAMPLE_SIZES:
        head = text.peek(size)
        is_whole = len(head) < size
        if is_whole or head.count(b"\n") + head.count(b"\r") > 2:
            break
    return head.decode(errors="ignore"), is_whole  # the sample may end within a character


def _records(text: str, delimiter: str | None, is_whole: bool) -> tuple[list[list[str]], int]:
    """Return records that are not blank, without one that is cut off, and where the first ends."""
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=delimiter or NO_DELIMITER)
    records, first_end, last_end = [], 0, 0
    usual_limit = csv.field_size_limit(len(text) + 1)  # no field is longer than the sample
    try:
        for fields in reader:
            if any(field.strip() for field in fields) or len(fields) > 1:
                records.append(fields)
                last_end = lines.tell()
                first_end = first_end or last_end
            if len(records) > SAMPLE_ROWS:
                return records, first_end
    except csv.Error:  # what is before the trouble will do; the parser will tell of it
        return records, first_end
    finally:
        csv.field_size_limit(usual_limit)
    is_cut = last_end == len(text) and not is_whole
    return records[:-1] if is_cut else records, first_end


def _find_delimiter(text: str, is_whole: bool) -> str | None:
    scores = {}
    for delimiter in KNOWN_DELIMITERS:
        widths = [*map(len, _records(text, delimiter, is_whole)[0])]
        if not widths and delimiter in text.splitlines()[0]:
            scores[delimiter] = 0.0, 0  # a header that does not end is not one of a single column
        if widths and widths[0] > 1:
            scores[delimiter] = _share_of_usual_width(widths), widths[0]
    if scores:
        return max(scores, key=lambda delimiter: scores[delimiter])
    records, _ = _records(text, BLANK, is_whole)
    header, *others = map(len, records) if records else [0]
    cuts_all = all(field for record in records for field in record)
    cuts_alike = len({*others}) == 1 and 0 <= others[0] - header <= 1
    return BLANK if header > 1 and cuts_alike and cuts_all else None


def _share_of_usual_width(widths: Sequence[int]) -> float:
    """Return how many rows have the same number of fields, 0 if that does not fit the header."""
    header, *rows = widths
    if not rows:
        return 1.0
    width, count = Counter(rows).most_common(1)[0]
    return count / len(rows) if abs(width - header) <= 1 else 0.0


def _columns(header: list[str], rows: list[list[str]], table: str) -> tuple[tuple[str, ...], int]:
    """Return the columns' names, and how many columns at the right have none."""
    fitted = _fitted([tidy(name) for name in header], rows)
    names = fitted[: max((i for i, name in enumerate(fitted, 1) if name), default=0)]
    if len(names) > 1 and not names[0]:
        names[0] = ROW_NAME
    # pandas calls columns without a name 0, 1, 2, ...
    counts_up = len(names) > 2 and names == [str(i) for i in range(len(names))]
    if names and all(map(is_plain_number, names)) and not counts_up:
        raise InputError(f"{table} has no header: its first row contains only numbers")
    check_names(names, table)
    return tuple(names), len(fitted) - len(names)


def _fitted(names: list[str], rows: list[list[str]]) -> list[str]:
    """Return as many names as the rows have fields, where a known habit explains a difference."""
    widths = {len(row) for row in rows}
    if len(names) > 1 and widths == {len(names) + 1}:
        if not any(row[-1].strip() for row in rows):  # all end in a delimiter
            return [*names, ""]
        return ["", *names] if _are_row_names([row[0] for row in rows]) else names
    lacks_last = len(names) > 1 and widths == {len(names) - 1} and not names[-1]
    return names[:-1] if lacks_last else names


def _are_row_names(cells: list[str]) -> bool:
    """Return whether cells before those that the header names are what R calls rows by."""
    if len(set(cells)) < max(len(cells), 2):
        return False
    counting = [str(number) for number in range(1, len(cells) + 1)]
    return cells == counting or not any(map(is_plain_number, cells))


def tidy(name: str) -> str:
    """Return a name without surrounding blanks, and on one line."""
    return re.sub(r"\s*[\r\n]\s*", " ", name.strip())


def check_names(names: Sequence[str], table: str) -> None:
    """Refuse a header without names, a column without a name, and two of the same name."""
    if not names:
        raise InputError(f"{table} has no column names in its header")
    first_with: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if not name:
            raise InputError(f"{table}, header: column {position} has no name")
        if (first := first_with.setdefault(name, position)) < position:
            hint = ", is the header missing?" if is_plain_number(name) else ""
            raise InputError(
                f"{table}, header: columns {first} and {position} are both named {name!r}{hint}"
            )
