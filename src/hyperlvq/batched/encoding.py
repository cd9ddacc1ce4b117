"""Activations of hidden layers of one kind and size that differ in their random numbers."""

from collections.abc import Sequence

import numpy as np

from hyperlvq.batched.backend import Array, Backend
from hyperlvq.kernels.encoding import encode_rows
from hyperlvq.kernels.units import COUNTS, N_COMPARISONS, Units

# Sums of signs are exact in half precision up to this many.
LARGEST_HALF = 2048


def encode_integers(
    X: Array, keys: Sequence[Array], clips: Sequence[int], dtype: str, backend: Backend
) -> Array:
    """Return the activations of `IntRVFLLayer` for every key and clip (layers × samples × units).

    X is samples × features, each of the keys features × units. For each unit n one product sums
    the signs of all layers' keys with those of the samples' thermometer codes: -1 below the level
    of a feature, +1 from there on, 0 where the feature is missing.
    """
    if not backend.is_torch:
        layers = zip(keys, clips, strict=True)
        return np.stack([encode_rows(X, *layer) for layer in layers]).astype(dtype)
    n_units = keys[0].shape[1]
    has_halves = backend.kind == "cuda" and X.shape[1] <= LARGEST_HALF
    narrow = "float16" if has_halves else "float32"
    stacked = backend.xp.stack([backend.array(key, narrow).T for key in keys], axis=1)
    levels, presence = _levels(backend.array(X), n_units, narrow, backend)
    bounds = backend.array(np.asarray(clips), narrow)[:, None]
    activations = backend.zeros((len(keys), len(X), n_units), dtype)
    numbers = backend.range(n_units)[:, None, None]
    for rows in backend.row_slices(len(X), 8 * X.shape[1] * n_units):
        signs = presence[:, rows] - 2 * backend.cast(numbers < levels[:, rows], narrow)
        clipped = backend.xp.clip(stacked @ signs, -bounds, bounds)
        activations[:, rows] = backend.cast(clipped.permute(1, 2, 0), dtype)
    return activations


def _levels(X: Array, n_units: int, dtype: str, backend: Backend) -> tuple[Array, Array]:
    """Return how many entries of each code are -1, and 1 where there is a value, else 0.

    Both are features × samples. A missing value has level 0, so that its sign is 0 - 2·0.
    """
    xp = backend.xp
    values = backend.cast(X, "float64").T
    is_missing = xp.isnan(values)
    values = xp.clip(xp.where(is_missing, 0.0, values), 0, 1)
    return backend.cast(xp.round(values * n_units), "int32"), backend.cast(~is_missing, dtype)


def compare_on_device(X: Array, units: Units, backend: Backend) -> Array:
    """Return the activations of `ComparisonLayer` (samples × units, int8)."""
    kinds = backend.cast(units.kinds, "int64")
    features = backend.cast(units.features, "int64")
    lengths = backend.array(N_COMPARISONS)[kinds]
    ends, counts = lengths.cumsum(0), backend.array(COUNTS)
    activations = backend.zeros((len(X), len(kinds)), "int8")
    for rows in backend.row_slices(len(X), 16 * len(features)):
        reached = backend.cast(X[rows], "float64")[:, features] >= units.thresholds
        holds = backend.cast(reached == (units.keys > 0), "int32")
        sums = backend.zeros((len(holds), len(features) + 1), "int64")
        sums[:, 1:] = holds.cumsum(1)
        activations[rows] = counts[kinds, sums[:, ends] - sums[:, ends - lengths]]
    return activations


def encode_sigmoids(
    X: Array, weights: Sequence[Array], biases: Sequence[Array], backend: Backend
) -> Array:
    """Return the activations of `RVFLLayer` (layers × samples × units) in double precision."""
    stacked = backend.xp.stack([backend.array(part, "float64").T for part in weights])
    offsets = backend.xp.stack([backend.array(part, "float64") for part in biases])[:, None]
    return 1 / (1 + backend.xp.exp(-(backend.array(X, "float64") @ stacked + offsets)))
