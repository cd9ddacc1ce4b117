import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperlvq.tables.cells import (
    COMMA,
    GROUPED_POINT,
    POINT,
    are_numbers,
    is_plain_number,
    quoted,
    to_floats,
    unit_of,
)


def column(*cells):
    return pa.chunked_array([pa.array(cells, pa.string())])


def value(text, form):
    values = to_floats(column(text), form)
    return None if values is None else values[0].as_py()


POINT_CASES = [
    ("1", 1.0),
    ("-1.5", -1.5),
    (".5", 0.5),
    ("5.", 5.0),
    ("1e-3", 0.001),
    ("+2", 2.0),
    ("1E5", 1e5),
    ("007", 7.0),
    ("123456789012345678901234567890", 123456789012345678901234567890.0),
    *((text, None) for text in ("abc", "0x10", "1_000", "１２", "1,5", "1 00", "-", ".", "e5")),
    *((text, None) for text in ("1e", "--1", "5%", "NAN", "()", "(-1)", "1 234'567")),
    ("12 345", 12345.0),
    ("12'345.5", 12345.5),
    ("1\u202f234", 1234.0),
    ("−1.5", -1.5),
    ("(1.50)", -1.5),
]
#: Thousands stand in well-formed groups.
GROUPED_CASES = [
    ("1,234", 1234.0),
    ("-1,234,567.5", -1234567.5),
    *((text, None) for text in ("12,34", "1234,567", "0,123", "1,5", "1,234e5")),
]
COMMA_CASES = [
    ("3,14", 3.14),
    (",5", 0.5),
    ("1.234,56", 1234.56),
    ("1.234", 1234.0),
    ("-1,5e3", -1500.0),
    ("12", 12.0),
    ("12 345,5", 12345.5),
    ("(1,5)", -1.5),
    *((text, None) for text in ("1.5", "1,234.5", "1,2,3")),
]


@pytest.mark.parametrize(
    ("text", "form", "number"),
    [
        *((text, form, number) for text, number in POINT_CASES for form in (POINT, GROUPED_POINT)),
        *((text, GROUPED_POINT, number) for text, number in GROUPED_CASES),
        *((text, POINT, None) for text, _ in GROUPED_CASES),
        *((text, COMMA, number) for text, number in COMMA_CASES),
    ],
)
def test_numbers_in_every_form(text, form, number):
    assert value(text, form) == number


def test_infinity_counts_as_a_number_and_missing_cells_stay_missing():
    for text in ("inf", "-Infinity", "+INF", "1e999", "-1e400"):
        assert abs(value(text, POINT)) == float("inf")
    assert to_floats(column(None, "1", "-", "—"), POINT).to_pylist() == [None, 1.0, None, None]
    assert to_floats(column(None), COMMA).to_pylist() == [None]
    assert are_numbers(column("-", "x"), POINT).to_pylist() == [None, False]


@pytest.mark.parametrize(
    ("cells", "unit", "values"),
    [
        (["$ 1.20", "-$1.50", "$-2", "($3)"], "$", [1.2, -1.5, -2.0, -3.0]),
        (["1.5%", "-", "20 %"], "%", [1.5, None, 20.0]),
        (["–", "5€"], "€", [None, 5.0]),
        (["$1", "2"], "$", None),
        (["1", "$2"], None, None),
        (["$1", "€2"], "$", None),
        (["a", "5"], None, None),
    ],
)
def test_a_sign_of_money_or_percent_stands_in_all_cells_or_in_none(cells, unit, values):
    cells = column(*cells)
    found = to_floats(cells, POINT._replace(unit=unit_of(cells)))

    assert unit_of(cells) == unit
    assert (found and found.to_pylist()) == values


@given(st.text("0123456789+-.eE,_xXinfnaIN", min_size=2, max_size=8))
def test_one_grammar_whichever_way_a_cell_is_read(text):
    is_number = are_numbers(column(text), POINT)[0].as_py()

    assert (value(text, POINT) is not None) == is_number
    if is_number:
        assert value(text, POINT) == float(text)
        assert is_plain_number(text) == ("n" not in text.lower())


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_value_is_that_of_float(number):
    assert value(repr(number), POINT) == number
    assert value(repr(number).replace(".", ","), COMMA) == number


@given(st.floats(-1e15, 1e15))
def test_thousands_do_not_change_a_value(number):
    text = f"{number:,.6f}"
    german = text.translate(str.maketrans(",.", ".,"))

    assert value(text, GROUPED_POINT) == value(german, COMMA) == float(f"{number:.6f}")


def test_long_text_is_cut_off_in_messages():
    assert quoted("x" * 40) == f"'{'x' * 40}'"
    assert quoted("x" * 41) == f"'{'x' * 40}…'"
