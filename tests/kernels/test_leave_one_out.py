"""Oracle: ridge regression with an intercept, solved anew without each sample."""

import numpy as np
import pytest

from hyperlvq.kernels.leave_one_out import (
    ALPHAS,
    LARGEST_SCORE,
    PenaltyPath,
    TallProblem,
    WeightedSamples,
    WideProblem,
    _solve_ridge,
    log_loss,
)

ALPHA = 0.3


def samples_of(rng, n_samples, n_units, n_classes=3, whole=False):
    X = rng.integers(0, 3, (n_samples, n_units)).astype(np.int8)
    y = np.arange(n_samples) % n_classes
    weights = rng.integers(1, 4, n_samples) if whole else rng.uniform(0.5, 2, n_samples)
    portions = np.ones(n_samples) if whole else weights
    return WeightedSamples(X, y, weights.astype(float), portions.astype(float), n_classes)


def problem_of(samples, is_tall):
    if is_tall:
        return TallProblem(samples, np.asarray, np.arange(len(samples.y)), map)
    return WideProblem(samples, np.asarray, map)


def test_gram_of_counted_samples_is_the_same_however_often_they_count(rng, monkeypatch):
    monkeypatch.setattr("hyperlvq.kernels.leave_one_out.ENCODED_ROWS", 16)
    counts = np.ones(64)
    counts[:16] = 9  # a block of samples that count too often to be repeated,
    counts[20] = 30  # and one with a single such sample
    samples = samples_of(rng, 64, 8)._replace(weights=counts)
    as_rows = samples.take(np.repeat(np.arange(64), counts.astype(int)))
    as_rows = as_rows._replace(weights=np.ones(len(as_rows.y)))

    found, expected = (np.tril(problem_of(each, True).gram) for each in (samples, as_rows))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("smallest", [1.0, 1e-3, 1e-9])
def test_solution_has_double_precision_however_hard_single_precision_finds_it(rng, smallest):
    n_unknowns, alpha = 60, 1e-6
    directions, _ = np.linalg.qr(rng.normal(size=(n_unknowns, n_unknowns)))
    gram = (directions * np.geomspace(smallest, 1e3, n_unknowns)) @ directions.T
    right = gram @ rng.normal(size=(n_unknowns, 3))

    solution, factor = _solve_ridge(np.tril(gram), alpha, right)
    np.testing.assert_allclose(gram @ solution + alpha * solution, right, atol=1e-8)
    assert factor.dtype == np.float32
    np.testing.assert_allclose(factor.T @ factor, gram, atol=1e-3)


def test_matrix_without_a_factor_is_an_error(rng):
    with pytest.raises(np.linalg.LinAlgError, match="penalty is too small"):
        _solve_ridge(-np.eye(3), 0.1, np.ones((3, 1)))


def ridge(samples, weights, penalty):
    """Return W and b by the normal equations."""
    rows = np.column_stack([samples.X, np.ones(len(samples.y))])
    penalties = np.diag([*[penalty] * samples.X.shape[1], 0])
    weighted = weights[:, None] * rows
    targets = np.eye(samples.n_classes)[samples.y]
    solution = np.linalg.solve(rows.T @ weighted + penalties, weighted.T @ targets)
    return solution[:-1].T, solution[-1]


def total_variance(samples):
    mean = np.average(samples.X, axis=0, weights=samples.weights)
    return np.average((samples.X - mean) ** 2, axis=0, weights=samples.weights).sum()


forms = pytest.mark.parametrize(
    ("is_tall", "n_samples", "n_units"), [(True, 60, 20), (False, 25, 40), (False, 60, 20)]
)


@forms
def test_coefficients_are_those_of_ridge_regression(rng, is_tall, n_samples, n_units):
    samples = samples_of(rng, n_samples, n_units)
    problem = problem_of(samples, is_tall)
    W, b = problem.coefficients(problem.solve(ALPHA)[0])

    expected_W, expected_b = ridge(samples, samples.weights, ALPHA * total_variance(samples))
    np.testing.assert_allclose(W, expected_W, atol=1e-10)
    np.testing.assert_allclose(b, expected_b, atol=1e-10)


@forms
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("alpha", "atol"), [(ALPHAS[0], 1e-3), (ALPHA, 1e-5)])
def test_left_out_scores_are_those_of_models_without_the_sample(
    rng, is_tall, n_samples, n_units, whole, alpha, atol
):
    samples = samples_of(rng, n_samples, n_units, whole=whole)
    problem = problem_of(samples, is_tall)
    left_out = problem.solve(alpha)[1] + problem.offset

    for m in range(n_samples):
        weights = samples.weights.copy()
        weights[m] -= samples.portions[m]
        W, b = ridge(samples, weights, alpha * total_variance(samples))
        np.testing.assert_allclose(left_out[m], W @ samples.X[m] + b, atol=atol)


def test_tall_problem_leaves_out_the_rows_that_are_checked(rng):
    samples, checked = samples_of(rng, 60, 20), np.array([7, 3])
    some = TallProblem(samples, np.asarray, checked, map).solve(ALPHA)[1]

    np.testing.assert_allclose(some, problem_of(samples, True).solve(ALPHA)[1][checked])


@pytest.mark.parametrize("is_tall", [True, False])
def test_units_that_never_change_give_the_shares_of_classes(is_tall):
    X, weights = np.ones((4, 3), np.int8), np.full(4, 0.7)
    samples = WeightedSamples(X, np.array([0, 0, 0, 1]), weights, weights, 2)
    problem = problem_of(samples, is_tall)
    W, b = problem.coefficients(problem.solve(ALPHAS[0])[0])

    np.testing.assert_allclose(W, 0, atol=1e-6)
    np.testing.assert_allclose(b, [0.75, 0.25])


@pytest.mark.parametrize("start", range(len(ALPHAS)))
def test_search_ends_where_neither_neighbour_is_better(rng, start):
    n_samples = 300
    X = rng.integers(0, 2, (n_samples, 60)).astype(np.int8)
    y = (X[:, :5].sum(axis=1) + rng.normal(size=n_samples) > 2.5).astype(int)
    problem = problem_of(WeightedSamples(X, y, np.ones(n_samples), np.ones(n_samples), 2), True)
    path = PenaltyPath(problem)
    found = path.best_near(start)
    seen = dict(path.tried)
    path.best()  # tries all

    def criterion(step):
        tried = path.tried[min(max(step, 0), len(ALPHAS) - 1)]
        return tried.error + (0.1 + 30 / n_samples) * tried.log_loss

    assert criterion(found) <= min(criterion(found - 1), criterion(found + 1))
    first, last = max(min(start, found) - 1, 0), min(max(start, found) + 1, len(ALPHAS) - 1)
    assert seen.keys() == {*range(first, last + 1)}  # each once, and none beyond


def test_errors_are_smoothed_where_all_penalties_are_tried(rng):
    path = PenaltyPath(problem_of(samples_of(rng, 40, 60), False))
    best = path.best()

    errors = np.array([path.tried[step].error for step in range(len(ALPHAS))])
    before, after = np.r_[errors[0], errors[:-1]], np.r_[errors[1:], errors[-1]]
    losses = np.array([path.tried[step].log_loss for step in range(len(ALPHAS))])
    smooth = (before + 2 * errors + after) / 4
    assert best == np.argmin(smooth + (0.1 + 30 / path.problem.total) * losses)


def test_tried_penalty_has_the_best_temperature_error_and_bounded_scores(rng):
    path = PenaltyPath(problem_of(samples_of(rng, 40, 60), False))
    tried = path.tried.get(path.best())

    y, weights = path.problem.y, path.problem.weights
    assert tried.log_loss <= log_loss(tried.scores, y, weights)
    assert tried.log_loss == log_loss(tried.temperature * tried.scores, y, weights)
    assert tried.error == np.average(tried.scores.argmax(axis=1) != y, weights=weights)
    assert np.abs(tried.scores).max() <= LARGEST_SCORE + 1


def test_log_loss_of_a_case_worked_by_hand():
    logits = np.log([[0.5, 0.5], [0.2, 0.8]]) + 3

    found = log_loss(logits, np.array([0, 1]), np.array([1.0, 3.0]))
    assert found == pytest.approx(-(np.log(0.5) + 3 * np.log(0.8)) / 4)
