"""From features to activations, scores and winners: by numpy, without compiled loops.

`encode_rows`, `linear_scores` and `prototype_scores` are for few rows; their compiled twins are in
`hyperlvq.kernels.encoding` and `hyperlvq.kernels.distances`. Scores of integer activations are the
same to the last bit.
"""

import math
from typing import Any

import numpy as np

# Two megabytes of float32 at 1000 units: a block stays in cache between its two products.
BLOCK_ROWS = 512
# Of float64, less one for weights that are rounded up.
EXACT_BITS = 52
# Of distances: none is divided by 0.
SMALLEST_SCALE = 1e-300


def activation_dtype(clip: int) -> Any:
    """Return the integer type of activations in [-clip, clip]."""
    return np.int8 if clip <= np.iinfo(np.int8).max else np.int16


def encode_rows(X: np.ndarray, keys: np.ndarray, clip: int, activations: np.ndarray) -> None:
    """Sum each feature's thermometer code times its key, a loop over features, and clip."""
    n_units = keys.shape[1]
    positions = np.arange(n_units, dtype=np.int32)
    totals = np.zeros(activations.shape, dtype=np.int16 if len(keys) < 2**15 else np.int32)
    for values, key in zip(X.T.astype(np.float64), keys, strict=True):
        missing = np.isnan(values)
        levels = np.rint(np.where(missing, 0, np.clip(values, 0, 1)) * n_units).astype(np.int32)
        totals += np.where(positions < levels[:, np.newaxis], -key, key)
        totals[missing] -= key
    activations[...] = np.clip(totals, -clip, clip)


def project(
    X: np.ndarray, weights: np.ndarray, biases: np.ndarray, map_blocks: Any = map
) -> np.ndarray:
    """Return the activations of RVFL, h = 1/(1 + exp(-(Wx + b))), in the precision of X.

    `map_blocks` may use threads; the blocks of rows, and so all digits, are the same.
    """
    from scipy.special import expit  # imported for this layer only: it takes a while

    weights, biases = (part.astype(X.dtype, copy=False) for part in (weights, biases))
    activations = np.empty((len(X), len(weights)), X.dtype)

    def project_block(rows):
        sums = np.matmul(X[rows], weights.T, out=activations[rows])
        sums += biases
        expit(sums, out=sums)

    list(map_blocks(project_block, row_slices(len(X))))
    return activations


def row_slices(n_rows: int, block_rows: int = BLOCK_ROWS) -> list[Any]:
    """Return the slices of all rows, block by block."""
    return [slice(start, start + block_rows) for start in range(0, n_rows, block_rows)]


def exactly_summable(weights: np.ndarray, dtype: Any) -> np.ndarray:
    """Return float64 weights whose products with integers of one or two bytes add up exactly.

    Weights are rounded to multiples of one power of two, so small that no sum reaches 2⁵³ times as
    much: float64 holds every part of a sum, whatever the order. Weights for floats stay as they
    are.
    """
    weights = weights.astype(np.float64, copy=False)
    if dtype.kind == "f":
        return weights
    limits = np.iinfo(dtype)
    largest_sum = max(-limits.min, limits.max) * float(np.abs(weights).sum(axis=1).max(initial=0))
    step = math.ldexp(1, math.frexp(largest_sum)[1] - EXACT_BITS)
    return np.rint(weights / step) * step if step else weights


def squared_lengths(prototypes: np.ndarray) -> np.ndarray:
    """Return ‖w‖² of every prototype."""
    return np.einsum("jn,jn->j", prototypes, prototypes, dtype=np.float64)


def squared_distances(X: np.ndarray, prototypes: np.ndarray) -> np.ndarray:
    """Return ‖x - w‖² = ‖x‖² - 2 x·w + ‖w‖² for every sample and prototype."""
    exact = exactly_summable(prototypes, X.dtype)
    wide = X.astype(np.float64, copy=False)
    distances = wide @ exact.T
    distances *= -2
    distances += squared_lengths(wide)[:, np.newaxis]
    distances += squared_lengths(exact)
    return np.maximum(distances, 0, out=distances)


def closest_per_class(
    distances: np.ndarray, prototype_classes: np.ndarray, n_classes: int
) -> np.ndarray:
    """Return each sample's smallest distance to a prototype of each class (samples × classes).

    A class without prototypes is infinitely far.
    """
    closest = np.full((len(distances), n_classes), np.inf)
    for column, class_index in zip(distances.T, prototype_classes, strict=True):
        np.minimum(closest[:, class_index], column, out=closest[:, class_index])
    return closest


def prototype_scores(
    X: np.ndarray, prototypes: np.ndarray, prototype_classes: np.ndarray, n_classes: int
) -> np.ndarray:
    """Return minus each sample's squared distance to the closest prototype of each class."""
    distances = squared_distances(X, prototypes)
    check_finite(distances, "squared distances")
    return -closest_per_class(distances, prototype_classes, n_classes)


def linear_scores(X: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return XWᵀ in float64 (samples × classes)."""
    scores = X.astype(np.float64, copy=False) @ exactly_summable(coefficients, X.dtype).T
    check_finite(scores, "scores")
    return scores


def check_finite(numbers: np.ndarray, name: str) -> None:
    """Raise if some number is not finite, which no comparison would notice."""
    if not np.isfinite(numbers).all():
        raise ValueError(f"the {name} are not finite: features are too large")


def compared(scores: Any) -> Any:
    """Return scores as `decision_function` does: of two classes, the second's less the first's."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def softmax_probabilities(compared_scores: np.ndarray, uniform_share: float) -> np.ndarray:
    """Return softmax of scores, of which a share is the same for all classes."""
    scores = compared_scores
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    powers /= powers.sum(axis=1, keepdims=True)
    return (1 - uniform_share) * powers + uniform_share / scores.shape[1]


def distances_of_others(distances: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return each sample's smallest distance to a class that is not the one given."""
    others = distances.copy()
    others[np.arange(len(distances)), classes] = np.inf
    return others.min(axis=1)


def mean_distance_sum(distances: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """Return the mean of d⁺ + d⁻, 0 where no other class has prototypes."""
    sums = distances[np.arange(len(y)), y] + distances_of_others(distances, y)
    is_finite = np.isfinite(sums)
    shares = weights[is_finite] / weights.sum()
    return float(sums[is_finite] @ shares / shares.sum()) if is_finite.any() else 0.0


def prototype_probabilities(
    distances: np.ndarray, winners: np.ndarray, slope: float, scale: float
) -> np.ndarray:
    """Return g_c / Σ g of every sample and class, where g_c = 1/(1 + exp(β(d_c - d_o)/s)).

    d_c is the squared distance to class c, d_o the smallest one to another class, s the scale. A
    class that is infinitely far gets nothing. `winners` are the closest classes: theirs is the
    largest probability, even where rounding makes others equal.
    """
    rows = np.arange(len(distances))
    others = np.repeat(distances[rows, winners][:, np.newaxis], distances.shape[1], axis=1)
    others[rows, winners] = distances_of_others(distances, winners)
    with np.errstate(over="ignore"):
        margins = (distances - others) / max(scale, SMALLEST_SCALE)
        shares = 1 / (1 + np.exp(slope * margins))
    shares /= shares.sum(axis=1, keepdims=True)
    is_tied = shares.argmax(axis=1) != winners
    shares[is_tied, winners[is_tied]] = np.nextafter(shares[is_tied].max(axis=1), 1)
    return shares


def winners_of(compared_scores: Any) -> Any:
    """Return the index of each sample's class from its scores, those of numpy or torch."""
    if compared_scores.ndim == 1:
        return (compared_scores > 0) * 1
    return compared_scores.argmax(axis=1)
