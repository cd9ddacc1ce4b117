"""The cost of generalized learning vector quantization and its gradient.

For a sample, d⁺ (d⁻) is the squared distance to the closest prototype of its own (of any
other) class; μ = (d⁺ - d⁻)/(d⁺ + d⁻) and the cost is g(μ) = 1/(1 + exp(-βμ)). With t = d⁺ + d⁻
and s = dg/dμ = β g (1 - g),

    ∂g/∂d⁺ = s·2d⁻/t²,    ∂g/∂d⁻ = -s·2d⁺/t²,    ∂d/∂w = -2 (x - w).
"""

import math
from typing import Any

import numpy as np

from hyperlvq.kernels.compiled import compiled
from hyperlvq.kernels.distances import squared_norms
from hyperlvq.kernels.scores import row_slices

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
def pull_of_block(
    products: np.ndarray,
    sample_norms: np.ndarray,
    prototype_norms: np.ndarray,
    y: np.ndarray,
    prototype_classes: np.ndarray,
    slope: float,
    weights: np.ndarray,
    pull_sums: np.ndarray,
) -> float:
    """Replace x·w by w_m ∂g/∂d, add its column sums to `pull_sums`, return the block's cost.

    `products` is samples × prototypes; ∂g/∂d is zero but for each sample's two winners.
    """
    cost = 0.0
    distances = np.empty(products.shape[1])
    for m in range(products.shape[0]):
        for j in range(products.shape[1]):
            distance = sample_norms[m] - 2.0 * products[m, j] + prototype_norms[j]
            distances[j] = max(distance, 0.0)
            products[m, j] = 0.0
        own, other = winners(distances, y[m], prototype_classes)
        sample_cost, attraction, repulsion = cost_of_winners(
            distances[own], distances[other], slope
        )
        cost += weights[m] * sample_cost
        products[m, own] = weights[m] * attraction
        products[m, other] = weights[m] * repulsion
        pull_sums[own] += products[m, own]
        pull_sums[other] += products[m, other]
    return cost


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

    One block of rows serves both products, x·w and Σ_m ∂g/∂d x_m, so X is gone through once.
    Products run in float32 where X holds integers of one byte, small enough to lose nothing that
    matters; all else, and features that may lie far from 0, in float64.
    """
    if sample_norms is None:
        sample_norms = squared_norms(X)
    dtype = np.float32 if X.dtype.kind in "iu" and X.itemsize == 1 else np.float64
    narrow_prototypes = prototypes.astype(dtype, copy=False)
    prototype_norms = squared_norms(narrow_prototypes)

    def evaluate(rows):
        block = X[rows].astype(dtype, copy=False)
        products = block @ narrow_prototypes.T
        pull_sums = np.zeros(len(prototypes))
        norms = sample_norms[rows], prototype_norms
        classes = y[rows], prototype_classes
        cost = pull_of_block(products, *norms, *classes, slope, weights[rows], pull_sums)
        return cost, pull_sums, products.T @ block

    total_cost, total_pulls, pulled = 0.0, np.zeros(len(prototypes)), np.zeros(prototypes.shape)
    for cost, pull_sums, block_pulled in map_blocks(evaluate, row_slices(len(X))):
        total_cost += cost
        total_pulls += pull_sums
        pulled += block_pulled
    return total_cost, 2 * (total_pulls[:, np.newaxis] * prototypes - pulled)
