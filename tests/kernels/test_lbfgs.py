"""Our L-BFGS against scipy's, whose steps it takes."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from hyperlvq.kernels.lbfgs import Memory, minimise

WEIGHTS = np.random.default_rng(0).normal(size=(30, 20))
STIFFNESS = np.linspace(1, 1e3, 20)


def bowl(x):
    return float(STIFFNESS @ x**2) / 2, STIFFNESS * x


def valley(x):
    return rosen(x), rosen_der(x)


def waves(x):
    return float(np.sum(x**2 / 50 - np.cos(3 * x))), x / 25 + 3 * np.sin(3 * x)


def plateaus(x):
    """Return what is much like GLVQ's cost: a mean of sigmoids, flat far away."""
    steps = 1 / (1 + np.exp(-3 * (WEIGHTS @ x)))
    gradient = WEIGHTS.T @ (3 * steps * (1 - steps)) / len(WEIGHTS)
    return float(np.mean(steps) + 1e-3 * (x @ x)), gradient + 2e-3 * x


def random_waves(rng):
    heights, speeds = rng.normal(size=4), 10 ** rng.uniform(-1.5, 1, size=4)

    def waves(x):
        slope = (heights * speeds) @ np.cos(speeds * x)
        return float(heights @ np.sin(speeds * x)), np.array([slope])

    return waves


def random_kinks(rng):
    weights, places = rng.uniform(size=4), rng.normal(size=4)

    def kinks(x):
        return float(weights @ abs(x - places)), np.array([weights @ np.sign(x - places)])

    return kinks


class Noted:
    """A function that notes where it is called."""

    def __init__(self, function):
        self.function = function
        self.points = []

    def __call__(self, x):
        self.points.append(x.copy())
        return self.function(x)


def minimise_with_scipy(function, start, max_iter, tol):
    costs = []

    def note_cost(intermediate_result):
        costs.append(float(intermediate_result.fun))

    options = {"maxcor": 10, "maxiter": max_iter, "maxfun": 10**6, "gtol": tol}
    result = minimize(
        function, start, jac=True, method="L-BFGS-B", callback=note_cost, options=options
    )
    return result.x, result.nit, costs


@pytest.mark.parametrize("function", [bowl, valley, waves, plateaus])
@pytest.mark.parametrize("spread", [0.1, 1, 4])
def test_steps_are_those_of_scipy(function, spread):
    start = np.random.default_rng(7).normal(size=20) * spread
    ours, scipys = Noted(function), Noted(function)
    _, n_iter, costs, _ = minimise(ours, start, 25, 1e-8)
    _, expected_iter, expected_costs = minimise_with_scipy(scipys, start, 25, 1e-8)

    assert (n_iter, len(ours.points)) == (expected_iter, len(scipys.points))
    # Roundings grow from step to step, about tenfold each on the plateaus.
    np.testing.assert_allclose(costs[:14], expected_costs[:14], rtol=1e-5)
    np.testing.assert_allclose(costs, expected_costs, rtol=1e-2)


@pytest.mark.parametrize("draw", [random_waves, random_kinks])
def test_points_tried_along_a_line_are_those_of_scipy(rng, draw):
    for function in [draw(rng) for _ in range(1000)]:
        ours, scipys = Noted(function), Noted(function)
        minimise(ours, np.zeros(1), 1, 1e-8)
        minimise_with_scipy(scipys, np.zeros(1), 1, 1e-8)

        np.testing.assert_allclose(ours.points, scipys.points, rtol=1e-6, atol=1e-9)


def test_point_that_a_search_comes_back_to_is_not_evaluated_again():
    function = Noted(plateaus)
    minimise(function, np.random.default_rng(185).normal(size=20) * 4, 6, 1e-8)

    assert len({point.tobytes() for point in function.points}) == len(function.points) == 18


@pytest.mark.parametrize("seed", range(20))
def test_minimum_is_as_low_as_that_of_scipy(seed):
    start = np.random.default_rng(seed).normal(size=10)
    costs = minimise(valley, start, 1000, 1e-5).costs

    expected = minimise_with_scipy(valley, start, 1000, 1e-5)[2]
    assert costs[-1] == pytest.approx(expected[-1], abs=1e-6)


def test_gradient_as_small_as_asked_for_ends_the_search():
    start = np.random.default_rng(1).normal(size=20)
    n_iter = minimise(bowl, start, 1000, 1e-8).n_iter
    found, n_rough, *_ = minimise(bowl, start, 1000, 1.0)

    assert n_rough == minimise_with_scipy(bowl, start, 1000, 1.0)[1] < n_iter
    assert 1e-8 < np.abs(bowl(found)[1]).max() <= 1.0


def test_without_a_tolerance_a_search_ends_where_ten_iterations_lower_the_cost_by_a_thousandth():
    start = np.random.default_rng(1).normal(size=20)
    whole = minimise(plateaus, start, 1000, 0.0).costs

    _, n_iter, costs, has_converged = minimise(plateaus, start, 1000, None)

    falls = [
        1 - whole[k - 1] / (whole[k - 11] if k > 10 else plateaus(start)[0])
        for k in range(10, len(whole), 10)
    ]
    expected = 10 * (1 + next(k for k, fall in enumerate(falls) if fall < 1e-3))
    assert 10 < n_iter == expected < len(whole)
    assert costs == whole[:n_iter]
    assert has_converged


def test_cost_that_is_infinite_past_a_wall_is_minimised_before_it():
    def walled(x):
        cost, gradient = valley(x)
        return (np.inf, gradient) if x[0] > 0.9 else (cost, gradient)

    found, _, costs, _ = minimise(walled, np.array([-1.2, 1.0]), 100, 1e-8)

    assert found[0] <= 0.9
    assert costs[-1] == walled(found)[0] < 0.1 * walled(np.array([-1.2, 1.0]))[0]


def test_start_that_is_a_minimum_counts_as_one_iteration():
    minimiser, *rest = minimise(bowl, np.zeros(20), max_iter=100, tol=1e-8)

    assert rest == [1, [0.0], True]
    assert (minimiser == 0).all()


def test_limit_of_iterations_ends_a_search_that_has_not_converged():
    start = np.array([-1.2, 1.0])
    n_needed = minimise(valley, start, max_iter=1000, tol=1e-5).n_iter
    for max_iter, has_converged in ((3, False), (n_needed - 1, False), (n_needed, True)):
        found = minimise(valley, start, max_iter, tol=1e-5)

        assert found.n_iter == len(found.costs) == max_iter
        assert found.has_converged == has_converged


@pytest.mark.parametrize("cost", [np.nan, np.inf])
def test_start_without_a_cost_is_named(cost):
    with pytest.raises(ValueError, match="the cost is not a finite number"):
        minimise(lambda x: (cost, x), np.ones(3), max_iter=100, tol=1e-8)


def test_cost_that_rises_whatever_the_step_ends_the_search():
    def wrong(x):
        return float(x @ x), -2 * x

    function = Noted(wrong)
    minimiser, n_iter, costs, _ = minimise(function, np.ones(3), max_iter=100, tol=1e-8)

    assert (minimiser == 1).all()
    assert (n_iter, costs, len(function.points)) == (1, [3.0], 1 + 20)


class Liar:
    """The valley, of which twenty calls in a row say that it rises where it falls."""

    def __init__(self):
        self.costs = []

    def __call__(self, x):
        cost, gradient = valley(x)
        lies = 8 <= len(self.costs) < 28
        self.costs.append(2 * min(self.costs[:8]) - cost if lies else cost)
        return self.costs[-1], gradient


def test_line_without_a_good_step_is_followed_by_the_steepest_way():
    start = np.array([-1.2, 1.0, 0.5])
    ours, scipys = Liar(), Liar()
    found, n_iter, *_ = minimise(ours, start, 500, 1e-6)
    expected, expected_iter, _ = minimise_with_scipy(scipys, start, 500, 1e-6)

    np.testing.assert_allclose(ours.costs[:35], scipys.costs[:35], rtol=1e-6)
    assert n_iter == expected_iter
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_pair_without_curvature_is_not_learnt():
    memory = Memory(2)
    memory.learn(np.array([1.0, 0]), 1.0, np.array([-1.0, 0]), slopes=(-1.0, -2.0))

    assert memory.n_learnt == 0
    np.testing.assert_array_equal(memory.direction(np.array([-2.0, 0])), [2.0, 0])


@pytest.mark.parametrize("n_learnt", [1, 3, 10, 13])
def test_direction_is_that_of_the_bfgs_matrix(n_learnt):
    rng = np.random.default_rng(3)
    n_unknowns, memory, pairs = 6, Memory(6), []
    for _ in range(n_learnt):
        step = rng.normal(size=n_unknowns)
        change = step * np.arange(1, 7) + 0.1 * rng.normal(size=n_unknowns)
        start_gradient = rng.normal(size=n_unknowns)
        slopes = start_gradient @ step / 2, (start_gradient + change) @ step / 2
        memory.learn(step / 2, 2.0, change, slopes)
        pairs.append((step, change))
    gradient = rng.normal(size=n_unknowns)

    step, change = pairs[-1]
    inverse = np.eye(n_unknowns) * (step @ change) / (change @ change)
    for step, change in pairs[-10:]:
        left = np.eye(n_unknowns) - np.outer(step, change) / (step @ change)
        inverse = left @ inverse @ left.T + np.outer(step, step) / (step @ change)
    np.testing.assert_allclose(memory.direction(gradient), -inverse @ gradient)
