"""Squared lengths and distances of samples, scores of classes, and class sums, compiled.

`linear_scores` and `prototype_scores` are the twins of those in `hyperlvq.kernels.scores`, for
many rows. A row's scores depend neither on the rows beside it nor on the number of threads.
"""

import math

import numpy as np

from hyperlvq.kernels.compiled import compiled, compiled_as_written
from hyperlvq.kernels.scores import check_finite, exactly_summable, squared_lengths
from hyperlvq.kernels.threads import share_rows

# Rows that stay in cache while all prototypes meet them.
CACHED_ROWS = 64
# Weights that meet two rows in one loop, so that a number is loaded once for several products.
WEIGHTS_AT_ONCE = 5
# Numbers of single precision in one step of a compiled loop: four vectors of 512 bits.
COLUMNS_AT_ONCE = 64


@compiled
def squared_norms(X: np.ndarray) -> np.ndarray:
    """Return ‖x‖² of every row, summed in float64."""
    norms = np.empty(X.shape[0])
    for m in range(X.shape[0]):
        row, total = X[m], 0.0
        for n in range(row.shape[0]):
            total += np.float64(row[n]) * np.float64(row[n])
        norms[m] = total
    return norms


def linear_scores(X: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return XWᵀ in float64 (samples × classes)."""
    weights = padded_weights(exactly_summable(coefficients, X.dtype))
    scores = np.empty((len(X), len(weights)))
    share_rows(lambda rows: multiply(X[rows], weights, scores[rows]), len(X), weights.size)
    check_finite(scores, "scores")
    return scores[:, : len(coefficients)]


def prototype_scores(
    X: np.ndarray, prototypes: np.ndarray, prototype_classes: np.ndarray, n_classes: int
) -> np.ndarray:
    """Return minus each sample's squared distance to the closest prototype of each class."""
    exact = exactly_summable(prototypes, X.dtype)
    weights, lengths = padded_weights(exact), squared_lengths(exact)
    scores, largest = np.full((len(X), n_classes), -np.inf), np.empty(len(X))

    def score(rows):
        _score_prototypes(X[rows], weights, lengths, prototype_classes, scores[rows], largest[rows])

    share_rows(score, len(X), weights.size)
    check_finite(largest, "squared distances")
    return scores


def padded_weights(weights: np.ndarray) -> np.ndarray:
    """Return weights with rows of zeros, as many as `multiply` takes at once.

    In single precision there are columns of zeros, too: vectors hold more of such numbers, and
    those left over at the end of a row are added one by one.
    """
    n_rows, n_columns = weights.shape
    n_columns += -n_columns % COLUMNS_AT_ONCE if weights.dtype == np.float32 else 0
    padded = np.zeros((n_rows + -n_rows % WEIGHTS_AT_ONCE, n_columns), weights.dtype)
    padded[:n_rows, : weights.shape[1]] = weights
    return padded


@compiled
def multiply(X: np.ndarray, weights: np.ndarray, products: np.ndarray) -> None:
    """Write x·w of every row of X and of the weights, whose number is a multiple of five.

    Sums are of the type of the weights. The last of an odd number of rows is its own neighbour, so
    that all go through the same loop.
    """
    number = weights.dtype.type
    for j in range(0, weights.shape[0], WEIGHTS_AT_ONCE):
        a, b, c, d, e = weights[j], weights[j + 1], weights[j + 2], weights[j + 3], weights[j + 4]
        for m in range(0, X.shape[0], 2):
            next_m = min(m + 1, X.shape[0] - 1)
            x, z = X[m], X[next_m]
            xa = xb = xc = xd = xe = za = zb = zc = zd = ze = number(0)
            for n in range(x.shape[0]):
                first, second = number(x[n]), number(z[n])
                xa += first * a[n]
                xb += first * b[n]
                xc += first * c[n]
                xd += first * d[n]
                xe += first * e[n]
                za += second * a[n]
                zb += second * b[n]
                zc += second * c[n]
                zd += second * d[n]
                ze += second * e[n]
            for row, sums in ((m, (xa, xb, xc, xd, xe)), (next_m, (za, zb, zc, zd, ze))):
                for k in range(WEIGHTS_AT_ONCE):
                    products[row, j + k] = sums[k]


@compiled
def _score_prototypes(X, weights, lengths, prototype_classes, scores, largest):
    """Write the scores of every row, and its largest squared distance."""
    products = np.empty((CACHED_ROWS, weights.shape[0]))
    for start in range(0, X.shape[0], CACHED_ROWS):
        block = X[start : start + CACHED_ROWS]
        multiply(block, weights, products)
        norms = squared_norms(block)
        for m in range(block.shape[0]):
            largest[start + m] = _score_row(
                products[m], norms[m], lengths, prototype_classes, scores[start + m]
            )


@compiled_as_written
def _score_row(products, norm, lengths, prototype_classes, scores):
    """Write the scores of one row, return its largest ‖x‖² - 2 x·w + ‖w‖²."""
    largest = 0.0
    for j in range(lengths.shape[0]):
        distance = norm - 2.0 * products[j] + lengths[j]
        if not (distance <= largest or math.isnan(largest)):  # NaN stays
            largest = distance
        score = -max(distance, 0.0)
        if score > scores[prototype_classes[j]]:
            scores[prototype_classes[j]] = score
    return largest


@compiled
def class_sums(X: np.ndarray, y: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the weighted sum of each class's samples (classes × units, float64)."""
    sums = np.zeros((n_classes, X.shape[1]))
    for m in range(X.shape[0]):
        for n in range(X.shape[1]):
            sums[y[m], n] += weights[m] * X[m, n]
    return sums
