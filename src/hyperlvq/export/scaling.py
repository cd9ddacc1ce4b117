"""From raw feature values to levels 0 to N, as a device computes them.

The float model's level is round(N (x - min)/(max - min)), halves to even, between 0 and N.
`FloatScaling` computes it in float32, by operations that every compiler rounds alike;
`IntegerScaling` from integer values, without floating point or division.
"""

from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from hyperlvq.checks import InputError

INTEGER_DTYPES: dict[str, type[np.int16] | type[np.int32]] = {"int16": np.int16, "int32": np.int32}
#: A feature that spans fewer steps of an integer is told to the user.
FEWEST_STEPS = 16
FLOAT_BITS = 24


@dataclass(frozen=True)
class FloatScaling:
    """Level = round((x - minimum) · scale), every operation in float32.

    Attributes
    ----------
    minimum, scale : ndarray of shape (n_features,), of float32
    n_levels : int
        The largest level N.
    """

    minimum: np.ndarray
    scale: np.ndarray
    n_levels: int

    def values(self, X):
        """Return X as the device receives it, in float32; what is too large becomes infinite."""
        with np.errstate(over="ignore"):
            return np.asarray(X).astype(np.float32)

    def levels(self, X):
        """Return the level of each feature value (int64)."""
        with np.errstate(over="ignore"):
            positions = (self.values(X) - self.minimum) * self.scale
        return np.rint(np.clip(positions, 0, self.n_levels)).astype(np.int64)


@dataclass(frozen=True)
class IntegerScaling:
    """Level = (d · multiplier + offset) >> shift with d = x - minimum.

    It is 0 where d is negative and N from d = span on, so that no sum exceeds `width` bits. For
    a feature that `settles`, min and max are integers and the level l so found, at most one
    off, is made exact by the remainder 2N·d - 2l·span: it must lie between -span and span, and
    l be even where it is either of them.

    Attributes
    ----------
    minimum, span, multiplier, offset : ndarray of shape (n_features,), of int64
    shift : int
    settles : ndarray of shape (n_features,), of bool
    n_levels : int
        The largest level N.
    dtype : numpy integer type
        The type of a feature value.
    """

    minimum: np.ndarray
    span: np.ndarray
    multiplier: np.ndarray
    offset: np.ndarray
    shift: int
    settles: np.ndarray
    n_levels: int
    dtype: type

    @property
    def width(self):
        """How many bits an unsigned product needs: 32 or 64."""
        return 32 if (self.n_levels + 1) << self.shift <= 2**32 else 64

    @property
    def remainder_width(self):
        """How many bits a signed remainder needs: 32 or 64."""
        return 32 if 2 * (self.n_levels + 1) * int(self.span.max()) < 2**31 else 64

    def values(self, X):
        """Return X as the device receives it: rounded to integers, limited to their type."""
        limits = np.iinfo(self.dtype)
        return np.clip(np.rint(np.asarray(X)), limits.min, limits.max).astype(self.dtype)

    def levels(self, X):
        """Return the level of each feature value (int64)."""
        distance = self.values(X).astype(np.int64) - self.minimum
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


def float_scaling(minimum, maximum, n_levels, names):
    """Return the scaling of float32 values and notes on what it loses."""
    with np.errstate(over="ignore"):
        spans = maximum - minimum
        highest, reach = maximum.astype(np.float32), spans.astype(np.float32)
        scaling = FloatScaling(
            minimum.astype(np.float32), (n_levels / spans).astype(np.float32), n_levels
        )
    # A subnormal scale is rounded coarsely, and to 0 by devices without subnormal numbers.
    is_held = np.isfinite([scaling.minimum, highest, reach, scaling.scale]).all(axis=0)
    is_held &= scaling.scale >= np.finfo(np.float32).tiny
    for i, name in enumerate(names):
        if not is_held[i]:
            raise InputError(
                f"feature {name!r} ranges from {minimum[i]:g} to {maximum[i]:g}, "
                "which float32 cannot tell apart or hold"
            )
    steps = spans * 2.0**FLOAT_BITS / np.maximum(np.abs(minimum), np.abs(maximum))
    coarse = [name for name, n_steps in zip(names, steps, strict=True) if n_steps < n_levels]
    notes = [
        f"float32 has fewer than {n_levels} values in the range of feature {name!r}; "
        "subtract a constant before the model is fitted"
        for name in coarse
    ]
    return scaling, notes


def integer_scaling(minimum, maximum, n_levels, names, input_type):
    """Return the scaling of integers and notes on what it loses.

    With an integer range the level is that of exact arithmetic for every integer: if no line
    shifted right gives all of them (ties at halves go to even levels, a line knows one way
    only), the remainder settles it.
    """
    dtype = INTEGER_DTYPES[input_type]
    features = [
        _feature(*row, n_levels, dtype) for row in zip(minimum, maximum, names, strict=True)
    ]
    shift, settles = _common_shift(features, n_levels)
    lines = np.array([_line_at(feature, n_levels, shift) for feature in features], dtype=np.int64)
    scaling = IntegerScaling(
        np.array([feature.minimum for feature in features], dtype=np.int64),
        np.array([feature.span for feature in features], dtype=np.int64),
        lines[:, 0],
        lines[:, 1],
        shift,
        np.array([settles and feature.is_integer for feature in features]),
        n_levels,
        dtype,
    )
    return scaling, [note for feature in features for note in _notes(feature)]


def _common_shift(features, n_levels):
    """Return the shift that serves all features, and whether remainders must settle levels."""
    longest = 62 - n_levels.bit_length()
    distinct = list({(f.lead, f.steps, f.is_integer): f for f in features}.values())
    shifts = [_smallest_shift(feature, n_levels, longest) for feature in distinct]
    settled = [f for f, shift in zip(distinct, shifts, strict=True) if shift is None]
    if not any(feature.is_integer for feature in settled):
        return max(longest if shift is None else shift for shift in shifts), False
    lines = [s or 0 for f, s in zip(distinct, shifts, strict=True) if not f.is_integer]
    shift = max(lines, default=0)
    integers = [feature for feature in distinct if feature.is_integer]
    while shift < longest and not all(_is_within_one(f, n_levels, shift) for f in integers):
        shift += 1
    return shift, True


@dataclass(frozen=True)
class _Feature:
    """One feature: its first integer, and from which distance on each level is reached."""

    name: str
    minimum: int
    span: int
    lead: float  # how far the first integer lies above the float minimum
    steps: float
    is_integer: bool
    thresholds: np.ndarray


def _feature(low, high, name, n_levels, dtype):
    """Return the thresholds of a feature that ranges from `low` to `high`."""
    limits = np.iinfo(dtype)
    if floor(low) < limits.min or ceil(high) > limits.max:
        raise InputError(
            f"feature {name!r} ranges from {low:g} to {high:g}, beyond {dtype.__name__}; "
            f"choose {'int32' if dtype is np.int16 else 'float'} as the input"
        )
    minimum, is_integer = ceil(low), low == floor(low) and high == floor(high)
    halves = 2 * np.arange(1, n_levels + 1, dtype=np.int64) - 1
    if is_integer:
        thresholds, rest = np.divmod(halves * int(high - low), 2 * n_levels)
        # Half a level above an even one still rounds to it: the odd one begins a step later.
        thresholds += (rest > 0) | (np.arange(1, n_levels + 1) % 2 == 1)
        span = int(high - low)
    else:
        positions = low - minimum + halves * ((high - low) / (2 * n_levels))
        thresholds = np.maximum(np.ceil(positions), 0).astype(np.int64)
        span = int(thresholds[-1])
    return _Feature(name, minimum, span, minimum - low, high - low, is_integer, thresholds)


def _notes(feature):
    if feature.steps < FEWEST_STEPS and not feature.is_integer:
        yield (
            f"feature {feature.name!r} spans only {feature.steps:.3g} integers, so the integer "
            "input loses most of it; fit the model on values in smaller units"
        )


def _smallest_shift(feature, n_levels, longest):
    """Return the smallest shift for which a line gives every level, or None."""
    for shift in range(1, longest + 1):
        offset = _offset(feature, n_levels, shift)
        lowest, highest = _multipliers(feature, n_levels, shift, offset)
        if lowest <= highest:
            return shift
    return None


def _line_at(feature, n_levels, shift):
    """Return multiplier and offset: exact where a line can be, the closest line elsewhere."""
    smallest = _smallest_shift(feature, n_levels, shift) or shift
    multiplier, offset = _line(feature, n_levels, smallest)
    return multiplier << (shift - smallest), offset << (shift - smallest)


def _line(feature, n_levels, shift):
    offset = _offset(feature, n_levels, shift)
    lowest, highest = _multipliers(feature, n_levels, shift, offset)
    ideal = round(n_levels * 2**shift / feature.steps)
    if lowest <= highest:
        return min(max(ideal, int(lowest)), int(highest)), offset
    largest = (((n_levels + 1) << shift) - 1 - offset) // max(feature.span - 1, 1)
    return min(ideal, largest), offset


def _offset(feature, n_levels, shift):
    """Return half a level plus what the first integer lies above the minimum."""
    return min(round(2**shift * (0.5 + feature.lead * n_levels / feature.steps)), n_levels << shift)


def _multipliers(feature, n_levels, shift, offset):
    """Return the smallest and the largest multiplier that give every level; none if crossed.

    Level k must be reached at its threshold d and not before:
    d·m + offset ≥ k·2^shift > (d - 1)·m + offset, the first where d is below the span.
    """
    thresholds = feature.thresholds
    heights = (np.arange(1, n_levels + 1, dtype=np.int64) << shift) - offset
    is_zero, is_one = thresholds == 0, thresholds == 1
    if (heights[is_zero & (feature.span > 0)] > 0).any() or (heights[is_one] <= 0).any():
        return 1, 0
    rising = (thresholds > 0) & (thresholds < feature.span)
    lowest = -(-heights[rising] // thresholds[rising])
    highest = (heights[thresholds > 1] - 1) // (thresholds[thresholds > 1] - 1)
    largest = (((n_levels + 1) << shift) - 1 - offset) // max(feature.span - 1, 1)
    return max(lowest.max(initial=0), 0), min(highest.min(initial=largest), largest)


def _is_within_one(feature, n_levels, shift):
    multiplier, offset = _line_at(feature, n_levels, shift)
    levels = np.arange(1, n_levels + 1)
    within = feature.thresholds < feature.span
    at_start = (feature.thresholds[within] * multiplier + offset) >> shift
    before = ((feature.thresholds - 1) * multiplier + offset) >> shift
    return bool((at_start >= levels[within] - 1).all() and (before <= levels).all())
