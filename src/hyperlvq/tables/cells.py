"""What the cells of one column hold: arrow arrays in, arrays or plain values out.

Text of any kind of cell, as `as_text` gives it: a whole number has no point, whether it is stored
as an integer or as a float (`1` and `1.0` are both "1"); other floats have the fewest digits that
read back to the same value; truth values are "True" and "False"; dates are in ISO form.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from hyperlvq.checks import InputError

# arrow's own ways from and to Python import pandas, which takes longer than most predictions: hence
# these three functions, and scalars that are made by them


def text_to_arrow(texts: Sequence[str]) -> pa.StringArray:
    """Return text as arrow has it."""
    encoded = [text.encode(errors="backslashreplace") for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    if ends[-1] > np.iinfo(np.int32).max:
        raise InputError("these texts are too long to be written together")
    content = pa.py_buffer(b"".join(encoded))
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends.astype(np.int32)), content)


def numbers_to_arrow(values: np.ndarray) -> pa.Array:
    """Return numbers as arrow has them."""
    content = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, content])


def numbers_from_arrow(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return numbers, of which none is null, as numpy has them."""
    dtype = column.type.to_pandas_dtype()
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    parts = [
        np.frombuffer(chunk.buffers()[1], dtype)[chunk.offset : chunk.offset + len(chunk)]
        for chunk in chunks
        if len(chunk)
    ]
    return np.concatenate([np.empty(0, dtype), *parts])


NAN, LAST = (numbers_to_arrow(np.array([value]))[0] for value in (np.nan, np.int32(-1)))
NO_TEXT, NO_NUMBER = (pa.nulls(1, kind)[0] for kind in (pa.string(), pa.float64()))
MISSING_MARKS = text_to_arrow(
    ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "?", "#N/A"]
)
EXACT_INTEGERS = 2.0**53

_DAY = r"(0?[1-9]|[12][0-9]|3[01])"
_YEAR = r"([0-9]{4}|[0-9]{2})"
_MONTH_NAME = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[A-Za-z]*\.?"
_CLOCK = (
    r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?( ?(?i:am|pm))?"
    r"( ?(Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?"
)
_DATES = (
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}",
    r"[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}",
    *(rf"{_DAY}{mark}{_DAY}{mark}{_YEAR}" for mark in ("/", r"\.", "-")),
    rf"{_DAY}\.?[- ]{_MONTH_NAME}[- ,]+{_YEAR}",
    rf"{_MONTH_NAME} {_DAY},? {_YEAR}",
)
DATE_PATTERN = rf"^((?:{'|'.join(_DATES)})([T ,]+{_CLOCK})?|{_CLOCK})$"
DATE_SAMPLE = 100
CODE_PATTERN = r"^0[0-9]+$"
SHOWN_CHARACTERS = 40
LONG_TEXT = 20  # characters; names and codes are shorter, sentences are longer


def clean(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return text without surrounding blanks and with null for missing marks, all else as it is."""
    column = _decoded(column)
    if not is_text(column.type):
        return column
    column = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
    is_missing = pc.is_in(column, value_set=MISSING_MARKS)
    if not pc.any(is_missing).as_py():
        return column
    return pc.if_else(is_missing, NO_TEXT, column)


def missing_marks(column: pa.ChunkedArray, cleaned: pa.ChunkedArray) -> Counter[str]:
    """Return how often `clean` took which text for a missing value; blanks are not counted."""
    column = _decoded(column)
    if column.null_count == cleaned.null_count:
        return Counter()
    is_mark = pc.and_(pc.is_valid(column), pc.is_null(cleaned))
    marks = Counter[str]()
    for each in pc.value_counts(pc.cast(column, pa.string()).filter(is_mark)).to_pylist():
        marks[each["values"].strip()] += each["counts"]
    del marks[""]
    return marks


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of a column that is stored as indices into its levels."""
    is_coded = types.is_dictionary(column.type)
    return pc.cast(column, column.type.value_type) if is_coded else column


def is_text(kind: pa.DataType) -> bool:
    """Return whether cells of this type are text."""
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def is_number(kind: pa.DataType) -> bool:
    """Return whether cells of this type are numbers; truth values are not."""
    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)


def is_time(kind: pa.DataType) -> bool:
    """Return whether cells of this type are dates, times or durations."""
    return types.is_temporal(kind) and not types.is_interval(kind)  # which has no text


def is_plain(kind: pa.DataType) -> bool:
    """Return whether cells of this type are single values that have a text."""
    known = is_text(kind) or is_number(kind) or is_time(kind)
    return known or types.is_boolean(kind) or types.is_null(kind)


def as_floats(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return cells of a number type as float64, null where they are missing or nan."""
    if types.is_float16(column.type):
        column = pc.cast(column, pa.float32())
    values = pc.cast(column, pa.float64(), safe=False)
    is_nan = pc.is_nan(values)
    if not pc.any(is_nan).as_py():
        return values
    return pc.if_else(is_nan, NO_NUMBER, values)


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return cells of a plain type as text, null where they are missing."""
    if types.is_boolean(column.type):
        return pc.if_else(column, "True", "False")
    if types.is_floating(column.type):
        return _text_of_floats(column)
    text = pc.cast(column, pa.string())
    if types.is_decimal(column.type):
        text = pc.replace_substring_regex(text, r"^([^.]*)\.0*$", r"\1")
        return pc.replace_substring_regex(text, r"^([^.]*\.[0-9]*[1-9])0*$", r"\1")
    return text


def _text_of_floats(column: pa.ChunkedArray) -> pa.ChunkedArray:
    values = as_floats(column)
    is_whole = pc.and_(pc.equal(pc.floor(values), values), pc.less(pc.abs(values), EXACT_INTEGERS))
    integers = pc.cast(pc.if_else(is_whole, values, 0.0), pa.int64())
    text = pc.if_else(is_whole, pc.cast(integers, pa.string()), pc.cast(column, pa.string()))
    return pc.if_else(pc.is_valid(values), text, NO_TEXT)


def are_dates(cells: pa.ChunkedArray) -> bool:
    """Return whether all text is dates or times of day: ISO, d/m/y, m/d/y, d.m.y, 3 May 2020."""
    cells = cells.drop_null()
    sample = cells.slice(0, DATE_SAMPLE)  # most columns are none, which a sample shows
    return all(
        pc.all(pc.match_substring_regex(part, DATE_PATTERN)).as_py() for part in (sample, cells)
    )


def are_codes(cells: pa.ChunkedArray) -> bool:
    """Return whether text is digits of one length, most cells with a leading zero: 007, 01234."""
    cells = cells.drop_null()
    lengths = pc.min_max(pc.binary_length(cells)).as_py()
    if lengths["min"] != lengths["max"] or lengths["min"] < 2:
        return False
    return pc.mean(pc.cast(pc.match_substring_regex(cells, CODE_PATTERN), pa.int8())).as_py() > 0.5


def are_long_text(cells: pa.ChunkedArray) -> bool:
    """Return whether text is sentences: long, most of it with blanks."""
    blanks = pc.cast(pc.match_substring(cells, " "), pa.int8())
    return pc.mean(pc.utf8_length(cells)).as_py() >= LONG_TEXT and pc.mean(blanks).as_py() > 0.5


def are_whole(values: pa.ChunkedArray) -> bool:
    """Return whether all floats are whole numbers."""
    return pc.all(pc.equal(pc.floor(values), values)).as_py()


def count_up(values: pa.ChunkedArray) -> bool:
    """Return whether floats without missing ones go up by 1 from row to row."""
    steps = np.diff(numbers_from_arrow(values))
    return bool(len(steps) and (steps == 1).all())


def are_distinct(cells: pa.ChunkedArray) -> bool:
    """Return whether no value comes twice."""
    return pc.count_distinct(cells).as_py() == len(cells) - cells.null_count


def count_levels(cells: pa.ChunkedArray) -> pa.Table:
    """Return the distinct values of text and their counts, the most frequent first."""
    counts = pc.value_counts(cells.drop_null().combine_chunks())
    table = pa.table({"values": counts.field("values"), "counts": counts.field("counts")})
    return table.sort_by([("counts", "descending"), ("values", "ascending")])


def to_objects(cells: pa.ChunkedArray, missing: float | None = None) -> np.ndarray:
    """Return text as an array of objects: a str, or `missing`."""
    coded = cells.combine_chunks().dictionary_encode()
    levels = np.array([*coded.dictionary.to_pylist(), missing], dtype=object)
    return levels[numbers_from_arrow(pc.fill_null(coded.indices, LAST))]


def shown(cell: str) -> str:
    """Return a cell's text for a message: in quotes, its end left out if it is long."""
    return repr(cell if len(cell) <= SHOWN_CHARACTERS else cell[:SHOWN_CHARACTERS] + "…")
