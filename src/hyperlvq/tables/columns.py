"""What a column of a table means, and its values by that meaning."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from math import nan

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hyperlvq.checks import InputError
from hyperlvq.tables import cells as contents
from hyperlvq.tables.cells import NumberForm
from hyperlvq.tables.dates import CLOCK, ISO, is_date_type, to_dates
from hyperlvq.tables.dialect import tidy
from hyperlvq.tables.read import Table, TableForm

KEPT_LEVELS = 100
MOST_LISTED = 8
MARK_NAMES = {".": "point", ",": "comma"}
ANY_FORM = contents.GROUPED_POINT, contents.COMMA


class Kind(StrEnum):
    """What a model makes of a column."""

    NUMBER = "number"
    TEXT = "text"
    DATE = "date"
    DROPPED = "dropped"


@dataclass(frozen=True)
class Column:
    """What a column of a table means."""

    name: str
    kind: Kind
    n_missing: int = 0  # cells without a value
    minimum: float | None = None  # of numbers, and of dates in days since 1970
    maximum: float | None = None
    levels: tuple[str, ...] | None = None  # of text, the most frequent first, at most 100
    n_levels: int | None = None  # how many levels there are
    reason: str | None = None  # why it is left out
    note: str | None = None  # what a user may want to know about it
    decimal: str | None = None  # the marks of numbers in text, None where training had none
    grouping: str | None = None
    unit: str | None = None  # the sign that all of the numbers have
    date_form: str | None = None  # how dates are written, None where they were stored as dates

    @property
    def is_used(self) -> bool:
        """Whether a model uses the column."""
        return self.kind is not Kind.DROPPED

    @property
    def form(self) -> NumberForm | None:
        """How training had its numbers written, None where they had no marks."""
        return NumberForm(self.decimal, self.grouping, self.unit) if self.decimal else None

    def shown(self, value: float) -> str:
        """Return a number, or a date in days since 1970, as people write it; nan if missing."""
        if self.kind is not Kind.DATE or value != value:
            return f"{value:g}"
        day, clock = str(np.datetime64(round(value * (24 * 3600)), "s")).split("T")
        if self.date_form == CLOCK and 0 <= value < 1:  # later dates may be stored with a day
            return clock
        return day if clock == "00:00:00" else f"{day} {clock}"


def check_present(names: Sequence[str], form: TableForm) -> None:
    """Refuse names of columns that the table does not have, and suggest what may be meant."""
    known = set(form.columns)
    by_lower = {name.lower(): name for name in form.columns}
    unknown = [name for name in dict.fromkeys(names) if name not in known]
    if not unknown:
        return
    near = {name: get_close_matches(name.lower(), by_lower, n=1) for name in unknown}
    suggestions = [
        f"{name!r} (did you mean {by_lower[found[0]]!r}?)" if found else repr(name)
        for name, found in near.items()
    ]
    hint = "" if any(near.values()) else f", only {listed(map(repr, form.columns))}"
    word = "column" if len(near) == 1 else "columns"
    raise InputError(f"{form.name} has no {word} {listed(suggestions)}{hint}")


def listed(items: Iterable[str]) -> str:
    """Return the first items, with commas, and how many more there are."""
    items = list(items)
    more = f" and {len(items) - MOST_LISTED} more" if len(items) > MOST_LISTED else ""
    return ", ".join(items[:MOST_LISTED]) + more


def number_form(form: TableForm) -> NumberForm:
    """Return how the numbers of a table are written; with a point where no mark has been seen."""
    point, comma = contents.possible_forms(form.delimiter)
    return comma if form.decimal == comma.decimal else point


def settle_decimal(table: Table, names: Iterable[str]) -> None:
    """Set the decimal mark of a table, where columns of text among these show it.

    A column shows it if all of its cells are numbers. What is a number in both forms, such as
    `1.234`, follows the other columns; on its own it is one with a decimal point.
    """
    form = table.form
    text = {name: table.cells(name) for name in names if contents.is_text(table.cells(name).type)}
    point, comma = contents.possible_forms(form.delimiter)
    by_point = [name for name, cells in text.items() if _have_mark(cells, point)]
    by_comma = [name for name, cells in text.items() if _have_mark(cells, comma)]
    only_comma = [name for name in by_comma if _to_floats(text[name], point) is None]
    only_point = [name for name in by_point if _to_floats(text[name], comma) is None]
    if only_comma and only_point:
        raise InputError(
            f"{form.name} has decimal commas in column {only_comma[0]!r} but decimal points in "
            f"column {only_point[0]!r}: use one decimal mark, --drop a column, or read it as text "
            "with --category"
        )
    form.decimal = "," if only_comma else "." if by_point else None


def _have_mark(cells: pa.ChunkedArray, form: NumberForm) -> bool:
    """Return whether all cells are numbers and some have the decimal mark."""
    return contents.has_mark(cells, form.decimal) and _to_floats(cells, form) is not None


def _to_floats(cells: pa.ChunkedArray, form: NumberForm) -> pa.ChunkedArray | None:
    """Return the values of text in this form, with any unit that all of its cells have."""
    return contents.to_floats(cells, form._replace(unit=contents.unit_of(cells)))


def learnt_marks(table: Table, columns: Sequence[Column]) -> list[Column]:
    """Return columns with the marks of their numbers, as far as the table shows them.

    They are those of the whole table: a column of whole numbers may have a fraction later.
    """
    decimal, grouping, _ = number_form(table.form)
    cells = {
        column.name: table.cells(column.name)
        for column in columns
        if column.kind is Kind.NUMBER and contents.is_text(table.cells(column.name).type)
    }
    if not any(contents.has_mark(each, grouping or decimal) for each in cells.values()):
        grouping = None
    seen = decimal if table.form.decimal or grouping else None
    return [
        replace(column, decimal=seen, grouping=grouping, unit=contents.unit_of(cells[column.name]))
        if column.name in cells
        else column
        for column in columns
    ]


def to_arrays(table: Table, columns: Sequence[Column]) -> dict[str, np.ndarray]:
    """Return the values of the columns that are used, in their order; others are ignored.

    Numbers are float64 and text is objects, with NaN for missing ones, as `pandas.read_csv` has
    them; dates are datetime64. Numbers in text have the marks of training; where it had none, the
    table's form is set when a number shows one.
    """
    used = [column for column in columns if column.is_used]
    check_present([column.name for column in used], table.form)
    if table.form.decimal is None:
        free = [c.name for c in used if c.kind is Kind.NUMBER and c.form is None]
        settle_decimal(table, free)
    values_of = {Kind.NUMBER: _numbers, Kind.DATE: _dates, Kind.TEXT: _words}
    return {column.name: values_of[column.kind](table, column) for column in used}


def target_labels(table: Table, target: str) -> np.ndarray:
    """Return the target's values as text, None where there are none; NA is a value."""
    name = tidy(target)
    check_present([name], table.form)
    return contents.to_objects(_text(table, name, table.labels))


def _dates(table: Table, column: Column) -> np.ndarray:
    """Return a column as datetime64[us], NaT where it is missing; all else must be dates."""
    cells = table.cells(column.name)
    if not (contents.is_text(cells.type) or is_date_type(cells.type)):
        raise _other_type(table, column.name, "dates")
    dates = to_dates(cells, column.date_form)
    is_wrong = np.isnat(dates) & contents.truths_from_arrow(pc.is_valid(cells))
    if is_wrong.any():
        index, example = int(is_wrong.argmax()), column.date_form or ISO
        what = (
            f"{table.shown(column.name, index)} is not a date as in training, for example {example}"
        )
        raise table.error(column.name, index, what)
    return dates


def _numbers(table: Table, column: Column) -> np.ndarray:
    """Return a column as float64, NaN where it is missing; all else must be finite numbers."""
    form = column.form or number_form(table.form)._replace(unit=column.unit)
    values = to_numbers(table, column.name, form)
    if values is None and (column.minimum, column.maximum) == (0, 1):
        values = _truths_as_numbers(table.cells(column.name))
    if values is None:
        raise not_numbers(table, column, form)
    check_finite_cells(table, column.name, values)
    return contents.numbers_from_arrow(pc.fill_null(values, contents.NAN))


def _truths_as_numbers(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return 0 and 1 for words for false and true, None if there are others."""
    if not contents.is_text(cells.type) and not pa.types.is_boolean(cells.type):
        return None
    words = contents.to_objects(contents.as_text(cells))
    truths = [nan if word is None else contents.truth_of(word) for word in words]
    if None in truths:
        return None
    values = contents.numbers_to_arrow(np.array(truths, dtype=np.float64))
    return contents.as_floats(pa.chunked_array([values]))


def to_numbers(table: Table, name: str, form: NumberForm) -> pa.ChunkedArray | None:
    """Return a column as float64, null where it is missing; None if a cell is not a number."""
    column = table.data[name]
    if pa.types.is_string(column.type) and not table.form.missing:
        # most columns hold numbers alone, and to clean them takes longer than to read them
        values = contents.quick_floats(column, form)
        if values is not None:
            return values
    column = table.cells(name)
    if contents.is_text(column.type):
        return contents.to_floats(column, form)
    is_number = contents.is_number(column.type) or pa.types.is_null(column.type)
    return contents.as_floats(column) if is_number else None


def _words(table: Table, column: Column) -> np.ndarray:
    """Return a column as text, spelt as the levels of training where all of those are known."""
    levels = column.levels or ()
    spelling = contents.spelling_of(levels if len(levels) == column.n_levels else ())
    return contents.to_objects(_text(table, column.name, table.cells), nan, spelling)


def _text(table: Table, name: str, read: Callable[[str], pa.ChunkedArray]) -> pa.ChunkedArray:
    cells = read(name)
    if not contents.is_plain(cells.type):
        raise _other_type(table, name, "text")
    return contents.as_text(cells)


def check_finite_cells(table: Table, name: str, values: pa.ChunkedArray) -> None:
    """Refuse values that are infinite, or were too large for float64."""
    is_finite = pc.is_finite(values)
    if not pc.all(is_finite, min_count=0).as_py():  # `pc.index` imports pandas
        index = pc.index(is_finite, False).as_py()
        raise table.error(name, index, f"{table.shown(name, index)} is not a finite number")


def not_numbers(table: Table, column: Column, form: NumberForm) -> InputError:
    """Return what is wrong: with the type, or with the first cell of text that is not a number."""
    name, cells = column.name, table.cells(column.name)
    if not contents.is_text(cells.type):
        return _other_type(table, name, "numbers")
    index = pc.index(contents.are_numbers(cells, form), False).as_py()
    cell = table.shown(name, index)
    if table.form.encoding is None:
        row = table.first_row + index
        return _other_type(table, name, "numbers", f": {cell} in row {row} is not a number")
    as_written = ""
    if any(_to_floats(cells.slice(index, 1), each) is not None for each in ANY_FORM):
        if column.form or column.unit:
            as_written = f" as in training, for example {form.example}"
        elif table.form.decimal:
            as_written = f" with a decimal {MARK_NAMES[form.decimal]}, as in the other cells"
    return table.error(name, index, f"{cell} is not a number{as_written}")


def _other_type(table: Table, name: str, expected: str, detail: str = "") -> InputError:
    kind = table.cells(name).type
    place = f"{table.form.name}, column {name!r}"
    return InputError(f"{place}: expected {expected}, got type {kind}{detail}")
