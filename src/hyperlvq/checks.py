"""What is checked and said in one way everywhere.

Checks of constructor parameters return the value or say which one is wrong.
"""

import sys
import warnings
from collections.abc import Collection
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any

from sklearn.exceptions import ConvergenceWarning

#: Packages between a user and what warns.
INNER_PACKAGES = ("hyperlvq", "sklearn")


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


def check_real(name: str, value: Any, *, positive: bool = False) -> float:
    """Return `value` as a finite float of at least 0, or above 0 if `positive`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = float(value)
    if positive and not 0 < number < inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    if not 0 <= number < inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
    return number


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Return `value` if it is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {listed}, got {value!r}")
    return value


def check_cost(cost: float) -> float:
    """Return a cost that can be minimised."""
    if not isfinite(cost):
        raise ValueError("the cost is not a finite number: features or weights are too large")
    return cost


def warn_not_converged(message: str) -> None:
    """Warn in the name of the code that called the library, directly or through scikit-learn.

    Python shows a warning once for each place, so it must not be one that all callers share.
    """
    stacklevel, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in INNER_PACKAGES:
        stacklevel, frame = stacklevel + 1, frame.f_back
    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel)


class InputError(ValueError):
    """What someone gave is wrong; the message is one sentence that says what and where."""
