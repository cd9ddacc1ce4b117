"""From features to activations, scores and winners: products by numpy, without compiled loops.

Integer activations are widened one block of rows at a time, while the block is in cache.
"""

import numpy as np

# Two megabytes of float32 at 1000 units: a block stays in cache between its two products.
BLOCK_ROWS = 512
PREDICTION_ROWS = 256


def activation_dtype(clip):
    """Return the integer type of activations in [-clip, clip]."""
    return np.int8 if clip <= np.iinfo(np.int8).max else np.int16


def project(X, weights, biases):
    """Return the activations of RVFL, h = 1/(1 + exp(-(Wx + b))), in the precision of X."""
    from scipy.special import expit  # imported for this layer only: it takes a while

    activations = X @ weights.T.astype(X.dtype, copy=False)
    activations += biases.astype(X.dtype, copy=False)
    return expit(activations, out=activations)


def row_slices(n_rows, block_rows=BLOCK_ROWS):
    """Return the slices of all rows, block by block."""
    return [slice(start, start + block_rows) for start in range(0, n_rows, block_rows)]


def row_blocks(X, dtype, block_rows=BLOCK_ROWS):
    """Yield (rows, X[rows] as dtype); a widened block is valid until the next one."""
    widened = None if X.dtype == dtype else np.empty((min(block_rows, len(X)), X.shape[1]), dtype)
    for rows in row_slices(len(X), block_rows):
        block = X[rows]
        if widened is not None:
            np.copyto(widened[: len(block)], block)
            block = widened[: len(block)]
        yield rows, block


def squared_distances(X, prototypes, sample_norms):
    """Return ‖x - w‖² = ‖x‖² - 2 x·w + ‖w‖² for every sample and prototype.

    In float64, so that a sample's distances depend on the samples beside it by roundings only.
    """
    distances = np.empty((len(X), len(prototypes)))
    for rows, block in row_blocks(X, np.float64, PREDICTION_ROWS):
        np.matmul(block, prototypes.T, out=distances[rows])
    distances *= -2
    distances += sample_norms[:, np.newaxis]
    distances += np.einsum("jn,jn->j", prototypes, prototypes, dtype=np.float64)
    return np.maximum(distances, 0, out=distances)


def closest_per_class(distances, prototype_classes, n_classes):
    """Return each sample's smallest distance to a prototype of each class (samples × classes).

    A class without prototypes is infinitely far.
    """
    closest = np.full((len(distances), n_classes), np.inf)
    for column, class_index in zip(distances.T, prototype_classes, strict=True):
        np.minimum(closest[:, class_index], column, out=closest[:, class_index])
    return closest


def prototype_scores(X, prototypes, prototype_classes, n_classes, sample_norms):
    """Return minus each sample's squared distance to the closest prototype of each class."""
    distances = squared_distances(X, prototypes, sample_norms)
    if not np.isfinite(distances.max(initial=0)):  # which no comparison would notice
        raise ValueError("the squared distances are not finite: features are too large")
    return -closest_per_class(distances, prototype_classes, n_classes)


def linear_scores(X, coefficients):
    """Return HWᵀ in float64 (samples × classes)."""
    scores = np.empty((len(X), len(coefficients)))
    for rows, block in row_blocks(X, np.float64):
        scores[rows] = block @ coefficients.T
    if not np.isfinite(scores).all():
        raise ValueError("the scores are not finite: features are too large")
    return scores


def compared(scores):
    """Return scores as `decision_function` does: of two classes, the second's less the first's."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def winners_of(compared_scores):
    """Return the index of each sample's class from its scores."""
    if compared_scores.ndim == 1:
        return (compared_scores > 0).astype(np.intp)
    return compared_scores.argmax(axis=1)
