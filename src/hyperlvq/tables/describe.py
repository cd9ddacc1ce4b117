"""What the columns of a table mean, found by looking at all of their cells.

A column is numbers if all of its cells are, or dates; else it is text, whose distinct values are
its levels, or it is left out for a reason that the user is told. Missing cells are no obstacle.
"""

import re
from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hyperlvq.checks import InputError
from hyperlvq.tables import cells as contents
from hyperlvq.tables import dates
from hyperlvq.tables.cells import SAMPLE_CELLS, NumberForm, are_numbers
from hyperlvq.tables.columns import (
    KEPT_LEVELS,
    Column,
    Kind,
    check_finite_cells,
    check_present,
    learnt_marks,
    listed,
    not_numbers,
    number_form,
    settle_decimal,
    to_numbers,
)
from hyperlvq.tables.dialect import ROW_NAME, tidy
from hyperlvq.tables.read import Table

#: Reasons to leave a column out.
CONSTANT = "constant"
DAY_OR_MONTH = "dates with ambiguous day and month"
IDENTIFIER = "identifier"
MANY_VALUES = "too many distinct values"

RISING = "increases from row to row, like a row number"

#: Last words of names, as people have them in tables that come with packages of R.
IDENTIFIER_WORDS = {
    *("id", "ids", "idx", "index", "key", "nr", "no", "num", "row", "uuid", "guid", "obs", "case"),
    *("caseid", "caseno", "docno", "idno", "idnum", "patid", "patnr", "pid", "schid", "seqn"),
    *("seqno", "studyid", "subjid", "uid", "userid"),
}
UNNAMED_INDEX = re.compile(r"Unnamed: \d+|__index_level_\d+__|rownames?")
#: Text of so many cells, with such a share of distinct ones, names its rows.
IDENTIFIER_ROWS, IDENTIFIER_SHARE = 20, 0.9
#: Text with more levels, and a larger share of distinct cells, says little about a class.
MANY_LEVELS, MANY_LEVELS_SHARE = 100, 0.5
#: More levels than these are too many, whatever their share: a model has to remember them all.
MOST_LEVELS = 2**16
#: Fewer rows may count up, or be sorted by a quantity.
COUNTED_ROWS, RISING_ROWS = 5, 100
#: A level of text in a smaller share of the rows is a rare one.
RARE_SHARE = 0.005
#: In a smaller table, one row is enough for a level.
SMALL_TABLE = 20
LONG_TEXT = 20  # characters; names and codes are shorter, sentences are longer

CODE_PATTERN = r"^0[0-9]+$"


def describe_columns(
    table: Table,
    target: str,
    keep: Collection[str] = (),
    drop: Collection[str] = (),
    category: Collection[str] = (),
    number: Collection[str] = (),
) -> list[Column]:
    """Return what each column but the target means, in the table's order.

    Columns in `keep` are used and those in `drop` are left out, whatever they look like. A kept
    column of dates that cannot be read is text; one without any value, or with nested values,
    cannot be kept. Those in `category` and `number` are kept as text and as numbers. The decimal
    mark of the numbers is found over the whole table, and set in its form.
    """
    target = tidy(target)
    keep, drop, category, number = ({*map(tidy, each)} for each in (keep, drop, category, number))
    _check_asked(table, target, keep | number, drop, category)
    names = [name for name in table.form.columns if name != target]
    settle_decimal(table, [name for name in names if name not in drop | category])
    columns = []
    for name in names:
        cells = table.cells(name)
        if name in drop:
            columns.append(_left_out(name, cells, "requested with --drop"))
        elif name in category and contents.is_plain(cells.type) and cells.null_count < len(cells):
            columns.append(_describe_text(name, cells, is_kept=True))
        else:
            columns.append(_describe(table, name, name in keep | number, name in number))
    if not any(column.is_used for column in columns):
        # numbers that count up are used where nothing else is left
        columns = [_describe(table, c.name, True) if _just_counts(table, c) else c for c in columns]
    if not any(column.is_used for column in columns):
        reasons = listed([f"{column.name} ({column.reason})" for column in columns])
        raise InputError(
            f"{table.form.name} has no column to learn from" + (f": {reasons}" if reasons else "")
        )
    return learnt_marks(table, columns)


def fewest_rows(n_rows: int) -> int:
    """Return how many rows of a table a level of text must have to count by itself."""
    return 1 if n_rows < SMALL_TABLE else max(2, round(RARE_SHARE * n_rows))


def _check_asked(
    table: Table, target: str, keep: set[str], drop: set[str], category: set[str]
) -> None:
    check_present([target, *sorted(keep), *sorted(drop), *sorted(category)], table.form)
    if target in keep | drop:
        raise InputError(
            f"column {target!r} is the target and cannot be given to --keep, --number or --drop"
        )
    if both := sorted((keep | category) & drop):
        raise InputError(
            f"column {both[0]!r} cannot be given to --drop and also to --keep, --number or "
            "--category"
        )
    if both := sorted(keep & category):
        raise InputError(
            f"column {both[0]!r} cannot be given to --category and also to --keep or --number"
        )


def _just_counts(table: Table, column: Column) -> bool:
    is_counted = column.reason in (IDENTIFIER, RISING) and not says_identifier(column.name)
    return is_counted and to_numbers(table, column.name, _form(table, column.name)) is not None


def _form(table: Table, name: str) -> NumberForm:
    """Return how the numbers of a column are written, if they are numbers."""
    cells = table.cells(name)
    unit = contents.unit_of(cells) if contents.is_text(cells.type) else None
    return number_form(table.form)._replace(unit=unit)


def _left_out(name: str, cells: pa.ChunkedArray, reason: str, note: str | None = None) -> Column:
    return Column(name, Kind.DROPPED, cells.null_count, reason=reason, note=note)


def _describe(table: Table, name: str, is_kept: bool, is_number: bool = False) -> Column:
    column = table.cells(name)
    if not contents.is_plain(column.type):
        return _left_out(name, column, "nested or binary values")
    values = to_numbers(table, name, _form(table, name))
    if values is None and is_number:
        raise not_numbers(table, Column(name, Kind.NUMBER), _form(table, name))
    present = column if values is None else values
    if present.null_count == len(present):
        return _left_out(name, present, "empty")
    is_text = contents.is_text(column.type)
    if values is None:
        described = _describe_dates(name, column, is_kept)
        return described or _describe_text(name, column, is_kept, *_mixture(table, name))
    if is_text and not is_number and _are_codes(column):
        note = f"read as text because of leading zeros, such as {column.drop_null()[0].as_py()!r}"
        return _describe_text(name, column, is_kept, note)
    return _describe_numbers(table, name, values, is_kept)


def _describe_numbers(table: Table, name: str, values: pa.ChunkedArray, is_kept: bool) -> Column:
    check_finite_cells(table, name, values)
    minimum, maximum = pc.min_max(values).as_py().values()
    if maximum - minimum == float("inf"):
        raise InputError(
            f"{table.form.name}, column {name!r}: the range {minimum} to {maximum} is too wide"
        )
    reason = _reason_against_numbers(name, table.cells(name), values, minimum == maximum)
    if reason and not is_kept:
        return _left_out(name, values, reason)
    return Column(name, Kind.NUMBER, values.null_count, minimum, maximum)


def _reason_against_numbers(
    name: str, cells: pa.ChunkedArray, values: pa.ChunkedArray, is_one_value: bool
) -> str | None:
    """Return why numbers are left out: they are all the same, or they number the rows."""
    is_complete = not values.null_count
    if is_one_value and is_complete:
        return CONSTANT
    if name == ROW_NAME:
        return IDENTIFIER
    if not pc.all(pc.equal(pc.floor(values), values)).as_py():
        return None
    steps = np.diff(contents.numbers_from_arrow(values)) if is_complete else np.zeros(1)
    if len(values) >= COUNTED_ROWS and (steps == 1).all():
        return IDENTIFIER
    # by the cells: integers beyond float64 may be distinct where their values are not
    are_distinct = pc.count_distinct(cells).as_py() == len(cells) - cells.null_count
    if says_identifier(name) and are_distinct:
        return IDENTIFIER
    # in a sorted table that gives the class away
    return RISING if len(values) >= RISING_ROWS and (steps > 0).all() else None


def _describe_dates(name: str, column: pa.ChunkedArray, is_kept: bool) -> Column | None:
    """Return a column of dates; None if it is none, or kept although they cannot be read."""
    form = dates.CLOCK if pa.types.is_time(column.type) else None
    if contents.is_text(column.type):
        forms = dates.possible_date_forms(column)
        if not forms or (len(forms) > 1 and is_kept):
            return None
        if len(forms) > 1:
            return _left_out(name, column, DAY_OR_MONTH)
        (form,) = forms
    elif not dates.is_date_type(column.type):
        return None
    moments = dates.to_dates(column, form)
    days = dates.days_of(moments[~np.isnat(moments)])
    minimum, maximum = float(days.min()), float(days.max())
    if minimum == maximum and not column.null_count and not is_kept:
        return _left_out(name, column, CONSTANT)
    return Column(name, Kind.DATE, column.null_count, minimum, maximum, date_form=form)


def _describe_text(
    name: str,
    column: pa.ChunkedArray,
    is_kept: bool,
    note: str | None = None,
    mixed: str | None = None,
) -> Column:
    """Return a column of text; `mixed` is the reason if a mixture has too many values."""
    text = contents.as_text(column)
    counts = pc.value_counts(text.drop_null().combine_chunks())
    levels = pa.table({"values": counts.field("values"), "counts": counts.field("counts")})
    levels = levels.sort_by([("counts", "descending"), ("values", "ascending")])
    reason = _reason_against_text(name, column, text, levels["counts"])
    if reason and not is_kept:
        says_too_much = reason in (IDENTIFIER, MANY_VALUES)
        return _left_out(name, text, mixed if mixed and says_too_much else reason, note)
    needed = fewest_rows(len(text))
    if not text.null_count and levels["counts"][0].as_py() < needed:
        raise InputError(
            f"column {name!r} cannot be kept: each of its {len(levels)} values occurs in fewer "
            f"than {needed} rows"
        )
    kept = tuple(levels["values"].slice(0, KEPT_LEVELS).to_pylist())
    return Column(name, Kind.TEXT, text.null_count, None, None, kept, len(levels), note=note)


def _reason_against_text(
    name: str, cells: pa.ChunkedArray, text: pa.ChunkedArray, level_counts: pa.ChunkedArray
) -> str | None:
    """Return why text is left out: durations, one value, or too many to learn from any."""
    n_levels = len(level_counts)  # the most frequent level comes first
    n_values = len(text) - text.null_count
    if contents.is_time(cells.type):
        return "durations"
    if n_levels == 1 and not text.null_count:
        return CONSTANT
    if name == ROW_NAME or (says_identifier(name) and n_levels == n_values > 1):
        return IDENTIFIER
    names_rows = n_values >= IDENTIFIER_ROWS and n_levels >= IDENTIFIER_SHARE * n_values
    has_many = n_levels > min(MOST_LEVELS, max(MANY_LEVELS, MANY_LEVELS_SHARE * n_values))
    if not names_rows and not has_many:
        has_frequent = n_levels == 0 or level_counts[0].as_py() >= fewest_rows(len(text))
        return None if has_frequent else MANY_VALUES
    blanks = pc.cast(pc.match_substring(text, " "), pa.int8())
    if pc.mean(pc.utf8_length(text)).as_py() >= LONG_TEXT and pc.mean(blanks).as_py() > 0.5:
        return "free text"
    return IDENTIFIER if names_rows else MANY_VALUES


def says_identifier(name: str) -> bool:
    """Return whether a column is called what people call numbers of rows."""
    if name == ROW_NAME or UNNAMED_INDEX.fullmatch(name):
        return True
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    return bool(words) and (words[-1] in IDENTIFIER_WORDS or words[0] == "id")


def _are_codes(cells: pa.ChunkedArray) -> bool:
    """Return whether text is digits of one length, most cells with a leading zero: 007, 01234."""
    cells = cells.drop_null()
    shortest, longest = pc.min_max(pc.binary_length(cells)).as_py().values()
    if shortest != longest or shortest < 2:
        return False
    return pc.mean(pc.cast(pc.match_substring_regex(cells, CODE_PATTERN), pa.int8())).as_py() > 0.5


def _mixture(table: Table, name: str) -> tuple[str | None, str | None]:
    """Return what keeps a column of mostly numbers, or dates, from being one, and what it is."""
    cells = table.cells(name)
    if not contents.is_text(cells.type):
        return None, None
    _check_marks(table, name)
    is_number = are_numbers(cells, _form(table, name))
    share = pc.mean(pc.cast(is_number, pa.int8())).as_py()
    if share >= 0.5:
        index = pc.index(is_number, False).as_py()
        return _because_of(table, name, index, int(100 * share), "numbers")
    sample = cells.drop_null().slice(0, SAMPLE_CELLS)
    for form in dates.PATTERNS:
        if np.isnat(dates.to_dates(sample, form)).mean() < 0.5:
            is_valid = contents.truths_from_arrow(pc.is_valid(cells))
            is_other = np.isnat(dates.to_dates(cells, form)) & is_valid
            if not is_other.any():  # but a day may be a month, and the column is kept
                return f"read as text: {DAY_OR_MONTH}", None
            n_cells = len(cells) - cells.null_count
            percent = 100 * (n_cells - is_other.sum()) // n_cells
            return _because_of(table, name, int(is_other.argmax()), percent, "dates")
    return None, None


def _because_of(table: Table, name: str, index: int, percent: int, what: str) -> tuple[str, str]:
    note = f"read as text because of {table.shown(name, index)} in row {index + 1}"
    return f"{note}, although {percent} % of the values are {what}", f"{what} mixed with text"


def _check_marks(table: Table, name: str) -> None:
    """Refuse a column of numbers of which some have a decimal point and some a comma."""
    cells = table.cells(name)
    forms = contents.possible_forms(table.form.delimiter)
    by_point, by_comma = (are_numbers(cells, form) for form in forms)
    if pc.all(pc.or_(by_point, by_comma)).as_py():
        comma, point = (pc.index(each, False).as_py() for each in (by_point, by_comma))
        raise InputError(
            f"{table.form.name}, column {name!r} mixes decimal commas and decimal points: "
            f"{table.shown(name, comma)} in row {comma + 1}, "
            f"{table.shown(name, point)} in row {point + 1}"
        )
