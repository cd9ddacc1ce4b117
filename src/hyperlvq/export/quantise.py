"""Real prototypes as small integers that share one scale: w ≈ s·q."""

from typing import Any

import numpy as np

from hyperlvq.checks import InputError

#: Scales tried, as shares of the one that clips nothing.
SHARES = np.linspace(0.2, 1, 161)
#: Differences below this share of the prototypes are roundings.
ROUNDING = 1e-9
#: Scores stay exact in float64 up to here, with room for what is added to a bias.
LARGEST_BIAS = 2.0**52
#: The largest bias where all weights are 0.
LARGEST_ALONE = 2.0**20


def quantise(weights: np.ndarray, bits: int) -> tuple[np.ndarray, float]:
    """Return q (int8 or int16) and the scale s that give the least Σ (w - s·q)²."""
    dtype = np.int8 if bits == 8 else np.int16
    limit = np.iinfo(dtype).max
    largest = np.abs(weights).max()
    if largest < np.finfo(np.float64).tiny:  # a scale of it may be zero
        return np.zeros(weights.shape, dtype), 1.0
    # Smaller scales than the largest clip a few outliers and round all others more finely.
    scales = largest / limit * SHARES
    losses = [np.square(weights - s * round_to(weights, s, limit)).sum() for s in scales]
    scale = float(scales[np.argmin(losses)])
    return round_to(weights, scale, limit).astype(dtype), scale


def quantised_outputs(
    rows: np.ndarray, bits: int, has_prototypes: bool, constants: Any = ()
) -> tuple[np.ndarray, float, np.ndarray]:
    """Return weights, their scale and the biases, rounded to it, one for each of `rows`.

    `constants` are further columns of the rows, of units that are always 1: they become biases.
    """
    constants = np.reshape(constants, (len(rows), -1))
    # A term h·v that is the same for all outputs changes no winner. Without the middle between
    # the largest and the smallest of each unit, weights span less and are rounded more finely.
    wanted = rows - (rows.max(axis=0) + rows.min(axis=0)) / 2
    size = np.abs(rows if has_prototypes else constants).max(initial=0)
    if np.abs(wanted).max() <= ROUNDING * size:
        wanted = np.zeros_like(wanted)
    weights, scale = quantise(wanted, bits)
    if has_prototypes:
        # What rounding adds to the score of a typical sample, the mean prototype, is taken off.
        excess = 2 * (scale * weights - wanted) @ rows.mean(axis=0)
        biases = np.square(rows).sum(axis=1) + excess
        biases += (np.square(constants) - 2 * constants).sum(axis=1)
    else:
        biases = -constants.sum(axis=1)
        if not weights.any() and biases.any():
            scale = np.abs(biases).max() / LARGEST_ALONE
    biases = np.rint(biases / scale)
    if np.abs(biases).max() >= LARGEST_BIAS:
        raise InputError("cannot export outputs that differ by so little: scores would overflow")
    return weights, scale, biases.astype(np.int64)


def round_to(weights: np.ndarray, scale: float, limit: int) -> np.ndarray:
    """Return the integers nearest to w/s within ±limit, as floats."""
    return np.clip(np.rint(weights / scale), -limit, limit)
