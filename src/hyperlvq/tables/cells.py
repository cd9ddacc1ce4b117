"""Cells of one column: arrow arrays in, arrays or plain values out.

What counts as a number in text. Point form: `1`, `-1.5`, `.5`, `1e-3`, `+2`; where the delimiter is
a comma also `1,234.5`. Comma form: `3,14`, `1.234,56`. In both `12 345`, `12'345`, `(1.50)` for
-1.50, and `-` for a missing one among numbers; `$ 1.20` or `5 %` where all of a column have the
sign. Words for infinity count as numbers, so that they are refused, not learnt as text. Digits are
0 to 9.

One value has several spellings: 1 and 1.0, True and TRUE and yes.

Text of any kind of cell, as `as_text` gives it: a whole number has no point, whether it is stored
as an integer or as a float (`1` and `1.0` are both "1"); other floats have the fewest digits that
read back to the same value; truth values are "True" and "False"; dates are in ISO form.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

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
        raise InputError("more than 2 GB of text in one column cannot be written at once")
    content = pa.py_buffer(b"".join(encoded))
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends.astype(np.int32)), content)


def numbers_to_arrow(values: np.ndarray) -> pa.Array:
    """Return numbers as arrow has them."""
    content = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, content])


def numbers_from_arrow(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return numbers, of which none is null, as numpy has them."""
    is_chunked = isinstance(column, pa.ChunkedArray)
    return np.from_dlpack(column.combine_chunks() if is_chunked else column)


def truths_from_arrow(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return truth values, of which none is null, as numpy has them."""
    return numbers_from_arrow(pc.cast(column, pa.int8())) > 0


NAN, ZERO, EXACT_INTEGERS, LAST = (
    numbers_to_arrow(np.array([value]))[0] for value in (np.nan, 0.0, 2.0**53, np.int32(-1))
)
NO_TEXT, NO_NUMBER = (pa.nulls(1, kind)[0] for kind in (pa.string(), pa.float64()))
MISSING_MARKS = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "?", "#N/A")
#: Words for false and true, in lower case.
TRUTH_PAIRS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"), ("0", "1"))
TRUTH = {word: bool(truth) for pair in TRUTH_PAIRS for truth, word in enumerate(pair)}
WHOLE_NUMBER = re.compile(r"^(-?[0-9]+)[.,]0+$")
SHOWN_CHARACTERS = 40
SAMPLE_CELLS = 100
SIGN = "[+\u2212-]?"  # U+2212 is the minus of typesetters
INFINITY = rf"{SIGN}(?i:inf|infinity)"
UNIT = "[$€£¥%]"
#: Marks between thousands that are decimal marks nowhere: blanks of three widths, apostrophes.
FREE_GROUPING = " \u00a0\u202f'\u2019"
DASH = r"^[-\x{2013}\x{2014}]$"


def _plain(mark: str) -> str:
    return rf"([0-9]+{mark}?[0-9]*|{mark}[0-9]+)([eE][+-]?[0-9]+)?"


PLAIN_NUMBER = re.compile("[+-]?" + _plain(r"\."))


class NumberForm(NamedTuple):
    """A way to write numbers: decimal mark, mark between thousands if there is one, sign of unit.

    Blanks and apostrophes may stand between thousands in every form.
    """

    decimal: str
    grouping: str | None
    unit: str | None = None

    @property
    def pattern(self) -> str:
        """The regular expression of a number or of infinity."""
        mark = re.escape(self.decimal)
        groups = [
            rf"[1-9][0-9]{{0,2}}({re.escape(each)}[0-9]{{3}})+({mark}[0-9]*)?"
            for each in (self.grouping or "") + FREE_GROUPING
        ]
        digits = rf"(?:{'|'.join([_plain(mark), *groups])})"
        amount, kinds = digits, INFINITY
        if self.unit:
            unit = re.escape(self.unit)
            amount = rf"(?:{unit} ?{digits}|{digits} ?{unit})"
            kinds += rf"|{unit} ?{SIGN}{digits}"
        return rf"^(?:{SIGN}{amount}|\({amount}\)|{kinds})$"

    @property
    def example(self) -> str:
        """A number in this form."""
        return f"1{self.grouping or ''}234{self.decimal}5{self.unit or ''}"


POINT = NumberForm(".", None)
GROUPED_POINT = NumberForm(".", ",")
COMMA = NumberForm(",", ".")


def possible_forms(delimiter: str | None) -> tuple[NumberForm, NumberForm]:
    """Return the forms that numbers can have between these delimiters, that with a point first."""
    return GROUPED_POINT if delimiter == "," else POINT, COMMA


def is_plain_number(text: str) -> bool:
    """Return whether one text is a number in point form."""
    return PLAIN_NUMBER.fullmatch(text) is not None


def unit_of(cells: pa.ChunkedArray) -> str | None:
    """Return the sign of money or percent in the first cell that has a digit."""
    index = pc.index(pc.match_substring_regex(cells, "[0-9]"), True).as_py()
    found = re.search(UNIT, cells[index].as_py()) if index >= 0 else None
    return found[0] if found else None


def are_numbers(cells: pa.ChunkedArray, form: NumberForm) -> pa.ChunkedArray:
    """Return which cells are numbers in this form, infinity included; null where missing."""
    return pc.match_substring_regex(_without_dashes(cells), form.pattern)


def _without_dashes(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    is_dash = pc.match_substring_regex(cells, DASH)
    return pc.if_else(is_dash, NO_TEXT, cells) if pc.any(is_dash).as_py() else cells


def to_floats(cells: pa.ChunkedArray, form: NumberForm) -> pa.ChunkedArray | None:
    """Return the values of text, or None if a cell is not a number."""
    values = quick_floats(cells, form)
    if values is not None:
        return values
    for part in (cells.slice(0, SAMPLE_CELLS), cells):  # most columns of text show it early
        if not pc.all(are_numbers(part, form), min_count=0).as_py():
            return None
    cells = pc.replace_substring_regex(_without_dashes(cells), r"^\((.*)\)$", r"-\1")
    skipped = re.escape((form.grouping or "") + (form.unit or "") + FREE_GROUPING)
    cells = pc.replace_substring_regex(cells, f"[{skipped}]", "")
    return _cast(
        pc.replace_substring(pc.replace_substring(cells, "\u2212", "-"), form.decimal, ".")
    )


def quick_floats(cells: pa.ChunkedArray, form: NumberForm) -> pa.ChunkedArray | None:
    """Return the values where arrow's grammar is ours: no units, thousands, nan or infinity."""
    if form.unit or (form.decimal == "," and has_mark(cells, ".")):
        return None
    if form.decimal == ",":
        cells = pc.replace_substring(cells, ",", ".")
    values = _cast(cells)
    is_finite = values is not None and pc.all(pc.is_finite(values), min_count=0).as_py()
    return values if is_finite else None


def _cast(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    try:
        return pc.cast(cells, pa.float64())
    except pa.ArrowInvalid:
        return None


def has_mark(cells: pa.ChunkedArray, mark: str) -> bool:
    """Return whether a cell of text contains the mark."""
    return pc.any(pc.match_substring(cells, mark)).as_py() or False


def clean(column: pa.ChunkedArray, missing: Sequence[str] = MISSING_MARKS) -> pa.ChunkedArray:
    """Return text without surrounding blanks and numbers, null where they are one of `missing`."""
    if types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if is_text(column.type):
        column = text = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
    elif is_number(column.type) and any(map(is_plain_number, missing)):
        text = as_text(column)
    else:
        return column
    is_missing = pc.is_in(text, value_set=text_to_arrow(missing))
    nothing = pa.nulls(1, column.type)[0]
    return pc.if_else(is_missing, nothing, column) if pc.any(is_missing).as_py() else column


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
    return pc.if_else(is_nan, NO_NUMBER, values) if pc.any(is_nan).as_py() else values


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return cells of a plain type as text, null where they are missing."""
    if types.is_boolean(column.type):
        return pc.if_else(column, "True", "False")
    text = pc.cast(column, pa.string())
    if types.is_floating(column.type):
        values = as_floats(column)
        is_small = pc.less(pc.abs(values), EXACT_INTEGERS)
        is_whole = pc.and_(pc.equal(pc.floor(values), values), is_small)
        integers = pc.cast(pc.if_else(is_whole, values, ZERO), pa.int64())
        text = pc.if_else(is_whole, pc.cast(integers, pa.string()), text)
        return pc.if_else(pc.is_valid(values), text, NO_TEXT)
    if types.is_decimal(column.type):
        text = pc.replace_substring_regex(text, r"^([^.]*)\.0*$", r"\1")
        return pc.replace_substring_regex(text, r"^([^.]*\.[0-9]*[1-9])0*$", r"\1")
    return text


def to_objects(
    cells: pa.ChunkedArray, missing: float | None = None, spelling: Callable[[str], str] = str
) -> np.ndarray:
    """Return text as an array of objects: a str, spelt by `spelling`, or `missing`."""
    coded = cells.combine_chunks().dictionary_encode()
    levels = np.array([*map(spelling, coded.dictionary.to_pylist()), missing], dtype=object)
    return levels[numbers_from_arrow(pc.fill_null(coded.indices, LAST))]


def as_whole(word: str) -> str:
    """Return 1 for 1.0, which programs make of whole numbers in a column with a missing one."""
    return WHOLE_NUMBER.sub(r"\1", word)


def truth_of(word: str) -> bool | None:
    """Return what a word for true or false says, None for other words."""
    return TRUTH.get(as_whole(word).lower())


def spelling_of(known: Collection[str]) -> Callable[[str], str]:
    """Return what makes known words of those that say the same, where there is one only.

    Words for true and false are the same if the known ones are one pair of them.
    """
    are_truths = len(known) == 2 and {as_whole(word).lower() for word in known} in map(
        set, TRUTH_PAIRS
    )

    def meaning(word: str) -> str | bool:
        truth = truth_of(word) if are_truths else None
        return as_whole(word) if truth is None else truth

    counts = Counter(map(meaning, known))
    spelt = {meaning(word): word for word in known if counts[meaning(word)] == 1}
    words = {*known}
    return lambda word: word if word in words else spelt.get(meaning(word), word)


def quoted(cell: str) -> str:
    """Return a cell's text for a message: in quotes, its end left out if it is long."""
    return repr(cell if len(cell) <= SHOWN_CHARACTERS else cell[:SHOWN_CHARACTERS] + "…")
