"""GLVQ in the feature space of a kernel.

Prototype j is Σ_m γ_jm φ(x_m) over the training samples of its own class, so

    d(x, j) = k(x, x) - 2 Σ_m γ_jm k(x, x_m) + Σ_st γ_js γ_jt k(x_s, x_t).

Samples stand in the order of their classes: the samples and the prototypes of class c are the
slices `samples[c]` and `prototypes[c]`, and its coefficients the matrix `coefficients[c]` of
prototypes × samples.
"""

import numpy as np

from hyperlvq.kernels.glvq import pull_of_block


def class_slices(counts):
    """Return the slice of each class in an array ordered by class, from the class counts."""
    ends = np.cumsum(counts)
    return [
        slice(end - count, end)
        for end, count in zip(ends.tolist(), np.asarray(counts).tolist(), strict=True)
    ]


def cost_and_gradient(coefficients, kernel, samples, prototypes, y, slope, weights):
    """Return Σ_m w_m g(μ_m) and its gradient in every class's coefficients.

    One product with the kernel matrix gives all distances, one more the gradient; each class
    only touches its own columns of it.
    """
    products = np.column_stack(
        [kernel[:, own] @ gamma.T for own, gamma in zip(samples, coefficients, strict=True)]
    )
    norms = np.concatenate(
        [
            np.einsum("jm,mj->j", gamma, products[own, theirs])
            for own, theirs, gamma in zip(samples, prototypes, coefficients, strict=True)
        ]
    )
    prototype_classes = np.repeat(np.arange(len(coefficients)), [len(g) for g in coefficients])
    pull = products.copy()
    pull_sums = np.zeros(len(norms))
    cost = pull_of_block(
        pull, kernel.diagonal(), norms, y, prototype_classes, slope, weights, pull_sums
    )
    gradient = [
        2 * (pull_sums[theirs] * products[own, theirs]).T - 2 * pull[:, theirs].T @ kernel[:, own]
        for own, theirs in zip(samples, prototypes, strict=True)
    ]
    return cost, gradient
