"""How an integer model turns features into activations: by levels and signs, or by comparisons."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.export.fitted import FittedParts
from hyperlvq.export.scaling import (
    FEWEST_STEPS,
    INPUT_DTYPES,
    FloatScaling,
    IntegerScaling,
    beyond,
    make_scaling,
)
from hyperlvq.kernels.units import COUNTS, KINDS, N_COMPARISONS, Units
from hyperlvq.prediction import compare, encode
from hyperlvq.registry import UNIT_KINDS

#: Most units of a thermometer, features and outputs: an int of 16 bits counts them.
MOST_UNITS_OR_FEATURES = 2**15 - 1
#: Bits of a float32 without its sign.
MAGNITUDE = 2**31 - 1
#: How often the values of an input can be halved.
INPUT_BITS = 32


@dataclass(frozen=True, eq=False)
class Thermometer:
    """Units that sum signs of all features.

    Features become levels v (`scaling`). Unit n sums over features i the sign `signs[i, n]`,
    negated where n < v_i, and clips the sum to ±clip.
    """

    n_units: int  # and the largest level
    clip: int  # largest activation κ, as the layer has it; sums never exceed the features
    packed_keys: np.ndarray  # of bytes: bit n % 8 of byte n // 8 is 1 where unit n has a sign of +1
    scaling: FloatScaling | IntegerScaling

    @property
    def limit(self) -> int:
        """The largest activation there can be: clip, or the number of features if smaller."""
        return min(self.clip, len(self.packed_keys))

    @property
    def extremes(self) -> np.ndarray:
        """The smallest and the largest activation of each unit (2 × units)."""
        return np.outer([-self.limit, self.limit], np.ones(self.n_units, dtype=np.int64))

    @property
    def signs(self) -> np.ndarray:
        """The keys unpacked, of -1 and +1 (n_features × n_units, int8)."""
        bits = np.unpackbits(self.packed_keys, axis=1, count=self.n_units, bitorder="little")
        return bits.astype(np.int8) * 2 - 1

    def key_words(self, n_bits: int) -> np.ndarray:
        """Return the keys as words of 32 or 64 units (n_features × words, unsigned)."""
        n_bytes = n_bits // 8
        missing = -self.packed_keys.shape[1] % n_bytes
        return np.pad(self.packed_keys, ((0, 0), (0, missing))).view(f"<u{n_bytes}")

    def activations(self, values: np.ndarray) -> np.ndarray:
        """Return the activations of values as the device receives them (samples × units)."""
        levels = self.scaling.levels(values)
        # The kernel multiplies by N and rounds, which returns the very levels.
        return encode(levels / self.n_units, self.signs, self.clip)


class UnitRun(NamedTuple):
    """Units of one kind that stand together, with equally many comparisons of either key."""

    n_units: int
    n_above: int  # comparisons that hold from their threshold on, the first ones; others below it
    activations: tuple[int, ...]  # by the number of comparisons that hold

    @property
    def n_comparisons(self) -> int:
        """The comparisons of each unit."""
        return len(self.activations) - 1


class ComparingUnits(Units):
    """Units that compare, with thresholds of the type in which the device receives features.

    They are in the order of runs, and none is constant.
    """

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.kinds)

    @property
    def limit(self) -> int:
        """The largest activation there can be."""
        return int(np.abs(COUNTS).max())

    @property
    def extremes(self) -> np.ndarray:
        """The smallest and the largest activation of each unit (2 × units)."""
        extremes = [[extreme(each) for each in UNIT_KINDS.values()] for extreme in (min, max)]
        return np.array(extremes, dtype=np.int64)[:, self.kinds]

    @property
    def runs(self) -> list[UnitRun]:
        """The runs, in the order of units."""
        pairs = np.column_stack([self.kinds, _n_above(self)])
        runs, counts = np.unique(pairs, axis=0, return_counts=True)
        rows = zip(*runs.T.tolist(), counts.tolist(), strict=True)
        return [UnitRun(n_units, above, UNIT_KINDS[KINDS[kind]]) for kind, above, n_units in rows]

    def activations(self, values: np.ndarray) -> np.ndarray:
        """Return the activations of values as the device receives them (samples × units)."""
        units = self._replace(thresholds=self.thresholds.astype(np.float64))
        return compare(values.astype(np.float64), units)


def make_encoder(parts: FittedParts, input_type: str) -> tuple[Any, ...]:
    """Return the encoder of a model's hidden layer, and what comes with it.

    These are the weights of its units and of those that are always 1, one row per output; the
    ranges of features (n_features × 2), in training or of thresholds; and notes.
    """
    if "kinds_" in parts.hidden.learnt:
        return _comparisons(parts, INPUT_DTYPES[input_type])
    return _thermometer(parts, input_type)


def check_size(what: str, number: int) -> None:
    """Raise InputError for more than a device counts."""
    if number > MOST_UNITS_OR_FEATURES:
        raise InputError(
            f"cannot export {number} {what}: at most {MOST_UNITS_OR_FEATURES} are supported"
        )


def _thermometer(parts, input_type):
    scale, keys = parts.scale.learnt, parts.hidden.learnt["keys_"]
    n_units = keys.shape[1]
    check_size("units", n_units)
    minimum = np.asarray(scale["data_min_"], dtype=np.float64)
    # The scalers take the range of a constant feature, or of one that almost is, for 1.
    spans = np.where(scale["scale_"] == 1, 1, scale["data_max_"] - minimum)
    scaling, notes = make_scaling(
        minimum, minimum + spans, n_units, parts.feature_names, input_type
    )
    packed_keys = np.packbits(keys > 0, axis=1, bitorder="little")
    ranges = np.column_stack([scale["data_min_"], scale["data_max_"]])
    encoder = Thermometer(n_units, int(parts.hidden.parameters["clip"]), packed_keys, scaling)
    return encoder, parts.output_rows, parts.output_rows[:, :0], ranges, notes


def _comparisons(parts, dtype):
    units = Units(*(parts.hidden.learnt[f"{name}_"] for name in Units._fields))
    is_constant = units.kinds == KINDS.index("constant")
    if is_constant.all():
        raise InputError("cannot export a layer of constant units")
    order = np.lexsort([_n_above(units), units.kinds])
    order = order[~is_constant[order]]
    units = units.take(order)
    # Comparisons of key +1 come first in each unit.
    of_unit = np.repeat(np.arange(len(order)), N_COMPARISONS[units.kinds])
    places = np.lexsort([-units.keys, of_unit])
    features, thresholds, keys = (part[places] for part in units[:3])
    units = Units(features, thresholds, keys, units.kinds)
    encoder = ComparingUnits(*units._replace(thresholds=_device_thresholds(units, parts, dtype)))
    ranges = np.full((len(parts.feature_names), 2), np.nan)
    np.fmin.at(ranges[:, 0], encoder.features, encoder.thresholds)
    np.fmax.at(ranges[:, 1], encoder.features, encoder.thresholds)
    rows, notes = parts.output_rows, _notes_on_steps(ranges, parts.feature_names, dtype)
    return encoder, rows[:, order], rows[:, is_constant], ranges, notes


def device_medians(parts: FittedParts) -> np.ndarray | None:
    """Return the float32 that takes the place of NaN in each feature, NaN where NaN stays.

    A median is exact as a threshold is. None where no feature has one.
    """
    medians = parts.hidden.learnt.get("medians_", np.empty(0))
    known = np.flatnonzero(~np.isnan(medians))
    if len(known) == 0:
        return None
    found = np.full(len(medians), np.nan, dtype=np.float32)
    units = Units(known, medians[known], np.ones(len(known)), np.empty(0, np.int32))
    found[known] = _device_thresholds(units, parts, np.float32)
    return found


def _n_above(units):
    """Return how many keys of each unit are +1."""
    sums = np.concatenate([[0], np.cumsum(units.keys > 0)])
    return sums[units.ends] - sums[units.ends - N_COMPARISONS[units.kinds]]


def _device_thresholds(units, parts, dtype):
    """Return for each threshold of the model the smallest value of a type that reaches it.

    For every value of that type a comparison then holds on the device where it holds in the model.
    """
    factors, offsets, is_clipped = 1.0, 0.0, False
    if parts.scale is not None:
        scale, is_clipped = parts.scale.learnt, parts.scale.parameters["clip"]
        factors, offsets = (scale[name][units.features] for name in ("scale_", "min_"))
    raw = (units.thresholds - offsets) / factors  # up to rounding
    limits: Any = np.finfo(dtype) if dtype == np.float32 else np.iinfo(dtype)
    ends = [-np.inf if dtype == np.float32 else limits.min, limits.max]
    lowest, highest = (np.full(len(raw), code) for code in ordered(np.array(ends, dtype=dtype)))

    def reaches(codes):
        with np.errstate(over="ignore"):
            scaled = _values_of(codes, dtype).astype(np.float64) * factors + offsets
        return (np.clip(scaled, 0, 1) if is_clipped else scaled) >= units.thresholds

    is_held = reaches(highest) & (np.rint(raw) >= limits.min)
    if not is_held.all():
        i = is_held.argmin()
        name = parts.feature_names[units.features[i]]
        raise InputError(f"feature {name!r} has the threshold {raw[i]:g}, {beyond(dtype)}")
    for _ in range(INPUT_BITS):
        middle = (lowest + highest) >> 1
        is_reached = reaches(middle)
        highest = np.where(is_reached, middle, highest)
        lowest = np.where(is_reached, lowest, middle + 1)
    return _values_of(highest, dtype)


def ordered(values: np.ndarray) -> np.ndarray:
    """Return integers in the order of values: those themselves, or made of a float32's bits."""
    if values.dtype != np.float32:
        return values.astype(np.int64)
    bits = values.view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & MAGNITUDE), bits)


def _values_of(codes, dtype):
    """Return the values that `ordered` makes these integers of."""
    if dtype != np.float32:
        return codes.astype(dtype)
    magnitudes = np.abs(codes).astype(np.int32).view(np.float32)
    return np.where(codes < 0, -magnitudes, magnitudes)


def _notes_on_steps(ranges, names, dtype):
    """Return a note on features whose thresholds lie close together for the type of an input."""
    is_read = ~np.isnan(ranges[:, 0])
    steps = np.diff(ordered(ranges[is_read].astype(dtype)), axis=1)[:, 0]
    narrow = np.array(names)[is_read][steps < FEWEST_STEPS].tolist()
    if not narrow:
        return []
    others = f" (and {len(narrow) - 1} more)" if len(narrow) > 1 else ""
    if dtype == np.float32:
        return [
            f"float32 has fewer than {FEWEST_STEPS} values between the thresholds of feature "
            f"{narrow[0]!r}{others}: subtract a constant before fitting"
        ]
    return [
        f"the thresholds of feature {narrow[0]!r}{others} lie within {FEWEST_STEPS} integers: "
        "unless the values are integers, fit on values in smaller units"
    ]
