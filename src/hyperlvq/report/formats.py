"""Numbers as a reader sees them, where what has no value is a dash, and text that stays text."""

import re
from html import escape
from math import isnan

DASH = "–"
#: What ends a cell or begins code, emphasis or a link; `escape` sees to HTML.
MARKDOWN = re.compile(r"[\\`*|\[\]]")
#: What spreadsheets take for the start of a formula, also behind quotes of CSV.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with so many digits after the point.

    Examples
    --------
    >>> from hyperlvq.report.formats import number
    >>> number(0.81951, 3), number(float("nan"))
    ('0.820', '–')
    """
    return DASH if value is None or isnan(value) else f"{value:.{digits}f}"


def signed(value: float | None, digits: int = 4) -> str:
    """Return a difference with its sign, a true minus for negative ones.

    Examples
    --------
    >>> from hyperlvq.report.formats import signed
    >>> signed(-0.0016), signed(0.00001)
    ('−0.0016', '0.0000')
    """
    if value is None or isnan(value):
        return DASH
    text = f"{value:+.{digits}f}".replace("-", "−")
    return text[1:] if float(f"{value:.{digits}f}") == 0 else text


def p_value(value: float | None) -> str:
    """Return a p value with two significant digits, as a power of ten where it is tiny.

    Examples
    --------
    >>> from hyperlvq.report.formats import p_value
    >>> p_value(0.04567), p_value(0.00000123), p_value(1.0)
    ('0.046', '1.2 × 10⁻⁶', '1')
    """
    if value is None or isnan(value):
        return DASH
    return power(value, 1) if 0 < value < 0.0001 else f"{value:.2g}"


def power(value: float, digits: int = 2) -> str:
    """Return a large or a tiny number as a power of ten.

    Examples
    --------
    >>> from hyperlvq.report.formats import power
    >>> power(1234567.0)
    '1.23 × 10⁶'
    """
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(SUPERSCRIPTS)}"


def plain(text: str) -> str:
    r"""Return text that Markdown shows as it is: one line without HTML, links, code or cells.

    Examples
    --------
    >>> from hyperlvq.report.formats import plain
    >>> print(plain("a|b <img> [c](d)"))
    a\|b &lt;img&gt; \[c\](d)
    """
    return MARKDOWN.sub(r"\\\g<0>", escape(" ".join(text.split()), quote=False))


def no_formula(text: str) -> str:
    """Return text that a spreadsheet takes for text, also where it looks like a formula.

    Examples
    --------
    >>> from hyperlvq.report.formats import no_formula
    >>> no_formula("iris"), no_formula("=1+1")
    ('iris', "'=1+1")
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
