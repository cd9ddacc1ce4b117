import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from hyperlvq.readouts.lbfgs import minimise


def bowl(x):
    return float(x @ x), 2 * x


def test_minimum_is_found_and_the_cost_noted_after_each_iteration():
    minimiser, n_iter, costs = minimise(bowl, np.array([3.0, -4.0]), max_iter=100, tol=1e-8)

    np.testing.assert_allclose(minimiser, 0, atol=1e-7)
    assert len(costs) == n_iter
    assert costs[-1] < 1e-12


def test_iteration_limit_warns():
    def valley(x):
        a, b = 1 - x[0], x[1] - x[0] ** 2
        return a**2 + 100 * b**2, np.array([-2 * a - 400 * x[0] * b, 200 * b])

    with pytest.warns(ConvergenceWarning, match="limit of 3 iterations"):
        _, n_iter, _ = minimise(valley, np.array([-1.2, 1.0]), max_iter=3, tol=1e-8)
    assert n_iter == 3
