"""Numbers as a reader sees them."""

import pytest

from hyperlvq.report.formats import no_formula, number, p_value, plain, power, signed

NAN = float("nan")


@pytest.mark.parametrize("show", [number, signed, p_value])
@pytest.mark.parametrize("value", [None, NAN])
def test_what_has_no_value_is_a_dash(show, value):
    assert show(value) == "–"


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, "0.5"), (0.005, "0.005"), (0.0, "0"), (9.96e-6, "1.0 × 10⁻⁵")]
)
def test_p_values_are_short(value, text):
    assert p_value(value) == text


def test_a_difference_that_rounds_to_zero_has_no_sign():
    assert signed(-0.00001) == "0.0000"


def test_powers_round_up_to_the_next():
    assert power(9.999e11) == "1.00 × 10¹²"


def test_a_markdown_cell_stays_on_its_line():
    assert plain("a\nb | c") == "a b \\| c"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("&lt;img&gt;", "&amp;lt;img&amp;gt;"),
        ("![a](http://b)", "!\\[a\\](http://b)"),
        ("a\\|b", "a\\\\\\|b"),
        ("`a` *b*", "\\`a\\` \\*b\\*"),
        ("breast-cancer_R.dat, line 3: 5 > 4", "breast-cancer_R.dat, line 3: 5 &gt; 4"),
    ],
)
def test_text_is_no_markup_in_markdown(text, expected):
    assert plain(text) == expected


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_text_is_no_formula_in_a_spreadsheet(start):
    assert no_formula(f"{start}cmd|' /C calc'!A0") == f"'{start}cmd|' /C calc'!A0"


def test_text_that_is_no_formula_stays_as_it_is():
    assert no_formula("a=b-c") == "a=b-c"
