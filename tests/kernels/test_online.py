import numpy as np
import plain
import pytest

from hyperlvq.kernels import online

RULES = pytest.mark.parametrize(
    ("rule", "parameters"),
    [("perceptron_pass", (0.01,)), ("lvq1_pass", (0.05,)), ("glvq_pass", (4.0, 0.7))],
)


@RULES
@pytest.mark.parametrize("dtype", [np.int8, np.float64])
@pytest.mark.parametrize("prototypes_per_class", [1, 3])
def test_compiled_and_plain_rules_agree(rng, rule, parameters, dtype, prototypes_per_class):
    X = rng.integers(-3, 4, size=(40, 9)).astype(dtype)
    y = rng.integers(3, size=40)
    visits = rng.permutation(np.repeat(np.arange(40), 2))
    classes = np.repeat(np.arange(3), prototypes_per_class)
    compiled = rng.normal(size=(len(classes), 9))
    plainly = compiled.copy()

    result = getattr(online, rule)(X, y, visits, compiled, classes, *parameters)
    expected = getattr(plain, rule)(X, y, visits, plainly, classes, *parameters)
    assert result == pytest.approx(expected)
    np.testing.assert_allclose(compiled, plainly, atol=1e-12)


def test_perceptron_adds_and_subtracts_a_misclassified_sample():
    prototypes = np.array([[0.0, 0.0], [4.0, 4.0]])
    X, y = np.array([[3.0, 3.0], [5.0, 5.0]]), np.array([0, 1])

    mistakes = online.perceptron_pass(X, y, np.arange(2), prototypes, np.arange(2), 0.1)
    assert mistakes == 1
    np.testing.assert_allclose(prototypes, [[0.3, 0.3], [3.7, 3.7]])


def test_lvq1_moves_the_winner_towards_its_class_and_away_from_others():
    prototypes = np.array([[0.0], [4.0]])
    X, y = np.array([[1.0], [3.0]]), np.array([0, 0])

    mistakes = online.lvq1_pass(X, y, np.arange(2), prototypes, np.arange(2), 0.5)
    assert mistakes == 1
    np.testing.assert_allclose(prototypes, [[0.5], [4.5]])


def test_glvq_moves_both_winners_by_equations_6_and_7():
    prototypes = np.array([[1.0], [2.0]])
    X, y = np.array([[0.0]]), np.array([0])

    online.glvq_pass(X, y, np.arange(1), prototypes, np.arange(2), 1.0, 0.5)
    g = 1 / (1 + np.exp(3 / 5))  # d⁺ = 1, d⁻ = 4, μ = -3/5, β = 1
    slope = g * (1 - g)
    attracted = 1.0 + 2 * 0.5 * slope * (2 * 4 / 25) * (0 - 1.0)
    repelled = 2.0 - 2 * 0.5 * slope * (2 * 1 / 25) * (0 - 2.0)
    np.testing.assert_allclose(prototypes.ravel(), [attracted, repelled])


@RULES
def test_a_class_that_stands_alone_moves_no_further_than_its_samples(rule, parameters):
    prototypes = np.array([[1.0, 1.0]])
    X, y = np.array([[2.0, 2.0]]), np.array([0])

    assert getattr(online, rule)(X, y, np.arange(1), prototypes, np.zeros(1, int), *parameters) == 0
    assert (prototypes >= 1).all()
    assert (prototypes <= 2).all()


@pytest.mark.parametrize(
    ("X", "y", "weights", "prototypes", "expected"),
    [
        ([[0.0], [2.0]], [0, 1], [1.0, 3.0], [[1.0], [4.0]], (17 + 3 * 5) / 4),
        ([[0.0]], [0], [1.0], [[1.0]], 0),  # a class that stands alone
    ],
)
def test_mean_winner_sum_is_the_weighted_mean_of_both_distances(
    X, y, weights, prototypes, expected
):
    arrays = [np.array(values) for values in (X, y, weights, prototypes)]

    assert online.mean_winner_sum(*arrays, np.arange(len(prototypes))) == pytest.approx(expected)


def test_glvq_pass_is_the_papers_rule_at_a_rate_times_the_slope(rng):
    """Its equations (6) and (7) lack the factor β of ∂g/∂μ = β g (1 - g)."""
    x, prototypes, slope, rate = rng.normal(size=5), rng.normal(size=(2, 5)), 8.0, 0.01
    own, other = ((x - prototypes) ** 2).sum(axis=1)
    g = 1 / (1 + np.exp(-slope * (own - other) / (own + other)))
    paper = 2 * (slope * rate) * g * (1 - g) * 2 / (own + other) ** 2
    expected = prototypes + paper * np.array([[other], [-own]]) * (x - prototypes)

    sample = x[None], np.zeros(1, np.intp), np.zeros(1, np.intp)
    online.glvq_pass(*sample, prototypes, np.array([0, 1]), slope, rate)
    np.testing.assert_allclose(prototypes, expected)
