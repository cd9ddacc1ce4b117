"""The plain numpy twins of compiled kernels: the oracles of their tests."""

import numpy as np


def squared_distances(X, prototypes):
    differences = X.astype(np.float64)[:, np.newaxis] - prototypes
    return (differences**2).sum(axis=2)


def cost_and_gradient(prototypes, prototype_classes, X, y, slope, weights):
    """Write the formulas of `hyperlvq.kernels.glvq` out over whole arrays in float64."""
    distances = squared_distances(X, prototypes)
    cost, pull = cost_and_pull(distances, prototype_classes, y, slope, weights)
    return cost, 2 * (pull.sum(axis=0)[:, np.newaxis] * prototypes - pull.T @ X)


def cost_and_pull(distances, prototype_classes, y, slope, weights):
    """Return Σ_m w_m g(μ_m) and w_m ∂g/∂d (samples × prototypes), 0 but for the two winners."""
    is_own = prototype_classes == y[:, np.newaxis]
    own = np.where(is_own, distances, np.inf).argmin(axis=1)
    other = np.where(is_own, np.inf, distances).argmin(axis=1)
    samples = np.arange(len(y))
    d_own, d_other = distances[samples, own], distances[samples, other]
    total = d_own + d_other
    cost = 1 / (1 + np.exp(-slope * (d_own - d_other) / total))
    steepness = weights * slope * cost * (1 - cost)
    pull = np.zeros_like(distances)
    pull[samples, own] = 2 * steepness * d_other / total**2
    pull[samples, other] = -2 * steepness * d_own / total**2
    return weights @ cost, pull


def kernel_cost_and_gradient(coefficients, kernel, y, prototype_classes, slope, weights):
    """Write the formulas of `hyperlvq.kernels.kglvq` out over whole arrays in float64."""
    products = kernel @ coefficients.T
    norms = np.einsum("jm,mj->j", coefficients, products)
    distances = np.maximum(kernel.diagonal()[:, np.newaxis] - 2 * products + norms, 0)
    cost, pull = cost_and_pull(distances, prototype_classes, y, slope, weights)
    is_own = prototype_classes[:, np.newaxis] == y
    gradient = 2 * (pull.sum(axis=0) * products - kernel.T @ pull).T
    return cost, np.where(is_own, gradient, 0)


def perceptron_pass(X, y, visits, prototypes, prototype_classes, learning_rate):
    mistakes = 0
    for m in visits:
        distances = squared_distances(X[m : m + 1], prototypes)[0]
        winner = distances.argmin()
        if prototype_classes[winner] != y[m]:
            own = np.where(prototype_classes == y[m], distances, np.inf).argmin()
            prototypes[own] += learning_rate * X[m]
            prototypes[winner] -= learning_rate * X[m]
            mistakes += 1
    return mistakes


def lvq1_pass(X, y, visits, prototypes, prototype_classes, learning_rate):
    mistakes = 0
    for m in visits:
        winner = squared_distances(X[m : m + 1], prototypes)[0].argmin()
        is_right = prototype_classes[winner] == y[m]
        step = learning_rate if is_right else -learning_rate
        prototypes[winner] += step * (X[m] - prototypes[winner])
        mistakes += not is_right
    return mistakes


def glvq_pass(X, y, visits, prototypes, prototype_classes, slope, learning_rate):
    total_cost = 0.0
    for m in visits:
        sample = slice(m, m + 1)
        cost, gradient = cost_and_gradient(
            prototypes, prototype_classes, X[sample], y[sample], slope, np.ones(1)
        )
        prototypes -= learning_rate * gradient
        total_cost += cost
    return total_cost


def lms_pass(Z, directions, change, drive, rate, shrinkage):
    for z, direction in zip(Z, directions, strict=True):
        change += rate * (drive - np.outer(change @ z, direction) - shrinkage * change)
