import numpy as np
import plain
import pytest
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from hyperlvq.kernels import glvq, kglvq

PROTOTYPE_CLASSES = np.array([0, 0, 1])


@pytest.fixture
def problem(rng):
    """Return samples by class, and coefficients of 2 and 1 prototypes."""
    X = rng.normal(size=(12, 3))
    y = np.repeat([0, 1], [7, 5])
    coefficients = rng.uniform(size=(3, 12)) * (PROTOTYPE_CLASSES[:, np.newaxis] == y)
    return X, y, coefficients


def test_linear_kernel_gives_the_cost_of_glvq(problem, rng):
    X, y, coefficients = problem
    weights = rng.uniform(size=12)

    cost, _ = kglvq.cost_and_gradient(
        coefficients, linear_kernel(X), y, PROTOTYPE_CLASSES, 3.0, weights
    )
    expected, _ = glvq.cost_and_gradient(coefficients @ X, PROTOTYPE_CLASSES, X, y, 3.0, weights)
    assert cost == pytest.approx(expected)


def test_gradient_agrees_with_finite_differences(problem, rng):
    X, y, coefficients = problem
    rest = (rbf_kernel(X, gamma=0.3), y, PROTOTYPE_CLASSES, 3.0, rng.uniform(size=12))

    _, gradient = kglvq.cost_and_gradient(coefficients, *rest)
    step = 1e-6
    for index in zip(*np.nonzero(coefficients), strict=True):
        coefficients[index] += step
        above, _ = kglvq.cost_and_gradient(coefficients, *rest)
        coefficients[index] -= 2 * step
        below, _ = kglvq.cost_and_gradient(coefficients, *rest)
        coefficients[index] += step
        assert (above - below) / (2 * step) == pytest.approx(gradient[index], abs=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_and_plain_agree(rng, dtype):
    y = np.sort(rng.integers(3, size=700))  # two blocks of rows
    prototype_classes = np.array([0, 1, 1, 1, 2])
    kernel = rbf_kernel(rng.normal(size=(700, 4)) + y[:, np.newaxis]).astype(dtype)
    is_own = prototype_classes[:, np.newaxis] == y
    coefficients = is_own * rng.uniform(size=is_own.shape) / 200
    rest = (y, prototype_classes, 5.0, rng.uniform(size=700))

    cost, gradient = kglvq.cost_and_gradient(coefficients, kernel, *rest)
    plain_cost, plain_gradient = plain.kernel_cost_and_gradient(
        coefficients, kernel.astype(np.float64), *rest
    )
    assert cost == pytest.approx(plain_cost, rel=1e-12)
    np.testing.assert_allclose(gradient[is_own], plain_gradient[is_own], atol=1e-10)
    assert not gradient[~is_own].any()


def test_samples_of_a_class_are_a_range():
    _, first, last = kglvq.sample_ranges(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1]))

    assert first.tolist() == [0, 2, 2]
    assert last.tolist() == [2, 5, 5]
