"""Thresholds of comparisons in the type in which a device receives features.

For every value of that type a comparison holds on the device where it holds in the float model.
"""

from typing import Any

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.export.fitted import FittedParts
from hyperlvq.export.scaling import beyond
from hyperlvq.kernels.units import Units
from hyperlvq.model_files import Part

#: Bits of a float32 without its sign.
MAGNITUDE = 2**31 - 1
#: How often the values of an input can be halved.
INPUT_BITS = 32


def device_thresholds(units: Units, parts: FittedParts, dtype: type) -> np.ndarray:
    """Return for each threshold of the model the smallest value of a type that reaches it."""
    raw = _raw(units, parts.scale)
    limits: Any = np.finfo(dtype) if dtype == np.float32 else np.iinfo(dtype)
    ends: np.ndarray = np.array(
        [-np.inf if dtype == np.float32 else limits.min, limits.max], dtype=dtype
    )
    lowest, highest = (np.full(len(raw), code) for code in ordered(ends))

    def reaches(codes):
        values = _values_of(codes, dtype).astype(np.float64)
        return _scaled(values, units.features, parts.scale) >= units.thresholds

    is_held = reaches(highest) & (np.rint(raw) >= limits.min)
    if not is_held.all():
        i = is_held.argmin()
        name = parts.feature_names[units.features[i]]
        raise InputError(f"feature {name!r} is compared with {raw[i]:g}, {beyond(dtype)}")
    for _ in range(INPUT_BITS):
        middle = (lowest + highest) >> 1
        is_reached = reaches(middle)
        highest = np.where(is_reached, middle, highest)
        lowest = np.where(is_reached, lowest, middle + 1)
    return _values_of(highest, dtype)


def _raw(units, scale: Part | None):
    """Return thresholds in the units of raw features, up to rounding."""
    if scale is None:
        return units.thresholds
    offsets, factors = (scale.learnt[name][units.features] for name in ("min_", "scale_"))
    return (units.thresholds - offsets) / factors


def _scaled(values, features, scale: Part | None):
    """Return values of these features as the model compares them."""
    if scale is None:
        return values
    factors, offsets = (scale.learnt[name][features] for name in ("scale_", "min_"))
    with np.errstate(over="ignore"):
        scaled = values * factors + offsets
    return np.clip(scaled, 0, 1) if scale.parameters["clip"] else scaled


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
