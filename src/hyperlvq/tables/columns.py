"""What a table's columns hold, and their values as a data frame.

A column is numbers if all of its cells are; else it is text, whose distinct values are its levels,
or it is left out for a reason that the user is told. Missing cells are no obstacle.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hyperlvq.checks import InputError
from hyperlvq.tables import cells as contents
from hyperlvq.tables import rules
from hyperlvq.tables.names import check_present, listed, says_identifier, tidy
from hyperlvq.tables.numbers import (
    are_numbers,
    find_decimal,
    number_form,
    possible_forms,
    to_floats,
)
from hyperlvq.tables.read import Table
from hyperlvq.tables.values import AnyTable, check_finite, numbers_of, settle_decimal, text_of

if TYPE_CHECKING:
    import pandas as pd

KEPT_LEVELS = 100


class Kind(StrEnum):
    """What a model makes of a column."""

    NUMBER = "number"
    TEXT = "text"
    DROPPED = "dropped"


_KINDS = list(Kind)


@dataclass(frozen=True)
class Column:
    """What a column of a table holds.

    Attributes
    ----------
    name : str
    kind : Kind
    n_missing : int
        Cells without a value.
    minimum, maximum : float or None
        The range of numbers.
    levels : tuple of str or None
        The distinct values of text, the most frequent first, at most 100.
    n_levels : int or None
        How many distinct values the text has.
    reason : str or None
        Why a column is left out.
    note : str or None
        What a user may want to know about it.
    """

    name: str
    kind: Kind
    n_missing: int = 0
    minimum: float | None = None
    maximum: float | None = None
    levels: tuple[str, ...] | None = None
    n_levels: int | None = None
    reason: str | None = None
    note: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain values, which JSON can hold."""
        return {
            **asdict(self),
            "kind": str(self.kind),
            "levels": None if self.levels is None else list(self.levels),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Column":
        """Return the column that `to_dict` made plain."""
        levels = values["levels"]
        return cls(
            **{
                **values,
                "kind": Kind(values["kind"]),
                "levels": None if levels is None else tuple(levels),
            }
        )


def pack_columns(columns: Sequence[Column]) -> dict[str, Any]:
    """Return columns as arrays, which take little room in a file, and their rare words."""
    figures = [
        [_KINDS.index(c.kind), c.n_missing, c.minimum, c.maximum, c.n_levels, len(c.levels or ())]
        for c in columns
    ]
    return {
        "columns": np.array([column.name for column in columns], dtype=object),
        "figures": np.array(figures, dtype=np.float64),  # None becomes NaN
        "levels": np.array([level for c in columns for level in c.levels or ()], dtype=object),
        "reasons": {str(i): c.reason for i, c in enumerate(columns) if c.reason is not None},
        "remarks": {str(i): c.note for i, c in enumerate(columns) if c.note is not None},
    }


def unpack_columns(packed: Mapping[str, Any]) -> list[Column]:
    """Return the columns that `pack_columns` packed; raise ValueError for others."""
    columns, levels = [], iter(packed["levels"].tolist())
    for position, (name, row) in enumerate(
        zip(packed["columns"].tolist(), packed["figures"].tolist(), strict=True)
    ):
        index, n_missing, minimum, maximum, n_levels, n_kept = row
        kind = _KINDS[_whole(index, len(_KINDS) - 1)]
        kept = tuple(islice(levels, _whole(n_kept, KEPT_LEVELS)))
        is_number = kind is Kind.NUMBER
        if is_number and not -inf < minimum <= maximum < inf:
            raise ValueError(f"column {name!r} has no range")
        columns.append(
            Column(
                name,
                kind,
                _whole(n_missing),
                minimum if is_number else None,
                maximum if is_number else None,
                kept if kind is Kind.TEXT else None,
                _whole(n_levels) if kind is Kind.TEXT else None,
                packed["reasons"].get(str(position)),
                packed["remarks"].get(str(position)),
            )
        )
    if next(levels, None) is not None:
        raise ValueError("there are levels of no column")
    return columns


def _whole(value: float, most: float = 2.0**53) -> int:
    if not 0 <= value <= most or value != int(value):
        raise ValueError(f"{value} is no count")
    return int(value)


def describe_columns(
    table: Table, target: str, keep: Collection[str] = (), drop: Collection[str] = ()
) -> list[Column]:
    """Return what each column but the target holds, in the table's order.

    The decimal mark of the numbers is found over the whole table, and set in `table`.

    Parameters
    ----------
    table : Table
    target : str
        The column to be learnt.
    keep, drop : collections of str
        Columns to use, and to leave out, whatever they look like. A kept column of dates is text;
        one without any value, or with nested values, cannot be kept.
    """
    target, keep, drop = tidy(target), set(map(tidy, keep)), set(map(tidy, drop))
    _check_asked(table, target, keep, drop)
    names = [name for name in table.columns if name != target]
    text = [name for name in names if name not in drop and _is_text(table, name)]
    table.decimal = find_decimal(
        {name: table.data[name] for name in text}, table.delimiter, table.name
    )
    columns = [
        Column(name, Kind.DROPPED, table.data[name].null_count, reason=rules.AS_ASKED)
        if name in drop
        else _describe(table, name, name in keep)
        for name in names
    ]
    return _something_left(table, columns)


def to_frame(
    data: pa.Table, columns: Sequence[Column], table: AnyTable, first_row: int = 1
) -> "pd.DataFrame":
    """Return what `to_arrays` returns as a data frame."""
    import pandas as pd  # which takes a quarter of a second, and predictions do without it

    arrays = to_arrays(data, columns, table, first_row)
    series = {name: pd.Series(values, dtype=values.dtype) for name, values in arrays.items()}
    return pd.DataFrame(series, index=range(len(data)))


def to_arrays(
    data: pa.Table, columns: Sequence[Column], table: AnyTable, first_row: int = 1
) -> dict[str, np.ndarray]:
    """Return the values of the columns that are not dropped, in their order.

    Numbers are float64 and text is objects, with NaN for missing ones, as `pandas.read_csv` has
    them. Text of a cell that is stored as a number is as `hyperlvq.tables.cells.as_text` says: "1"
    for both 1 and 1.0.

    Parameters
    ----------
    data : pyarrow.Table
        Rows of the table, with these columns in any order; others are ignored.
    columns : sequence of Column
        What is expected.
    table : Table or TableReader
        Where the rows come from; the decimal mark is set in it when a number shows it.
    first_row : int
        The number of the first row, for messages.
    """
    used = [column for column in columns if column.kind is not Kind.DROPPED]
    check_present([column.name for column in used], table.columns, table.name)
    numbers = [column.name for column in used if column.kind is Kind.NUMBER]
    settle_decimal(data, numbers, table)
    return {
        column.name: numbers_of(data, column.name, table, first_row)
        if column.kind is Kind.NUMBER
        else text_of(data, column.name, table, missing=float("nan"))
        for column in used
    }


def labels(data: pa.Table, target: str, table: AnyTable) -> np.ndarray:
    """Return the target's values as text, None where they are missing."""
    check_present([tidy(target)], table.columns, table.name)
    return text_of(data, tidy(target), table, missing=None)


def _check_asked(table: Table, target: str, keep: set[str], drop: set[str]) -> None:
    check_present([target, *sorted(keep), *sorted(drop)], table.columns, table.name)
    if target in keep | drop:
        raise InputError(f"column {target!r} is the target, and cannot be kept or left out")
    if both := sorted(keep & drop):
        raise InputError(f"column {both[0]!r} cannot be both kept and left out")


def _is_text(table: Table, name: str) -> bool:
    return contents.is_text(table.data[name].type)


def _something_left(table: Table, columns: list[Column]) -> list[Column]:
    """Return the columns; numbers that count up are used where nothing else is left."""
    if all(column.kind is Kind.DROPPED for column in columns):
        columns = [_describe(table, c.name, True) if _just_counts(table, c) else c for c in columns]
    if any(column.kind is not Kind.DROPPED for column in columns):
        return columns
    reasons = listed([f"{column.name} ({column.reason})" for column in columns])
    raise InputError(
        f"{table.name} has no column to learn from" + (f": {reasons}" if reasons else "")
    )


def _just_counts(table: Table, column: Column) -> bool:
    is_number = column.reason == rules.IDENTIFIER and _floats(table, column.name) is not None
    return is_number and not says_identifier(column.name)


def _describe(table: Table, name: str, is_kept: bool) -> Column:
    column = table.data[name]
    if not contents.is_plain(column.type):
        return Column(name, Kind.DROPPED, column.null_count, reason=rules.NOT_PLAIN)
    values = _floats(table, name)
    n_missing = (column if values is None else values).null_count
    if n_missing == len(column):
        return Column(name, Kind.DROPPED, n_missing, reason=rules.EMPTY)
    is_code = values is not None and _is_text(table, name) and contents.are_codes(column)
    if values is None or is_code:
        return _describe_text(table, name, is_kept, is_code)
    return _describe_numbers(table, name, values, is_kept)


def _floats(table: Table, name: str) -> pa.ChunkedArray | None:
    """Return a column's numbers, null where missing; None if one of its cells is not a number."""
    column = table.data[name]
    if contents.is_number(column.type):
        return contents.as_floats(column)
    if contents.is_text(column.type):
        return to_floats(column, number_form(table.delimiter, table.decimal))
    return None


def _describe_numbers(table: Table, name: str, values: pa.ChunkedArray, is_kept: bool) -> Column:
    check_finite(table.data, name, values, table, first_row=1)
    extremes = pc.min_max(values).as_py()
    minimum, maximum = extremes["min"], extremes["max"]
    if maximum - minimum == float("inf"):
        raise InputError(
            f"{table.name}, column {name!r}: from {minimum} to {maximum} is too wide a range"
        )
    is_one_value = minimum == maximum
    reason = rules.reason_against_numbers(name, table.data[name], values, is_one_value)
    if reason and not is_kept:
        return Column(name, Kind.DROPPED, values.null_count, reason=reason)
    return Column(name, Kind.NUMBER, values.null_count, minimum, maximum)


def _describe_text(table: Table, name: str, is_kept: bool, is_code: bool) -> Column:
    column = table.data[name]
    text = contents.as_text(column)
    note = None
    if is_code:
        note = f"text because of leading zeros, as in {text.drop_null()[0].as_py()!r}"
    elif _is_text(table, name):
        note = _note_on_numbers(table, name)
    levels = contents.count_levels(text)
    reason = rules.reason_against_text(name, column, text, levels["counts"])
    if reason and not is_kept:
        says_too_much = reason in (rules.IDENTIFIER, rules.MANY_VALUES)
        reason = rules.MIXED if says_too_much and note and not is_code else reason
        return Column(name, Kind.DROPPED, text.null_count, reason=reason, note=note)
    shown = tuple(levels["values"].slice(0, KEPT_LEVELS).to_pylist())
    return Column(name, Kind.TEXT, text.null_count, None, None, shown, len(levels), note=note)


def _note_on_numbers(table: Table, name: str) -> str | None:
    """Return what keeps a column of mostly numbers from being one."""
    cells = table.data[name]
    _check_marks(table, name)
    is_number = are_numbers(cells, number_form(table.delimiter, table.decimal))
    share = pc.mean(pc.cast(is_number, pa.int8())).as_py()
    if share < 0.5:
        return None
    index = pc.index(is_number, False).as_py()
    cell = contents.shown(cells[index].as_py())
    return f"text because of {cell} in row {index + 1}; {int(100 * share)} % are numbers"


def _check_marks(table: Table, name: str) -> None:
    """Refuse a column of numbers of which some have a decimal point and some a comma."""
    cells = table.data[name]
    by_form = [are_numbers(cells, form) for form in possible_forms(table.delimiter)]
    if len(by_form) == 2 and pc.all(pc.or_(*by_form)).as_py():
        point, comma = (pc.index(is_number, False).as_py() for is_number in reversed(by_form))
        raise InputError(
            f"{table.name}, column {name!r} has both decimal commas and decimal points: "
            f"{contents.shown(cells[comma].as_py())} in row {comma + 1}, "
            f"{contents.shown(cells[point].as_py())} in row {point + 1}"
        )
