"""The rules that learn from one sample at a time; each pass changes `prototypes` in place.

`visits` lists the rows of X in the order in which they are learnt.
"""

import numpy as np

from hyperlvq.kernels.compiled import compiled
from hyperlvq.kernels.glvq import cost_of_winners, winners


@compiled
def distances_to(x: np.ndarray, prototypes: np.ndarray, distances: np.ndarray) -> None:
    """Write the squared distances from one sample to all prototypes into `distances`."""
    for j in range(prototypes.shape[0]):
        w, total = prototypes[j], 0.0
        for n in range(x.shape[0]):
            difference = x[n] - w[n]
            total += difference * difference
        distances[j] = total


@compiled
def move(prototype: np.ndarray, x: np.ndarray, rate: float) -> None:
    """Move a prototype by rate·(x - w)."""
    for n in range(prototype.shape[0]):
        prototype[n] += rate * (x[n] - prototype[n])


@compiled
def perceptron_pass(
    X: np.ndarray,
    y: np.ndarray,
    visits: np.ndarray,
    prototypes: np.ndarray,
    prototype_classes: np.ndarray,
    learning_rate: float,
) -> int:
    """For each misclassified sample w⁺ += αx and w⁻ -= αx; return the number of mistakes.

    w⁺ is the closest prototype of the sample's class, w⁻ the closest of all.
    """
    mistakes = 0
    distances = np.empty(prototypes.shape[0])
    for m in visits:
        distances_to(X[m], prototypes, distances)
        own, other = winners(distances, y[m], prototype_classes)
        if other >= 0 and np.argmin(distances) != own:
            mistakes += 1
            for n in range(prototypes.shape[1]):
                prototypes[own, n] += learning_rate * X[m, n]
                prototypes[other, n] -= learning_rate * X[m, n]
    return mistakes


@compiled
def lvq1_pass(
    X: np.ndarray,
    y: np.ndarray,
    visits: np.ndarray,
    prototypes: np.ndarray,
    prototype_classes: np.ndarray,
    learning_rate: float,
) -> int:
    """Move each sample's winner by ±α(x - w), + if it has its class; return the mistakes."""
    mistakes = 0
    distances = np.empty(prototypes.shape[0])
    for m in visits:
        distances_to(X[m], prototypes, distances)
        winner = np.argmin(distances)
        if prototype_classes[winner] == y[m]:
            move(prototypes[winner], X[m], learning_rate)
        else:
            mistakes += 1
            move(prototypes[winner], X[m], -learning_rate)
    return mistakes


@compiled
def glvq_pass(
    X: np.ndarray,
    y: np.ndarray,
    visits: np.ndarray,
    prototypes: np.ndarray,
    prototype_classes: np.ndarray,
    slope: float,
    learning_rate: float,
) -> float:
    """Descend each sample's g(μ) in its two winners by α times its gradient; return Σ g(μ).

    Equations (6) and (7) of the paper, with ∂g/∂μ = β g (1 - g), whose factor β the paper omits.
    The gradient's factor of (x - w) is twice ∂g/∂d. A sample whose class stands alone teaches
    nothing and costs 0.
    """
    cost = 0.0
    distances = np.empty(prototypes.shape[0])
    for m in visits:
        distances_to(X[m], prototypes, distances)
        own, other = winners(distances, y[m], prototype_classes)
        if other >= 0:
            sample_cost, attraction, repulsion = cost_of_winners(
                distances[own], distances[other], slope
            )
            cost += sample_cost
            move(prototypes[own], X[m], 2 * learning_rate * attraction)
            move(prototypes[other], X[m], 2 * learning_rate * repulsion)
    return cost


@compiled
def mean_winner_sum(
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    prototypes: np.ndarray,
    prototype_classes: np.ndarray,
) -> float:
    """Return the weighted mean of d⁺ + d⁻ over the samples that have both winners, or 0."""
    total = 0.0
    total_weight = 0.0
    distances = np.empty(prototypes.shape[0])
    for m in range(X.shape[0]):
        distances_to(X[m], prototypes, distances)
        own, other = winners(distances, y[m], prototype_classes)
        if other >= 0:
            total += weights[m] * (distances[own] + distances[other])
            total_weight += weights[m]
    return total / total_weight if total_weight > 0 else 0.0
