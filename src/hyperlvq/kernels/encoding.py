"""The intRVFL hidden layer: thermometer codes bound to random keys, summed and clipped.

With F_i the thermometer code of a feature (the first v_i entries -1, the rest +1) the sum
Σ_i F_i ⊙ W_i equals Σ_i W_i - 2 Σ_i W_i[:v_i]: one prefix subtraction per feature, and no array
of samples × features × units.
"""

import math
from typing import Any

import numpy as np

from hyperlvq.kernels.compiled import compiled
from hyperlvq.kernels.scores import activation_dtype
from hyperlvq.kernels.threads import share_rows

# Units of one vector instruction. A prefix is whole chunks of them and one that is masked, since
# loops of other lengths end unit by unit. Unsigned: a signed index may be negative, which compiled
# code would look for.
CHUNK = np.uint64(64)
# Signs that are added while a prediction makes one product.
SIGNS_PER_PRODUCT = 4


def sum_dtype(n_features: int) -> Any:
    """Return the narrowest integer that holds every partial sum of `n_features` signs."""
    return np.min_scalar_type(-n_features - 1)


def encode_rows(
    X: np.ndarray,
    keys: np.ndarray,
    clip: int,
    activations: np.ndarray | None = None,
    n_threads: int | None = None,
) -> np.ndarray:
    """Return h = clip(Σ_i F_i ⊙ W_i, -κ, κ) of every row of X, written to `activations` if given.

    X (samples × features) holds values of [0, 1]; what lies outside saturates, and a NaN leaves its
    feature out of the sum. `keys` W is features × units, of -1 and +1. The threads are as many as
    BLAS has unless given.
    """
    n_features, n_units = keys.shape
    if activations is None:
        activations = np.empty((len(X), n_units), dtype=activation_dtype(clip))
    padded = (n_units // int(CHUNK) + 1) * int(CHUNK)
    doubled = np.zeros((n_features, padded), dtype=np.int8)
    np.multiply(keys, 2, out=doubled[:, :n_units])
    key_sums = np.zeros(padded, dtype=sum_dtype(n_features))
    np.sum(keys, axis=0, out=key_sums[:n_units])
    limit = activations.dtype.type(clip)
    share_rows(
        lambda rows: encode(X[rows], doubled, key_sums, limit, activations[rows]),
        len(X),
        keys.size // SIGNS_PER_PRODUCT,
        n_threads,
    )
    return activations


@compiled
def encode(
    X: np.ndarray, doubled: np.ndarray, key_sums: np.ndarray, clip: int, activations: np.ndarray
) -> None:
    """Write the activations of `encode_rows`; keys are doubled, and they and sums padded by 0.

    A step only flips or clears the signs of one feature, so partial sums never exceed the number
    of features.
    """
    n_units = activations.shape[1]
    levels = np.empty(X.shape[1], dtype=np.uint64)
    sums = np.empty_like(key_sums)
    for m in range(X.shape[0]):
        for unit in range(key_sums.shape[0]):
            sums[unit] = key_sums[unit]
        for i in range(X.shape[1]):
            level = np.float64(X[m, i]) * n_units
            levels[i] = np.rint(min(level, n_units)) if level > 0 else 0
            if math.isnan(level):
                for unit in range(n_units):
                    sums[unit] -= doubled[i, unit] // 2
        for i in range(X.shape[1]):
            n_chunks = levels[i] // CHUNK
            for chunk in range(n_chunks):
                for lane in range(CHUNK):
                    position = chunk * CHUNK + lane
                    sums[position] -= doubled[i, position]
            n_left = np.int8(levels[i] % CHUNK)
            for lane in range(CHUNK):
                position = n_chunks * CHUNK + lane
                sums[position] -= doubled[i, position] if np.int8(lane) < n_left else np.int8(0)
        for unit in range(n_units):
            activations[m, unit] = min(max(sums[unit], -clip), clip)
