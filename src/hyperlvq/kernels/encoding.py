"""The intRVFL hidden layer: thermometer codes bound to random keys, summed and clipped.

With F_i the thermometer code of a feature (the first v_i entries -1, the rest +1) the sum
Σ_i F_i ⊙ W_i equals Σ_i W_i - 2 Σ_i W_i[:v_i]: one prefix subtraction per feature, and no array
of samples × features × units.
"""

import math

import numpy as np

from hyperlvq.kernels.compiled import compiled
from hyperlvq.kernels.scores import activation_dtype


def sum_dtype(n_features):
    """Return the narrowest integer that holds every partial sum of `n_features` signs."""
    return np.min_scalar_type(-n_features - 1)


def encode_rows(X, keys, clip, activations=None):
    """Return the activations of every row of X, written to those given as `encode` does."""
    if activations is None:
        activations = np.empty((len(X), keys.shape[1]), dtype=activation_dtype(clip))
    encode(X, keys, clip, np.empty(keys.shape[1], dtype=sum_dtype(len(keys))), activations)
    return activations


@compiled
def encode(X, keys, clip, sums, activations):
    """Write h = clip(Σ_i F_i ⊙ W_i, -κ, κ) for every row of X into `activations`.

    X (samples × features) holds values of [0, 1]; what lies outside saturates, and a NaN
    leaves its feature out of the sum. `keys` W is features × units, of -1 and +1. `sums`
    (units) is scratch of `sum_dtype`: a step only flips or clears the signs of one feature,
    so partial sums never exceed the number of features.
    """
    n_samples, n_features = X.shape
    n_units = keys.shape[1]
    key_sums = np.zeros_like(sums)
    for i in range(n_features):
        for unit in range(n_units):
            key_sums[unit] += keys[i, unit]
    for m in range(n_samples):
        for unit in range(n_units):
            sums[unit] = key_sums[unit]
        for i in range(n_features):
            level = np.float64(X[m, i]) * n_units
            if math.isnan(level):
                for unit in range(n_units):
                    sums[unit] -= keys[i, unit]
            else:
                for unit in range(int(np.rint(min(max(level, 0.0), n_units)))):
                    sums[unit] -= 2 * keys[i, unit]
        for unit in range(n_units):
            activations[m, unit] = min(max(sums[unit], -clip), clip)
