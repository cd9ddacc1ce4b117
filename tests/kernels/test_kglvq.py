import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from hyperlvq.kernels import glvq, kglvq


@pytest.fixture
def problem(rng):
    """Return samples by class, coefficients of 2 and 1 prototypes, and the slices."""
    X = rng.normal(size=(12, 3))
    y = np.repeat([0, 1], [7, 5])
    coefficients = [rng.uniform(size=(2, 7)), rng.uniform(size=(1, 5))]
    return X, y, coefficients, kglvq.class_slices([7, 5]), kglvq.class_slices([2, 1])


def test_linear_kernel_gives_the_cost_of_glvq(problem, rng):
    X, y, coefficients, samples, prototypes = problem
    weights = rng.uniform(size=12)
    explicit = np.concatenate([g @ X[own] for g, own in zip(coefficients, samples, strict=True)])

    cost, _ = kglvq.cost_and_gradient(
        coefficients, linear_kernel(X), samples, prototypes, y, 3.0, weights
    )
    expected, _ = glvq.cost_and_gradient(explicit, np.array([0, 0, 1]), X, y, 3.0, weights)
    assert cost == pytest.approx(expected)


def test_gradient_agrees_with_finite_differences(problem, rng):
    X, y, coefficients, samples, prototypes = problem
    rest = (rbf_kernel(X, gamma=0.3), samples, prototypes, y, 3.0, rng.uniform(size=12))

    _, gradient = kglvq.cost_and_gradient(coefficients, *rest)
    step = 1e-6
    for matrix, expected in zip(coefficients, gradient, strict=True):
        for index in np.ndindex(matrix.shape):
            matrix[index] += step
            above, _ = kglvq.cost_and_gradient(coefficients, *rest)
            matrix[index] -= 2 * step
            below, _ = kglvq.cost_and_gradient(coefficients, *rest)
            matrix[index] += step
            assert (above - below) / (2 * step) == pytest.approx(expected[index], abs=1e-7)


def test_class_slices_follow_each_other():
    assert kglvq.class_slices(np.array([2, 3])) == [slice(0, 2), slice(2, 5)]
