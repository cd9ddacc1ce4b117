"""Checks of constructor parameters: each returns the value or says which one is wrong."""

from collections.abc import Collection
from numbers import Integral, Real


def check_integer(name: str, value: object, minimum: int, maximum: int | None = None) -> int:
    """Return `value` as an int of at least `minimum` and at most `maximum`."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value!r}")
    if maximum is not None and value > maximum:
        raise ValueError(f"{name} must be at most {maximum}, got {value!r}")
    return int(value)


def check_real(name: str, value: object, minimum: float = 0.0, *, exclusive: bool = False) -> float:
    """Return `value` as a finite float of at least (or, if exclusive, above) `minimum`."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = float(value)
    if exclusive and not minimum < number < float("inf"):
        raise ValueError(f"{name} must be a finite number above {minimum:g}, got {value!r}")
    if not minimum <= number < float("inf"):
        raise ValueError(f"{name} must be a finite number of at least {minimum:g}, got {value!r}")
    return number


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Return `value` if it is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {listed}, got {value!r}")
    return value
