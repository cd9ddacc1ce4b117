"""Squared lengths and distances of samples, and class sums: what is compiled of them."""

import numpy as np

from hyperlvq.kernels import scores
from hyperlvq.kernels.compiled import compiled


@compiled
def squared_norms(X):
    """Return ‖x‖² of every row, summed in float64."""
    norms = np.empty(X.shape[0])
    for m in range(X.shape[0]):
        total = 0.0
        for n in range(X.shape[1]):
            total += np.float64(X[m, n]) * np.float64(X[m, n])
        norms[m] = total
    return norms


@compiled
def squared_distance(x, w):
    """Return ‖x - w‖², summed in float64."""
    total = 0.0
    for n in range(x.shape[0]):
        difference = x[n] - w[n]
        total += difference * difference
    return total


def squared_distances(X, prototypes):
    """Return ‖x - w‖² for every sample and prototype, as `scores.squared_distances` does."""
    return scores.squared_distances(X, prototypes, squared_norms(X))


@compiled
def class_sums(X, y, weights, n_classes):
    """Return the weighted sum of each class's samples (classes × units, float64)."""
    sums = np.zeros((n_classes, X.shape[1]))
    for m in range(X.shape[0]):
        for n in range(X.shape[1]):
            sums[y[m], n] += weights[m] * X[m, n]
    return sums
