"""Activations of hidden layers of one kind and size that differ in their random numbers.

The numbers are those that the layers draw themselves; on the host the layers encode as well.
"""

from collections.abc import Sequence

import numpy as np

from hyperlvq.batched.backend import Array, Backend
from hyperlvq.hidden import IntRVFLLayer, RVFLLayer


def encode_integers(
    X: np.ndarray, layers: Sequence[IntRVFLLayer], dtype: str, backend: Backend
) -> Array:
    """Return the activations of fitted layers of one size (layers × samples × units).

    With F the thermometer code, Σ_i F_i ⊙ W_i = Σ_i W_i - 2 Σ_i [n < v_i] W_i[n]: for each unit n
    one product of all layers' keys with the samples' bits. Features are in [0, 1], none missing.
    """
    if not backend.is_torch:
        return np.stack([layer.transform(X) for layer in layers]).astype(dtype)
    n_units = layers[0].keys_.shape[1]
    # Sums of signs are exact in half precision up to 2048, far beyond the number of features.
    narrow = "float16" if backend.device.type == "cuda" and X.shape[1] <= 2048 else "float32"
    keys = backend.array(np.stack([layer.keys_.T for layer in layers], axis=1), narrow)
    levels = backend.array(np.rint(np.clip(X.T, 0, 1) * n_units).astype(np.int16))
    clips = backend.array([layer.clip for layer in layers], narrow)[:, None]
    activations = backend.zeros((len(layers), len(X), n_units), dtype)
    numbers = backend.range(n_units)[:, None, None]
    key_sums = keys.sum(axis=2)[:, :, None]
    rows_at_once = max(1, backend.block_bytes // (4 * X.shape[1] * n_units))
    for start in range(0, len(X), rows_at_once):
        rows = slice(start, start + rows_at_once)
        bits = backend.cast(numbers < levels[:, rows], narrow)
        clipped = backend.xp.clip(key_sums - 2 * (keys @ bits), -clips, clips)
        activations[:, rows] = backend.cast(clipped.permute(1, 2, 0), dtype)
    return activations


def encode_sigmoids(X: np.ndarray, layers: Sequence[RVFLLayer], backend: Backend) -> Array:
    """Return the activations of fitted layers (layers × samples × units) in double precision."""
    weights = backend.array(np.stack([layer.weights_.T for layer in layers]), "float64")
    biases = backend.array(np.stack([layer.biases_ for layer in layers]), "float64")[:, None]
    return 1 / (1 + backend.xp.exp(-(backend.array(X, "float64") @ weights + biases)))
