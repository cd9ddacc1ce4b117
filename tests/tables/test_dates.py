"""Dates in text: their forms, and what they say."""

import numpy as np
import pyarrow as pa
import pytest

from hyperlvq.tables.dates import (
    CLOCK,
    DAY_AND_NAME,
    DAY_FIRST,
    ISO,
    MONTH_FIRST,
    NAME_AND_DAY,
    possible_date_forms,
    to_dates,
)


def column(*cells):
    return pa.chunked_array([cells], pa.string())


@pytest.mark.parametrize(
    ("cells", "forms", "last"),
    [
        (["2020-01-02", "1999-12-31"], [ISO], "1999-12-31"),
        (["2020-01-02T10:00:00Z", "1999-2-3 23:59"], [ISO], "1999-02-03T23:59"),
        (["2020/01/02", "2020/01/02 4:05:06.789+02:00"], [ISO], "2020-01-02T04:05:06"),
        (["3/4/2020", None, "12/31/99"], [MONTH_FIRST], "1999-12-31"),
        (["3/4/2020", "31/12/68"], [DAY_FIRST], "2068-12-31"),
        (["3-4-2020", "11-12-69"], [DAY_FIRST, MONTH_FIRST], "1969-12-11"),
        (["3.4.2020", "1.12.99"], [DAY_FIRST], "1999-12-01"),
        (["1 Jan 2020", "03-FEB-21"], [DAY_AND_NAME], "2021-02-03"),
        (["Sept. 4, 2020", "march 3 2021 12:05 am"], [NAME_AND_DAY], "2021-03-03T00:05"),
        (["10:30", "23:59:59"], [CLOCK], "1970-01-01T23:59:59"),
        (["1:30 am", "12:30 PM"], [CLOCK], "1970-01-01T12:30"),
        (["2020-02-29", "2021-02-29"], [], None),
        (["2020-01-02", "2020-13-02"], [], None),
        (["2020-01-02", "2020-01-00"], [], None),
        (["10:30", "24:00"], [], None),
        (["10:30", "10:30:60"], [], None),
        (["10:30", "13:30 pm"], [], None),
        (["2020-01-02", "3/4/2020"], [], None),
        (["2020-01-02", "today"], [], None),
        ([None], [], None),
    ],
)
def test_a_column_has_the_forms_that_read_all_of_its_cells(cells, forms, last):
    found = possible_date_forms(column(*cells))

    assert found == forms
    if forms:
        assert to_dates(column(*cells), forms[0])[-1] == np.datetime64(last)


def test_a_cell_after_the_first_ones_counts_and_one_that_is_no_date_has_no_time():
    assert possible_date_forms(column(*["2020-01-02"] * 1000, "x")) == []
    assert np.isnat(to_dates(column(None, "x", "2020-01-02"), None)).tolist() == [True, True, False]
