"""What counts as a number in text, and its value.

Point form: `1`, `-1.5`, `.5`, `1e-3`, `+2`; where the delimiter is a comma also `1,234.5`.
Comma form, where the delimiter is no comma: `3,14`, `1.234,56`. A table has one form. Words for
infinity count as numbers, so that they are refused, not learnt as text. Digits are 0 to 9.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hyperlvq.checks import InputError

SIGN = "[+-]?"
EXPONENT = "([eE][+-]?[0-9]+)?"
INFINITY = rf"{SIGN}(?i:inf|infinity)"


def _plain(mark: str) -> str:
    return rf"{SIGN}([0-9]+{mark}?[0-9]*|{mark}[0-9]+){EXPONENT}"


def _grouped(mark: str, grouping: str) -> str:
    return rf"{SIGN}[1-9][0-9]{{0,2}}({grouping}[0-9]{{3}})+({mark}[0-9]*)?"


@dataclass(frozen=True)
class NumberForm:
    """A way to write numbers: its decimal mark, and the mark between thousands if there is one."""

    decimal: str
    grouping: str | None

    @property
    def pattern(self) -> str:
        """The regular expression of a number or of infinity."""
        mark = re.escape(self.decimal)
        kinds = [_plain(mark), INFINITY]
        if self.grouping:
            kinds.append(_grouped(mark, re.escape(self.grouping)))
        return rf"^(?:{'|'.join(kinds)})$"


POINT = NumberForm(".", None)
GROUPED_POINT = NumberForm(".", ",")
COMMA = NumberForm(",", ".")


def possible_forms(delimiter: str | None) -> tuple[NumberForm, ...]:
    """Return the forms that numbers can have between these delimiters."""
    return (GROUPED_POINT,) if delimiter == "," else (POINT, COMMA)


def number_form(delimiter: str | None, decimal: str | None) -> NumberForm:
    """Return the form for a decimal mark; a point where none has been seen."""
    forms = {form.decimal: form for form in possible_forms(delimiter)}
    return forms[decimal or "."]


def is_plain_number(text: str) -> bool:
    """Return whether one text is a number in point form.

    Examples
    --------
    >>> from hyperlvq.tables.numbers import is_plain_number
    >>> [is_plain_number(text) for text in ("-1.5e3", ".5", "1_000", "abc")]
    [True, True, False, False]
    """
    return re.fullmatch(_plain(r"\."), text) is not None


def are_numbers(cells: pa.ChunkedArray, form: NumberForm) -> pa.ChunkedArray:
    """Return which cells are numbers in this form, infinity included; null where missing."""
    return pc.match_substring_regex(cells, form.pattern)


def to_floats(cells: pa.ChunkedArray, form: NumberForm) -> pa.ChunkedArray | None:
    """Return the cells' values, or None if one of them is not a number."""
    values = _quick_floats(cells, form)
    if values is not None:
        return values
    if not pc.all(are_numbers(cells, form), min_count=0).as_py():
        return None
    return _cast(_plain_text(cells, form))


def _quick_floats(cells: pa.ChunkedArray, form: NumberForm) -> pa.ChunkedArray | None:
    """Return the values where arrow's grammar is ours: no thousands, nan or infinity."""
    if form.decimal == ",":
        if _has(cells, "."):
            return None
        cells = pc.replace_substring(cells, ",", ".")
    values = _cast(cells)
    is_finite = values is not None and pc.all(pc.is_finite(values), min_count=0).as_py()
    return values if is_finite else None


def find_decimal(
    columns: Mapping[str, pa.ChunkedArray], delimiter: str | None, table: str
) -> str | None:
    """Return the decimal mark of columns of text; None where no number has one.

    A column speaks if all of its cells are numbers. `1.234` is a number in both forms and follows
    the other columns; on its own it has a decimal point.
    """
    by_comma = None
    if COMMA in possible_forms(delimiter):
        by_comma = next((name for name, cells in columns.items() if _have_mark(cells, COMMA)), None)
    if by_comma is None:
        point = number_form(delimiter, ".")
        return "." if any(_have_mark(cells, point) for cells in columns.values()) else None
    for name, cells in columns.items():
        if _have_mark(cells, POINT) and to_floats(cells, COMMA) is None:
            raise InputError(
                f"{table} has decimal commas in column {by_comma!r} but decimal points in "
                f"column {name!r}: write them alike, or leave one out"
            )
    return ","


def _have_mark(cells: pa.ChunkedArray, form: NumberForm) -> bool:
    """Return whether all cells are numbers and some have the decimal mark."""
    return _has(cells, form.decimal) and to_floats(cells, form) is not None


def _has(cells: pa.ChunkedArray, mark: str) -> bool:
    return pc.any(pc.match_substring(cells, mark)).as_py() or False


def _plain_text(cells: pa.ChunkedArray, form: NumberForm) -> pa.ChunkedArray:
    if form.grouping:
        cells = pc.replace_substring(cells, form.grouping, "")
    return cells if form.decimal == "." else pc.replace_substring(cells, form.decimal, ".")


def _cast(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    try:
        return pc.cast(cells, pa.float64())
    except pa.ArrowInvalid:
        return None
