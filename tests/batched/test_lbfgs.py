from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest

from hyperlvq.batched.lbfgs import minimise, n_pieces
from hyperlvq.kernels import lbfgs as one_by_one


@dataclass(frozen=True)
class Problems:
    """The costs and gradients of a function of positions and each problem's settings."""

    function: Callable
    settings: tuple[np.ndarray, ...]  # each groups × problems × ...
    backend: object

    @property
    def shape(self):
        return self.settings[0].shape[:2]

    def select(self, members):
        groups = np.arange(len(members))[:, np.newaxis]
        return replace(self, settings=tuple(part[groups, members] for part in self.settings))

    def __call__(self, positions):
        settings = (part.reshape(-1, *part.shape[2:]) for part in self.settings)
        return self.function(positions, *settings, self.backend)


def quadratic(positions, curvatures, targets, backend):
    """Return ½ Σ c (x - t)² for curvatures c and targets t."""
    ways = positions - backend.array(targets)
    gradients = backend.array(curvatures) * ways
    return (gradients * ways).sum(axis=1) / 2, gradients


def rosenbrock(positions, steepness, backend):
    """Return (1 - x)² + s (y - x²)² for a steepness s."""
    (x, y), steepness = positions.T, backend.array(steepness)
    across = y - x**2
    along = 2 * (x - 1) - 4 * steepness * x * across
    gradient = backend.xp.stack([along, 2 * steepness * across], axis=1)
    return (1 - x) ** 2 + steepness * across**2, gradient


def high_valley(positions, steepness, backend):
    """Return a cost below 1 that ends at a height."""
    cost, gradient = rosenbrock(positions, steepness, backend)
    return (cost + 1000) / 1e5, gradient / 1e5


def curves_one_by_one(objective, start, max_iter, tol, backend):
    """Return the cost after each iteration of scipy, for every problem of a group."""

    def evaluate(position, alone):
        cost, gradient = alone(backend.array(position[np.newaxis]))
        return float(cost[0]), backend.numpy(gradient)[0]

    problems = [objective.select(np.array([[place]])) for place in range(len(start))]
    return [
        one_by_one.minimise(partial(evaluate, alone=alone), position, max_iter, tol)[2]
        for alone, position in zip(problems, start, strict=True)
    ]


@pytest.fixture
def quadratics(rng, backend):
    curvatures = 10 ** rng.uniform(-1, 2, size=(2, 4, 6))
    return Problems(quadratic, (curvatures, rng.normal(size=(2, 4, 6))), backend)


def test_result_depends_neither_on_other_problems_nor_on_the_pieces_of_sums(quadratics, backend):
    start = backend.zeros((8, 6), "float64")
    solution = minimise(quadratics, start, 500, 1e-7, backend)
    together = backend.numpy(solution.positions)
    alone = quadratics.select(np.array([[2], [1]]))
    apart = minimise(alone, start[:2], 500, 1e-7, backend)
    in_pieces = minimise(quadratics, start, 500, 1e-7, replace(backend, shortest_piece=2))

    np.testing.assert_allclose(together, quadratics.settings[1].reshape(8, 6), atol=1e-3)
    assert (backend.numpy(solution.n_iter) <= 60).all()
    np.testing.assert_allclose(backend.numpy(apart.positions), together[[2, 5]], atol=1e-9)
    np.testing.assert_allclose(backend.numpy(in_pieces.positions), together, atol=1e-9)


@pytest.mark.parametrize(
    ("n_unknowns", "shortest", "expected"),
    [(6000, None, 1), (6000, 1000, 6), (7001, 1000, 1), (999, 1000, 1), (7000, 900, 7)],
)
def test_pieces_are_equal_and_not_too_short(n_unknowns, shortest, expected):
    assert n_pieces(n_unknowns, shortest) == expected


@pytest.mark.parametrize(("function", "tol"), [(rosenbrock, 1e-6), (high_valley, None)])
def test_valleys_are_followed_to_their_end_step_by_step_as_one_after_the_other(
    function, tol, backend
):
    valleys = Problems(function, (np.array([[1.0, 10.0, 100.0]]),), backend)
    start = np.tile([-1.2, 1.0], (3, 1))
    solution = minimise(valleys, backend.array(start), 100, tol, backend)

    if function is rosenbrock:
        np.testing.assert_allclose(backend.numpy(solution.positions), 1, atol=1e-3)
    expected = curves_one_by_one(valleys, start, 100, tol, backend)
    for curve, expected_curve in zip(backend.numpy(solution.curves)[:, 1:], expected, strict=True):
        assert np.isfinite(curve).sum() == len(expected_curve)
        np.testing.assert_allclose(curve[: len(expected_curve)], expected_curve, rtol=1e-4)
    assert tol is not None or len(expected[-1]) == 30  # as it is level, not yet at its end


def test_curves_fall_to_the_costs_of_fewer_iterations(quadratics, backend):
    start = backend.zeros((8, 6), "float64")
    solution = minimise(quadratics, start, 60, 1e-7, backend)

    curves, n_iter = backend.numpy(solution.curves), backend.numpy(solution.n_iter)
    assert curves.shape == (8, 61)
    assert len(set(n_iter)) > 1
    np.testing.assert_array_equal(np.isfinite(curves).sum(axis=1), 1 + n_iter)
    for curve, length, cost in zip(curves, n_iter, backend.numpy(solution.costs), strict=True):
        assert (np.diff(curve[: 1 + length]) < 0).all()
        assert curve[length] == cost
    for max_iter in range(1, 6):
        fewer = minimise(quadratics, start, max_iter, 1e-7, backend)
        assert backend.numpy(fewer.n_iter).tolist() == [max_iter] * 8
        np.testing.assert_array_equal(backend.numpy(fewer.costs), curves[:, max_iter])
    assert not backend.numpy(start).any()


def test_start_at_the_minimum_stays_there(quadratics, backend):
    start = backend.array(quadratics.settings[1].reshape(8, 6))
    solution = minimise(quadratics, start, 100, 1e-7, backend)

    np.testing.assert_array_equal(backend.numpy(solution.positions), backend.numpy(start))
    assert backend.numpy(solution.n_iter).tolist() == [0] * 8
