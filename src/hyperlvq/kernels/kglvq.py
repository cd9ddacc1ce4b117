"""GLVQ in the feature space of a kernel.

Prototype j is Σ_m γ_jm φ(x_m) over the training samples of its own class, so

    d(x, j) = k(x, x) - 2 Σ_m γ_jm k(x, x_m) + Σ_st γ_js γ_jt k(x_s, x_t).

Samples stand in the order of their classes: those of prototype j's class are
`first_samples[j]` to `last_samples[j]`, and γ_jm is 0 for all others.
"""

from typing import Any

import numpy as np

from hyperlvq.kernels.compiled import compiled
from hyperlvq.kernels.glvq import cost_of_winners, winners
from hyperlvq.kernels.scores import row_slices


def sample_ranges(
    y: np.ndarray, prototype_classes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each prototype's class, and the first and last + 1 of its samples, sorted by y."""
    counts = np.bincount(y)
    last_samples = np.cumsum(counts)[prototype_classes]
    return prototype_classes, last_samples - counts[prototype_classes], last_samples


@compiled
def _dot(similarities, coefficients):
    """Return Σ k γ, summed in float64."""
    total = 0.0
    for s in range(similarities.shape[0]):
        total += np.float64(similarities[s]) * coefficients[s]
    return total


@compiled
def _add_scaled(similarities, factor, sums):
    for s in range(similarities.shape[0]):
        sums[s] += factor * similarities[s]


@compiled
def _own_products(kernel, first_row, y, coefficients, ranges):
    """Return Σ_s γ_js k(x_m, x_s) of some rows, for prototypes of the sample's own class alone."""
    prototype_classes, first, last = ranges
    products = np.zeros((kernel.shape[0], len(prototype_classes)))
    for m in range(kernel.shape[0]):
        for j in range(len(prototype_classes)):
            if prototype_classes[j] == y[first_row + m]:
                own = slice(first[j], last[j])
                products[m, j] = _dot(kernel[m, own], coefficients[j, own])
    return products


@compiled
def _pull_rows(kernel, first_row, y, coefficients, ranges, products, norms, slope, weights):
    """Return the cost of some rows, the sums over them of w_m ∂g/∂d, and of w_m ∂g/∂d k(x_m, x_s).

    `products` are the rows' own products. A row of the kernel matrix is read once for the distances
    and, while in cache, again for the pull of its two winners.
    """
    prototype_classes, first, last = ranges
    n_prototypes = len(prototype_classes)
    cost, pull_sums = 0.0, np.zeros(n_prototypes)
    pulled = np.zeros(coefficients.shape)
    distances = np.empty(n_prototypes)
    for m in range(kernel.shape[0]):
        sample = first_row + m
        for j in range(n_prototypes):
            product = products[m, j]
            if prototype_classes[j] != y[sample]:
                theirs = slice(first[j], last[j])
                product = _dot(kernel[m, theirs], coefficients[j, theirs])
            distances[j] = max(kernel[m, sample] - 2.0 * product + norms[j], 0.0)
        own, other = winners(distances, y[sample], prototype_classes)
        sample_cost, attraction, repulsion = cost_of_winners(
            distances[own], distances[other], slope
        )
        cost += weights[sample] * sample_cost
        for winner, pull in ((own, attraction), (other, repulsion)):
            weighted = weights[sample] * pull
            pull_sums[winner] += weighted
            theirs = slice(first[winner], last[winner])
            _add_scaled(kernel[m, theirs], weighted, pulled[winner, theirs])
    return cost, pull_sums, pulled


def multiply_own(
    coefficients: np.ndarray,
    kernel: np.ndarray,
    y: np.ndarray,
    prototype_classes: np.ndarray,
    map_blocks: Any = map,
) -> np.ndarray:
    """Return Σ_s γ_js k(x_m, x_s) (samples × prototypes), 0 for prototypes of other classes."""
    ranges = sample_ranges(y, prototype_classes)

    def multiply(rows):
        return _own_products(kernel[rows], rows.start, y, coefficients, ranges)

    return np.concatenate(list(map_blocks(multiply, row_slices(len(y)))))


def squared_norms(coefficients: np.ndarray, own_products: np.ndarray) -> np.ndarray:
    """Return Σ_st γ_js γ_jt k(x_s, x_t) of every prototype."""
    return np.einsum("jm,mj->j", coefficients, own_products)


def cost_and_gradient(
    coefficients: np.ndarray,
    kernel: np.ndarray,
    y: np.ndarray,
    prototype_classes: np.ndarray,
    slope: float,
    weights: np.ndarray,
    map_blocks: Any = map,
) -> tuple[float, np.ndarray]:
    """Return Σ_m w_m g(μ_m) and its gradient in the coefficients γ (prototypes × samples).

    The kernel matrix may be float32; sums are in float64. `map_blocks` may use threads, results
    are summed in the order of the blocks.
    """
    products = multiply_own(coefficients, kernel, y, prototype_classes, map_blocks)
    norms = squared_norms(coefficients, products)
    ranges = sample_ranges(y, prototype_classes)

    def pull(rows):
        block = kernel[rows], rows.start, y, coefficients, ranges
        return _pull_rows(*block, products[rows], norms, slope, weights)

    total_cost, total_pulls = 0.0, np.zeros(len(norms))
    gradient = np.zeros(coefficients.shape)
    for cost, pull_sums, pulled in map_blocks(pull, row_slices(len(y))):
        total_cost += cost
        total_pulls += pull_sums
        gradient -= pulled
    gradient += total_pulls[:, np.newaxis] * products.T
    return total_cost, 2 * gradient
