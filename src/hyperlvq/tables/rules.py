"""Rules by which a column is left out: each gives the reason, in words for the user, or None."""

import pyarrow as pa

from hyperlvq.tables import cells as contents
from hyperlvq.tables.names import ROW_NAME, says_identifier

DATES = "dates"
CONSTANT = "always the same"
EMPTY = "empty"
IDENTIFIER = "an identifier"
FREE_TEXT = "free text"
MANY_VALUES = "too many different values"
MIXED = "text among numbers"
NOT_PLAIN = "nested or binary values"
AS_ASKED = "as asked"

#: Text of so many cells, with such a share of distinct ones, names its rows.
IDENTIFIER_ROWS, IDENTIFIER_SHARE = 20, 0.9
#: Text with more levels, and a larger share of distinct cells, says little about a class.
MANY_LEVELS, MANY_LEVELS_SHARE = 100, 0.5
#: More levels than these are too many, whatever their share: a model has to remember them all.
MOST_LEVELS = 2**16
#: Fewer rows may count up by chance.
COUNTED_ROWS = 5
#: A level of text in a smaller share of the rows is a rare one.
RARE_SHARE = 0.005
#: In a smaller table, one row is enough for a level.
SMALL_TABLE = 20


def fewest_rows(n_rows: int) -> int:
    """Return how many rows of a table a level of text must have to count by itself."""
    return 1 if n_rows < SMALL_TABLE else max(2, round(RARE_SHARE * n_rows))


def reason_against_numbers(
    name: str, cells: pa.ChunkedArray, values: pa.ChunkedArray, is_one_value: bool
) -> str | None:
    """Return why numbers are left out: they are all the same, or they number the rows."""
    is_complete = not values.null_count
    if is_one_value and is_complete:
        return CONSTANT
    if name == ROW_NAME:
        return IDENTIFIER
    if not contents.are_whole(values):
        return None
    if len(values) >= COUNTED_ROWS and is_complete and contents.count_up(values):
        return IDENTIFIER
    # by the cells: integers beyond float64 may be distinct where their values are not
    return IDENTIFIER if says_identifier(name) and contents.are_distinct(cells) else None


def reason_against_text(
    name: str, cells: pa.ChunkedArray, text: pa.ChunkedArray, level_counts: pa.Array
) -> str | None:
    """Return why text is left out: dates, one value, or too many to learn from any.

    `level_counts` has how often each level occurs, the most frequent first.
    """
    n_levels = len(level_counts)
    n_values = len(text) - text.null_count
    if contents.is_time(cells.type) or contents.are_dates(text):
        return DATES
    if n_levels == 1 and not text.null_count:
        return CONSTANT
    if name == ROW_NAME or (says_identifier(name) and n_levels == n_values > 1):
        return IDENTIFIER
    names_rows = n_values >= IDENTIFIER_ROWS and n_levels >= IDENTIFIER_SHARE * n_values
    has_many = n_levels > min(MOST_LEVELS, max(MANY_LEVELS, MANY_LEVELS_SHARE * n_values))
    if not names_rows and not has_many:
        has_frequent = level_counts[0].as_py() >= fewest_rows(len(text)) if n_levels else True
        return None if has_frequent else MANY_VALUES
    if contents.are_long_text(text):
        return FREE_TEXT
    return IDENTIFIER if names_rows else MANY_VALUES
