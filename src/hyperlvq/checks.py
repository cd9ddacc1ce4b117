"""Checks, each of which returns the value or says what is wrong with it."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from math import inf, isfinite, nan
from numbers import Integral, Real
from typing import Any


def check_integer(name: str, value: Any, minimum: int, maximum: float = inf) -> int:
    """Return `value` as an int of at least `minimum` and at most `maximum`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    number = int(value)
    if number < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value!r}")
    if number > maximum:
        raise ValueError(f"{name} must be at most {maximum}, got {value!r}")
    return number


def check_real(name: str, value: Any, *, positive: bool = False, maximum: float = inf) -> float:
    """Return `value` as a finite float of at least 0, or above 0 if `positive`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = to_float(value)
    if positive and not 0 < number < inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    if not 0 <= number < inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
    if number > maximum:
        raise ValueError(f"{name} must be at most {maximum:g}, got {value!r}")
    return number


def to_float(value: Any) -> float:
    """Return a number as a float, NaN for what is no real number."""
    try:
        return float(value) if isinstance(value, Real) else nan
    except OverflowError:  # an integer or a fraction beyond all floats
        return inf if value > 0 else -inf


def check_boolean(name: str, value: Any) -> bool:
    """Return `value` if it is true or false."""
    if type(value).__name__ not in ("bool", "bool_"):  # numpy's, too, which is not imported here
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_choice(name: str, value: Any, choices: Collection[str], error: type = ValueError) -> str:
    """Return `value` if it is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise error(f"{name} must be one of {listed}, got {value!r}")
    return value


def check_cost(cost: float) -> float:
    """Return a cost that can be minimised."""
    if not isfinite(cost):
        raise ValueError("the cost is not a finite number: features or weights are too large")
    return cost


class InputError(ValueError):
    """What someone gave is wrong; the message is one sentence that says what and where."""


@contextmanager
def refusals_as_input_errors(beginning: str = "") -> Iterator[None]:
    """Make one sentence of what a model refuses, such as a missing value or too large a step."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(beginning + str(error).splitlines()[0]) from None
