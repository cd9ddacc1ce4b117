import numpy as np
import plain
import pytest

from hyperlvq.kernels import glvq

COUNTS = pytest.mark.parametrize("counts", [(1, 1, 1), (2, 2, 2), (1, 3, 2)], ids=str)


def random_problem(rng, counts, dtype=np.float64, n_samples=60, n_units=6):
    X = rng.integers(-3, 4, size=(n_samples, n_units)).astype(dtype)
    y = np.arange(n_samples) % len(counts)
    prototype_classes = np.repeat(np.arange(len(counts)), counts)
    prototypes = rng.normal(size=(len(prototype_classes), n_units))
    return prototypes, prototype_classes, X, y, 5.0, rng.uniform(0.1, 2, size=n_samples)


@COUNTS
def test_gradient_agrees_with_finite_differences(rng, counts):
    prototypes, *rest = random_problem(rng, counts)

    def cost(flat):
        return glvq.cost_and_gradient(flat.reshape(prototypes.shape), *rest)[0]

    _, gradient = glvq.cost_and_gradient(prototypes, *rest)
    step, flat = 1e-6, prototypes.ravel()
    shifts = step * np.eye(prototypes.size)
    numeric = np.array([(cost(flat + s) - cost(flat - s)) / (2 * step) for s in shifts])
    assert np.linalg.norm(gradient.ravel() - numeric) < 1e-5 * np.linalg.norm(numeric)


@COUNTS
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5), (np.int8, 1e-5)]
)
def test_cost_and_gradient_agree_with_their_plain_twin(rng, counts, dtype, tolerance):
    problem = random_problem(rng, counts, dtype, n_samples=600)

    cost, gradient = glvq.cost_and_gradient(*problem)
    expected_cost, expected_gradient = plain.cost_and_gradient(*problem)
    assert cost == pytest.approx(expected_cost, rel=tolerance)
    error = np.abs(gradient - expected_gradient).max() / np.abs(expected_gradient).max()
    assert error < tolerance


def test_cost_of_a_case_worked_by_hand():
    X, y = np.array([[0.0]]), np.array([0])
    prototypes, classes = np.array([[1.0], [2.0]]), np.array([0, 1])

    cost, gradient = glvq.cost_and_gradient(prototypes, classes, X, y, 2.0, np.ones(1))
    g = 1 / (1 + np.exp(2 * 3 / 5))  # d⁺ = 1, d⁻ = 4, μ = -3/5
    assert cost == pytest.approx(g)
    s = 2 * g * (1 - g)
    assert gradient.ravel() == pytest.approx([s * 4 * 4 / 25, -s * 4 * 1 / 25 * 2])


def test_sample_on_both_its_winners_costs_a_half_and_pulls_nothing():
    prototypes = X = np.zeros((2, 3))

    cost, gradient = glvq.cost_and_gradient(
        prototypes, np.array([0, 1]), X, np.array([0, 1]), 5.0, np.ones(2)
    )
    assert cost == 1.0
    assert (gradient == 0).all()


@pytest.mark.parametrize(("slope", "scale"), [(1e-3, 1), (1e4, 1), (5.0, 1e-60), (5.0, 1e60)])
def test_extreme_slopes_and_distances_give_finite_gradients(rng, slope, scale):
    prototypes, classes, X, y, _, weights = random_problem(rng, (1, 1, 1))

    rest = y, slope, weights
    cost, gradient = glvq.cost_and_gradient(prototypes * scale, classes, X * scale, *rest)
    expected, _ = glvq.cost_and_gradient(prototypes, classes, X, *rest)
    assert cost == pytest.approx(expected)
    assert np.isfinite(cost)
    assert np.isfinite(gradient).all()


def test_winners_are_the_first_of_equals_and_missing_where_there_are_none():
    distances = np.array([2.0, 1.0, 1.0, 3.0])

    assert glvq.winners(distances, 0, np.array([0, 0, 0, 1])) == (1, 3)
    assert glvq.winners(distances, 5, np.array([0, 0, 0, 1])) == (-1, 1)
    assert glvq.winners(distances, 0, np.array([0, 0, 0, 0])) == (1, -1)


@pytest.mark.parametrize(("dtype", "is_narrow"), [(np.int8, True), (np.int16, False)])
def test_products_are_of_single_precision_for_integers_of_one_byte_only(rng, dtype, is_narrow):
    prototypes, *rest = random_problem(rng, (2, 1), dtype)
    narrowed = prototypes.astype(np.float32).astype(np.float64)

    cost, narrowed_cost = (
        glvq.cost_and_gradient(each, *rest)[0] for each in (prototypes, narrowed)
    )

    assert (cost == narrowed_cost) == is_narrow
