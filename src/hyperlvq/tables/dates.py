"""Dates in the cells of a column: arrow arrays in, datetime64 out.

Text is read by one form for the whole column, which is called by an example. A date is what a
calendar and a clock on the wall show: offsets from UTC are not added. Times without a date are
those of the first day of 1970.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from hyperlvq.kernels.features import NO_DATE
from hyperlvq.tables.cells import (
    LAST,
    SAMPLE_CELLS,
    is_text,
    numbers_from_arrow,
    numbers_to_arrow,
    text_to_arrow,
    truths_from_arrow,
)

ISO, DAY_FIRST, MONTH_FIRST = "2012-12-31", "31/12/2012", "12/31/2012"
DAY_AND_NAME, NAME_AND_DAY, CLOCK = "31 Dec 2012", "Dec 31, 2012", "23:59"
_DAY, _MONTH = "(?P<day>[0-9]{1,2})", "(?P<month>[0-9]{1,2})"
_NAME = "(?P<month>(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))[A-Za-z]*[.]?"
_YEAR = "(?P<year>[0-9]{4}|[0-9]{2})"
_CLOCK = (
    "(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,][0-9]+)?)?"
    "(?: ?(?P<half>(?i:am|pm)))?(?: ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?"
)
_DATES = {
    ISO: f"(?P<year>[0-9]{{4}})[-/]{_MONTH}[-/]{_DAY}",
    DAY_FIRST: f"{_DAY}[-/.]{_MONTH}[-/.]{_YEAR}",
    MONTH_FIRST: f"{_MONTH}[-/]{_DAY}[-/]{_YEAR}",
    DAY_AND_NAME: f"{_DAY}[.]?[- ]{_NAME}[- ,]+{_YEAR}",
    NAME_AND_DAY: f"{_NAME} {_DAY},? {_YEAR}",
}
PATTERNS = {
    **{form: f"^{pattern}(?:[T ,]+{_CLOCK})?$" for form, pattern in _DATES.items()},
    CLOCK: f"^{_CLOCK}$",
}
MONTHS = text_to_arrow(
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
)
#: Years of two digits are those from 1969 to 2068, as in POSIX.
FIRST_SHORT_YEAR = 69
EMPTY, ZERO, AM, PM = text_to_arrow(["", "0", "am", "pm"])
NO_INTEGER = numbers_to_arrow(np.array([NO_DATE]).view(np.int64))[0]


def possible_date_forms(cells: pa.ChunkedArray) -> list[str]:
    """Return the forms in which all cells of text are dates; none if there are no cells."""
    cells = cells.drop_null()
    forms = [*PATTERNS] if len(cells) else []
    for examined in (cells.slice(0, SAMPLE_CELLS), cells):  # a sample rules most columns out
        forms = [form for form in forms if not np.isnat(_dates_of_text(examined, form)).any()]
    return forms


def days_of(dates: np.ndarray) -> np.ndarray:
    """Return dates as days since 1970, NaN where they are missing."""
    return (dates - np.datetime64(0, "D")) / np.timedelta64(1, "D")


def is_date_type(kind: pa.DataType) -> bool:
    """Return whether cells of this type are dates or times of a day."""
    return types.is_timestamp(kind) or types.is_date(kind) or types.is_time(kind)


def to_dates(cells: pa.ChunkedArray, form: str | None) -> np.ndarray:
    """Return cells as datetime64[us], NaT where they are missing or no dates.

    Text is read by its form, or as ISO dates where training had no text.
    """
    if is_text(cells.type):
        return _dates_of_text(cells, form or ISO)
    if types.is_timestamp(cells.type) and cells.type.tz is not None:
        cells = pc.local_timestamp(cells)
    kind = pa.time64("us") if types.is_time(cells.type) else pa.timestamp("us")
    integers = pc.cast(pc.cast(cells, kind, safe=False), pa.int64())
    return numbers_from_arrow(pc.fill_null(integers, NO_INTEGER)).view(NO_DATE.dtype)


def _dates_of_text(cells: pa.ChunkedArray, form: str) -> np.ndarray:
    found = pc.extract_regex(cells, PATTERNS[form]).combine_chunks()
    parts = {each.name: found.field(each.name) for each in found.type}  # empty where none is
    days, is_day = _calendar_days(parts, form) if form in _DATES else (np.datetime64(0, "D"), True)
    hour, minute, second = (_integers(parts[name]) for name in ("hour", "minute", "second"))
    half = pc.utf8_lower(parts["half"])
    is_am, is_pm = (truths_from_arrow(pc.equal(half, each)) for each in (AM, PM))
    has_half = is_am | is_pm
    is_time = (hour < 24) & (minute < 60) & (second < 60) & ~(has_half & (hour > 12))
    hour = np.where(has_half, hour % 12 + 12 * is_pm, hour)
    moments = days.astype("M8[s]") + ((hour * 60 + minute) * 60 + second)
    is_right = truths_from_arrow(pc.is_valid(found)) & is_day & is_time
    return np.where(is_right, moments.astype(NO_DATE.dtype), NO_DATE)


def _calendar_days(parts: Mapping[str, pa.Array], form: str) -> tuple[np.ndarray, np.ndarray]:
    """Return days by the text of their years, months and days, and which of them exist."""
    year, day = _integers(parts["year"]), _integers(parts["day"])
    is_short = numbers_from_arrow(pc.utf8_length(parts["year"])) == 2
    year = np.where(is_short, year + np.where(year < FIRST_SHORT_YEAR, 2000, 1900), year)
    if form in (DAY_AND_NAME, NAME_AND_DAY):
        names = pc.utf8_lower(parts["month"])
        month = 1 + numbers_from_arrow(pc.fill_null(pc.index_in(names, MONTHS), LAST))
    else:
        month = _integers(parts["month"])
    months = (12 * (year - 1970) + month - 1).astype("M8[M]")
    days = months.astype("M8[D]") + (day - 1)
    return days, (month >= 1) & (month <= 12) & (days.astype("M8[M]") == months)


def _integers(digits: pa.Array) -> np.ndarray:
    """Return text of digits as integers, 0 where it is empty."""
    return numbers_from_arrow(
        pc.cast(pc.if_else(pc.equal(digits, EMPTY), ZERO, digits), pa.int64())
    )
