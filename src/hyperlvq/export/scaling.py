"""From raw feature values to levels 0 to N, as a device computes them.

The float model's level is round(N (x - min)/(max - min)), halves to even, between 0 and N.
`FloatScaling` computes it in float32, by operations that every compiler rounds alike;
`IntegerScaling` from integer values, without floating point or division.
"""

from dataclasses import dataclass
from functools import cache, cached_property, partial
from math import ceil, floor
from typing import Any, ClassVar

import numpy as np

from hyperlvq.checks import InputError

INPUT_DTYPES: dict[str, type] = {"float": np.float32, "int16": np.int16, "int32": np.int32}
#: A feature that spans fewer steps of an integer is told to the user.
FEWEST_STEPS = 16
FLOAT_BITS = 24


def to_input(X: Any, dtype: Any) -> Any:
    """Return X as the device receives it, rounded: as float32, or limited to the integers."""
    if dtype == np.float32:
        with np.errstate(over="ignore"):  # what is too large becomes infinite
            return np.asarray(X).astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(np.asarray(X)), limits.min, limits.max).astype(dtype)


def beyond(dtype: Any) -> Any:
    """Return what follows a number that a type of input cannot hold."""
    if dtype == np.float32:
        return "outside the range of float32"
    wider = "int32" if dtype == np.int16 else "float"
    return f"outside the range of {dtype.__name__}: use input {wider}"


@dataclass(frozen=True)
class FloatScaling:
    """Level = round((x - minimum) · scale), every operation in float32."""

    minimum: np.ndarray
    scale: np.ndarray
    n_levels: int  # the largest level N
    dtype: ClassVar[type] = INPUT_DTYPES["float"]  # of a feature value

    def levels(self, X: Any) -> Any:
        """Return the level of each feature value (int64)."""
        with np.errstate(over="ignore"):
            positions = (to_input(X, self.dtype) - self.minimum) * self.scale
        return np.rint(np.clip(positions, 0, self.n_levels)).astype(np.int64)


@dataclass(frozen=True)
class IntegerScaling:
    """Level = (d · multiplier + offset) >> shift with d = x - minimum.

    It is 0 where d is negative and N from d = span on, so that no sum reaches (N + 1) << shift.
    For a feature that `settles`, min and max are integers and the level l so found, at most one
    off, is made exact by the remainder 2N·d - 2l·span: it must lie between -span and span, and
    l be even where it is either of them.
    """

    minimum: np.ndarray  # this and the next three of int64, one per feature
    span: np.ndarray
    multiplier: np.ndarray
    offset: np.ndarray
    shift: int
    settles: np.ndarray
    n_levels: int  # the largest level N
    dtype: type  # of a feature value

    def levels(self, X: Any) -> Any:
        """Return the level of each feature value (int64)."""
        distance = to_input(X, self.dtype).astype(np.int64) - self.minimum
        within = np.clip(distance, 0, np.maximum(self.span - 1, 0))
        levels = (within * self.multiplier + self.offset) >> self.shift
        levels += np.where(self.settles, self._correction(within, levels), 0)
        return np.where(distance < 0, 0, np.where(distance < self.span, levels, self.n_levels))

    def _correction(self, distance, levels):
        """Return -1, 0 or 1: what makes a level that is at most one off exact."""
        remainder = 2 * (self.n_levels * distance - levels * self.span)
        is_odd = levels % 2 == 1
        is_low = (remainder > self.span) | (is_odd & (remainder == self.span))
        is_high = (remainder < -self.span) | (is_odd & (remainder == -self.span))
        return is_low.astype(np.int64) - is_high


def make_scaling(
    minimum: np.ndarray, maximum: np.ndarray, n_levels: int, names: tuple[Any, ...], input_type: str
) -> tuple[FloatScaling | IntegerScaling, list[str]]:
    """Return the scaling of features with these ranges, and notes on what it loses."""
    if input_type == "float":
        return _float_scaling(minimum, maximum, n_levels, names)
    return _integer_scaling(minimum, maximum, n_levels, names, INPUT_DTYPES[input_type])


def _float_scaling(minimum, maximum, n_levels, names):
    with np.errstate(over="ignore"):
        spans = maximum - minimum
        highest, reach = maximum.astype(np.float32), spans.astype(np.float32)
        scale = (n_levels / spans).astype(np.float32)
        scaling = FloatScaling(minimum.astype(np.float32), scale, n_levels)
    # A subnormal scale is rounded coarsely, and to 0 by devices without subnormal numbers.
    is_held = np.isfinite([scaling.minimum, highest, reach, scaling.scale]).all(axis=0)
    is_held &= scaling.scale >= np.finfo(np.float32).tiny
    if not is_held.all():
        i = is_held.argmin()
        raise InputError(
            f"feature {names[i]!r} ranges from {minimum[i]:g} to {maximum[i]:g}, "
            "which float32 cannot represent"
        )
    steps = spans * 2.0**FLOAT_BITS / np.maximum(np.abs(minimum), np.abs(maximum))
    notes = [
        f"float32 has fewer than {n_levels} values in the range of feature {name!r}: "
        "subtract a constant before fitting"
        for name, n_steps in zip(names, steps, strict=True)
        if n_steps < n_levels
    ]
    return scaling, notes


def _integer_scaling(minimum, maximum, n_levels, names, dtype):
    """Return the scaling of integers.

    With an integer range the level is that of exact arithmetic for every integer: if no line
    shifted right gives all of them (ties at halves go to even levels, a line knows one way
    only), the remainder settles it.
    """
    limits = np.iinfo(dtype)
    feature_of = cache(partial(_Feature, n_levels))  # many features have the same range
    features, notes = [], []
    for low, high, name in zip(minimum.tolist(), maximum.tolist(), names, strict=True):
        if floor(low) < limits.min or ceil(high) > limits.max:
            raise InputError(f"feature {name!r} ranges from {low:g} to {high:g}, {beyond(dtype)}")
        is_integer = low.is_integer() and high.is_integer()
        features.append(feature_of(ceil(low) - low, high - low, is_integer))
        if high - low < FEWEST_STEPS and not is_integer:
            notes.append(
                f"feature {name!r} spans only {high - low:.3g} integers, so integer input loses "
                "most of its information: fit on values in smaller units"
            )
    shift, settles = _common_shift(set(features), n_levels)
    rows = [(feature.span, *feature.line(shift)) for feature in features]
    spans, multipliers, offsets = np.array(rows, dtype=np.int64).T.copy()
    first = np.ceil(minimum).astype(np.int64)
    is_settled = np.array([settles and feature.is_integer for feature in features])
    scaling = IntegerScaling(first, spans, multipliers, offsets, shift, is_settled, n_levels, dtype)
    return scaling, notes


def _common_shift(features, n_levels):
    """Return the shift that serves all features, and whether remainders must settle levels."""
    longest = _longest_shift(n_levels)
    integers = [feature for feature in features if feature.is_integer]
    if all(feature.exact_shift for feature in integers):
        return max(feature.exact_shift or longest for feature in features), False
    shift = max((f.exact_shift or 0 for f in features if not f.is_integer), default=0)
    while shift < longest and not all(feature.is_within_one(shift) for feature in integers):
        shift += 1
    return shift, True


class _Feature:
    """One feature: from which distance above its first integer on each level is reached."""

    def __init__(self, n_levels: int, lead: float, steps: float, is_integer: bool):
        self.n_levels = n_levels
        self.lead = lead  # of the first integer before the minimum
        self.steps = steps
        self.is_integer = is_integer
        levels = np.arange(1, n_levels + 1, dtype=np.int64)
        if is_integer:
            self.span = int(steps)
            self.thresholds, rest = np.divmod((2 * levels - 1) * self.span, 2 * n_levels)
            # Half a level above an even one still rounds to it: the odd one begins a step later.
            self.thresholds += (rest > 0) | (levels % 2 == 1)
        else:
            positions = (2 * levels - 1) * (steps / (2 * n_levels)) - lead
            self.thresholds = np.maximum(np.ceil(positions), 0).astype(np.int64)
            self.span = int(self.thresholds[-1])

    @cached_property
    def exact_shift(self):
        """The smallest shift for which a line gives every level, or None."""
        shifts = range(1, _longest_shift(self.n_levels) + 1)
        ends = ((shift, *self._multipliers(shift)) for shift in shifts)
        return next((shift for shift, lowest, highest in ends if lowest <= highest), None)

    def line(self, shift):
        """Return multiplier and offset: exact where a line can be, the closest line elsewhere."""
        is_exact = self.exact_shift is not None and self.exact_shift <= shift
        own_shift = self.exact_shift if is_exact else shift
        ends = self._multipliers(own_shift) if is_exact else (0, self._largest_multiplier(shift))
        lowest, highest = map(int, ends)
        multiplier = min(max(round(self.n_levels * 2**own_shift / self.steps), lowest), highest)
        rest = shift - own_shift
        return multiplier << rest, self._offset(own_shift) << rest

    def is_within_one(self, shift):
        """Return whether the line at a shift gives levels that are at most one off."""
        multiplier, offset = self.line(shift)
        levels = np.arange(1, self.n_levels + 1)
        within = self.thresholds < self.span
        at_start = (self.thresholds[within] * multiplier + offset) >> shift
        before = ((self.thresholds - 1) * multiplier + offset) >> shift
        return bool((at_start >= levels[within] - 1).all() and (before <= levels).all())

    def _offset(self, shift):
        """Return half a level plus what the first integer lies above the minimum."""
        offset = round(2**shift * (0.5 + self.lead * self.n_levels / self.steps))
        return min(offset, self.n_levels << shift)

    def _largest_multiplier(self, shift):
        """Return the largest multiplier for which no sum exceeds its width."""
        largest_sum = ((self.n_levels + 1) << shift) - 1
        return (largest_sum - self._offset(shift)) // max(self.span - 1, 1)

    def _multipliers(self, shift):
        """Return the smallest and the largest multiplier that give every level; none if crossed.

        Level k must be reached at its threshold d and not before:
        d·m + offset ≥ k·2^shift > (d - 1)·m + offset, the first where d is below the span.
        """
        thresholds = self.thresholds
        heights = (np.arange(1, self.n_levels + 1, dtype=np.int64) << shift) - self._offset(shift)
        is_zero, is_one = thresholds == 0, thresholds == 1
        if (heights[is_zero & (self.span > 0)] > 0).any() or (heights[is_one] <= 0).any():
            return 1, 0
        rising = (thresholds > 0) & (thresholds < self.span)
        lowest = -(-heights[rising] // thresholds[rising])
        highest = (heights[thresholds > 1] - 1) // (thresholds[thresholds > 1] - 1)
        largest = self._largest_multiplier(shift)
        return max(lowest.max(initial=0), 0), min(highest.min(initial=largest), largest)


def _longest_shift(n_levels):
    """Return the longest shift for which products of levels stay within 63 bits."""
    return 62 - n_levels.bit_length()
