"""The cost of generalized learning vector quantization and its gradient.

For a sample, d⁺ (d⁻) is the squared distance to the closest prototype of its own (of any
other) class; μ = (d⁺ - d⁻)/(d⁺ + d⁻) and the cost is g(μ) = 1/(1 + exp(-βμ)). With t = d⁺ + d⁻
and s = dg/dμ = β g (1 - g),

    ∂g/∂d⁺ = s·2d⁻/t²,    ∂g/∂d⁻ = -s·2d⁺/t²,    ∂d/∂w = -2 (x - w).

The paper states dg/dμ = g (1 - g), without the slope β, below its equations (6) and (7). The
derivative has the factor, as finite differences in the tests confirm.
"""

import math
from typing import Any

import numpy as np

from hyperlvq.kernels.compiled import compiled
from hyperlvq.kernels.distances import CACHED_ROWS, multiply, padded_weights, squared_norms
from hyperlvq.kernels.scores import BLOCK_ROWS, row_slices

# Of many samples blocks are larger, as handing one to a thread takes a while.
FEWEST_BLOCKS, LARGEST_BLOCK_ROWS = 8, 2048
# Below this sum of distances a sample sits on both its winners: μ has no direction there.
SMALLEST_SUM = 1e-150


@compiled
def sigmoid(z: float) -> float:
    """Return 1/(1 + exp(-z)) without overflow."""
    if z >= 0:
        return 1.0 / (1.0 + math.exp(-z))
    exponential = math.exp(z)
    return exponential / (1.0 + exponential)


@compiled
def cost_of_winners(own: float, other: float, slope: float) -> tuple[float, float, float]:
    """Return g(μ), ∂g/∂d⁺ and ∂g/∂d⁻ from d⁺ and d⁻."""
    total = own + other
    if total < SMALLEST_SUM:
        return 0.5, 0.0, 0.0
    cost = sigmoid(slope * (own - other) / total)
    steepness = slope * cost * (1.0 - cost)
    return cost, 2 * steepness * (other / total) / total, -2 * steepness * (own / total) / total


@compiled
def winners(
    distances: np.ndarray, own_class: int, prototype_classes: np.ndarray
) -> tuple[int, int]:
    """Return the closest prototype of the own and of any other class, -1 where there is none."""
    own = -1
    other = -1
    for j in range(distances.shape[0]):
        if prototype_classes[j] == own_class:
            if own < 0 or distances[j] < distances[own]:
                own = j
        elif other < 0 or distances[j] < distances[other]:
            other = j
    return own, other


@compiled
def _copy_rows(X, copies):
    """Copy rows to the first columns of others; as one assignment it would not be vectorised."""
    for m in range(X.shape[0]):
        row, copy = X[m], copies[m]
        for n in range(row.shape[0]):
            copy[n] = row[n]


@compiled
def _pull_of_block(X, y, sample_norms, weights, prototypes, slope):
    """Return the cost of a block, Σ_m w_m ∂g/∂d and Σ_m w_m ∂g/∂d x_m.

    ∂g/∂d is zero but for each sample's two winners. `prototypes` are padded as `multiply` takes
    them, of the type that products are computed in, with their squared norms and classes.
    """
    padded, prototype_norms, prototype_classes = prototypes
    number = padded.dtype.type
    cost, n_prototypes = 0.0, prototype_norms.shape[0]
    pull_sums = np.zeros(n_prototypes)
    pulled = np.zeros((n_prototypes, padded.shape[1]), padded.dtype)
    distances = np.empty(n_prototypes)
    products = np.empty((CACHED_ROWS, padded.shape[0]), padded.dtype)
    cached = np.zeros((CACHED_ROWS, padded.shape[1]), X.dtype)  # as wide as the prototypes
    # which of the cached rows pull at a prototype, and how much
    n_pulls = np.zeros(n_prototypes, np.intp)
    pulling = np.empty((n_prototypes, CACHED_ROWS), np.intp)
    pulls = np.empty((n_prototypes, CACHED_ROWS), padded.dtype)
    for start in range(0, X.shape[0], CACHED_ROWS):
        n_cached = min(CACHED_ROWS, X.shape[0] - start)
        _copy_rows(X[start : start + n_cached], cached)
        multiply(cached[:n_cached], padded, products)
        for k in range(n_cached):
            m = start + k
            for j in range(n_prototypes):
                distance = sample_norms[m] - 2.0 * products[k, j] + prototype_norms[j]
                distances[j] = max(distance, 0.0)
            own, other = winners(distances, y[m], prototype_classes)
            sample_cost, attraction, repulsion = cost_of_winners(
                distances[own], distances[other], slope
            )
            cost += weights[m] * sample_cost
            for winner, change in ((own, attraction), (other, repulsion)):
                pull = number(weights[m] * change)
                pull_sums[winner] += pull
                pulling[winner, n_pulls[winner]], pulls[winner, n_pulls[winner]] = k, pull
                n_pulls[winner] += 1
        for j in range(n_prototypes):
            _add_rows(cached, pulling[j, : n_pulls[j]], pulls[j], pulled[j])
            n_pulls[j] = 0
    return cost, pull_sums, pulled


@compiled
def _add_rows(X, rows, weights, total):
    """Add some rows, times their weights, to a total.

    Four at once, so that the total is read and written less often.
    """
    n_in_fours = rows.shape[0] - rows.shape[0] % 4
    for i in range(0, n_in_fours, 4):
        a, b, c, d = X[rows[i]], X[rows[i + 1]], X[rows[i + 2]], X[rows[i + 3]]
        p, q, r, s = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for n in range(total.shape[0]):
            total[n] += p * a[n] + q * b[n] + r * c[n] + s * d[n]
    for i in range(n_in_fours, rows.shape[0]):
        a, p = X[rows[i]], weights[i]
        for n in range(total.shape[0]):
            total[n] += p * a[n]


def cost_and_gradient(
    prototypes: np.ndarray,
    prototype_classes: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    slope: float,
    weights: np.ndarray,
    sample_norms: np.ndarray | None = None,
    map_blocks: Any = map,
) -> tuple[float, np.ndarray]:
    """Return Σ_m w_m g(μ_m) and its gradient in the prototypes (float64).

    X is samples × units, `prototypes` is prototypes × units, of at least two classes and one
    of each class in y. `sample_norms` are `squared_norms(X)`, for those who call often;
    `map_blocks` may use threads, results are summed in the order of the blocks.

    One block of rows serves both x·w and Σ_m ∂g/∂d x_m, so X is gone through once.
    Products run in float32 where X holds integers of one byte, small enough to lose nothing that
    matters; all else, and features that may lie far from 0, in float64.
    """
    if sample_norms is None:
        sample_norms = squared_norms(X)
    dtype = np.float32 if X.dtype.kind in "iu" and X.itemsize == 1 else np.float64
    narrow = prototypes.astype(dtype, copy=False)
    fixed = padded_weights(narrow), squared_norms(narrow), prototype_classes

    def evaluate(rows):
        samples = X[rows], y[rows], sample_norms[rows], weights[rows]
        return _pull_of_block(*samples, fixed, slope)

    total_cost, total_pulls = 0.0, np.zeros(len(prototypes))
    total_pulled = np.zeros(prototypes.shape)
    block_rows = min(max(len(X) // FEWEST_BLOCKS, BLOCK_ROWS), LARGEST_BLOCK_ROWS)
    for cost, pull_sums, pulled in map_blocks(evaluate, row_slices(len(X), block_rows)):
        total_cost += cost
        total_pulls += pull_sums
        total_pulled += pulled[:, : X.shape[1]]
    return total_cost, 2 * (total_pulls[:, np.newaxis] * prototypes - total_pulled)
