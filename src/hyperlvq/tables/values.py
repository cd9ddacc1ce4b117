"""The values of one column of a table's rows, or a sentence that says which one is wrong."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hyperlvq.checks import InputError
from hyperlvq.tables import cells as contents
from hyperlvq.tables.numbers import (
    are_numbers,
    find_decimal,
    number_form,
    possible_forms,
    to_floats,
)

MARKS = {".": "point", ",": "comma"}


class AnyTable(Protocol):
    """What `Table` and `TableReader` have in common."""

    name: str
    columns: tuple[str, ...]
    delimiter: str | None
    decimal: str | None

    @property
    def encoding(self) -> str | None:
        """The encoding of text; None for Parquet."""


def settle_decimal(data: pa.Table, numbers: Sequence[str], table: AnyTable) -> None:
    """Set the decimal mark of a table, if it has none yet and one of these columns shows it."""
    if table.decimal is None:
        text = {name: data[name] for name in numbers if contents.is_text(data[name].type)}
        table.decimal = find_decimal(text, table.delimiter, table.name)


def numbers_of(data: pa.Table, name: str, table: AnyTable, first_row: int) -> np.ndarray:
    """Return a column as float64, NaN where it is missing; all else must be finite numbers."""
    column = data[name]
    if contents.is_text(column.type):
        values = _parsed(column, name, table, first_row)
    elif contents.is_number(column.type) or pa.types.is_null(column.type):
        values = contents.as_floats(column)
    else:
        raise _other_type(column, name, table, "numbers were expected")
    check_finite(data, name, values, table, first_row)
    return contents.numbers_from_arrow(pc.fill_null(values, contents.NAN))


def text_of(data: pa.Table, name: str, table: AnyTable, missing: float | None) -> np.ndarray:
    """Return a column as objects: its text, or `missing`."""
    column = data[name]
    if not contents.is_plain(column.type):
        raise _other_type(column, name, table, "text was expected")
    return contents.to_objects(contents.as_text(column), missing)


def check_finite(
    data: pa.Table, name: str, values: pa.ChunkedArray, table: AnyTable, first_row: int
) -> None:
    """Refuse values that are infinite, or were too large for float64."""
    is_finite = pc.is_finite(values)
    if not pc.all(is_finite, min_count=0).as_py():
        index = pc.index(is_finite, False).as_py()
        shown = contents.shown(str(data[name][index].as_py()))
        raise InputError(
            f"{table.name}, row {first_row + index}, column {name!r}: {shown} is not finite"
        )


def _parsed(column: pa.ChunkedArray, name: str, table: AnyTable, first_row: int) -> pa.ChunkedArray:
    form = number_form(table.delimiter, table.decimal)
    values = to_floats(column, form)
    if values is not None:
        return values
    index = pc.index(are_numbers(column, form), False).as_py()
    cell, row = column[index].as_py(), first_row + index
    shown = contents.shown(cell)
    if table.encoding is None:
        expected = f"numbers were expected: {shown} in row {row} is not a number"
        raise _other_type(column, name, table, expected)
    hint = _hint_at_other_mark(cell, table)
    raise InputError(f"{table.name}, row {row}, column {name!r}: {shown} is not a number{hint}")


def _hint_at_other_mark(cell: str, table: AnyTable) -> str:
    others = [form for form in possible_forms(table.delimiter) if form.decimal != table.decimal]
    one_cell = pa.chunked_array([[cell]])
    if table.decimal and any(to_floats(one_cell, form) is not None for form in others):
        return f" with a decimal {MARKS[table.decimal]}, as others are"
    return ""


def _other_type(column: pa.ChunkedArray, name: str, table: AnyTable, expected: str) -> InputError:
    return InputError(f"{table.name}, column {name!r} is of type {column.type}, {expected}")
