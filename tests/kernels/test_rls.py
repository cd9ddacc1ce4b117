import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hyperlvq.kernels import plain, rls

SHAPES = pytest.mark.parametrize("shape", [(80, 12), (12, 80)], ids=["tall", "wide"])
PENALTIES = pytest.mark.parametrize("penalty", ["identity", "variance"])


def random_problem(rng, shape, penalty, weighted=True):
    X = rng.normal(size=shape) + rng.normal(size=shape[1])
    targets = np.eye(3)[rng.integers(3, size=shape[0])]
    weights = rng.uniform(0.5, 2, size=shape[0]) if weighted else np.ones(shape[0])
    return rls.standardise(X, targets, weights, penalty), (X, targets, weights)


def pseudo_inverse_solution(X, targets, weights, alpha, penalty):
    """Return Bᵀ = (XᵀSX + αR)⁺ XᵀSt, the formula as the paper has it."""
    mean = np.average(X, axis=0, weights=weights)
    variance = np.average((X - mean) ** 2, axis=0, weights=weights)
    R = np.eye(X.shape[1]) if penalty == "identity" else np.diag(variance)
    weighted = X.T * weights
    return (np.linalg.pinv(weighted @ X + alpha * R, hermitian=True) @ weighted @ targets).T


@SHAPES
@PENALTIES
@pytest.mark.parametrize("solve", [rls.solve_cholesky, rls.solve_qr], ids=["cholesky", "qr"])
def test_direct_solvers_give_the_pseudo_inverse_solution(rng, shape, penalty, solve):
    problem, given = random_problem(rng, shape, penalty)

    coefficients = rls.original_coefficients(problem, solve(problem, 0.7))
    expected = pseudo_inverse_solution(*given, 0.7, penalty)
    np.testing.assert_allclose(coefficients, expected, rtol=1e-8, atol=1e-10)


@PENALTIES
@pytest.mark.parametrize("alpha", [0.7, 50.0])
def test_a_pseudo_inverse_that_leaves_nothing_out_is_the_solution(rng, penalty, alpha):
    _, given = random_problem(rng, (80, 12), penalty)

    coefficients = rls.solve_pinv(*given, alpha, penalty)
    expected = pseudo_inverse_solution(*given, alpha, penalty)
    np.testing.assert_allclose(coefficients, expected, rtol=1e-8, atol=1e-10)


@SHAPES
@PENALTIES
def test_eigen_path_gives_the_solution_of_every_alpha(rng, shape, penalty):
    problem, _ = random_problem(rng, shape, penalty)
    alphas = [0.01, 1.0, 100.0]

    path = rls.solve_eigen_path(problem, alphas)
    for alpha, solution in zip(alphas, path, strict=True):
        expected = rls.solve_cholesky(problem, alpha)
        np.testing.assert_allclose(solution, expected, rtol=1e-8, atol=1e-10)


@SHAPES
def test_eigen_solution_without_penalty_has_least_norm(rng, shape):
    problem, (X, targets, weights) = random_problem(rng, shape, "identity")
    roots = np.sqrt(weights)[:, np.newaxis]

    solution = rls.solve_eigen_path(problem, [0.0])[0]
    expected = np.linalg.lstsq(roots * X, roots * targets)[0].T
    np.testing.assert_allclose(solution, expected, rtol=1e-7, atol=1e-9)


@SHAPES
@PENALTIES
def test_fista_converges_to_the_direct_solution(rng, shape, penalty):
    problem, _ = random_problem(rng, shape, penalty)

    solution, n_iter, converged = rls.solve_fista(problem, 1.0, max_iter=5000, tol=1e-9)
    assert converged
    assert n_iter < 5000
    np.testing.assert_allclose(solution, rls.solve_cholesky(problem, 1.0), atol=1e-7)


def test_fista_says_when_it_ran_out_of_iterations(rng):
    problem, _ = random_problem(rng, (80, 12), "identity")

    _, n_iter, converged = rls.solve_fista(problem, 1.0, max_iter=2, tol=1e-9)
    assert (n_iter, converged) == (2, False)


def test_fista_of_nothing_but_zeros_is_zero():
    problem = rls.standardise(np.zeros((4, 3)), np.eye(2)[[0, 1, 0, 1]], np.ones(4), "identity")

    solution, _, converged = rls.solve_fista(problem, 1.0, max_iter=10, tol=1e-9)
    assert converged
    assert (solution == 0).all()


@PENALTIES
def test_lms_ends_within_five_percent_of_the_direct_solution(rng, penalty):
    problem, _ = random_problem(rng, (80, 6), penalty, weighted=False)

    solution, _, _ = rls.solve_lms(problem, 5.0, max_iter=1000, tol=0)
    expected = rls.solve_cholesky(problem, 5.0)
    assert np.linalg.norm(solution - expected) < 0.05 * np.linalg.norm(expected)


def test_lms_takes_steps_that_suit_the_longest_sample_of_all(rng):
    X = rng.normal(size=(600, 4))
    X[:512] *= 20  # another block than the short ones
    problem = rls.standardise(X, np.eye(2)[np.arange(600) % 2], np.ones(600), "identity")

    solution, _, _ = rls.solve_lms(problem, 5.0, max_iter=200, tol=0)

    assert np.abs(solution).max() < 1


def test_lms_stops_at_its_tolerance(rng):
    problem, _ = random_problem(rng, (80, 6), "identity")

    _, n_iter, converged = rls.solve_lms(problem, 5.0, max_iter=1000, tol=0.01)
    assert converged
    assert n_iter < 1000


def test_lms_pass_agrees_with_its_plain_twin(rng):
    Z, targets = rng.normal(size=(20, 5)), rng.normal(size=(20, 3))
    compiled = rng.normal(size=(3, 5))
    plainly = compiled.copy()

    rls.lms_pass(Z, targets, compiled, 0.05, 0.1)
    plain.lms_pass(Z, targets, plainly, 0.05, 0.1)
    np.testing.assert_allclose(compiled, plainly)


def test_identity_penalty_is_scikit_learns_ridge(rng):
    problem, (X, targets, weights) = random_problem(rng, (80, 12), "identity")

    ridge = Ridge(alpha=0.7, fit_intercept=False).fit(X, targets, sample_weight=weights)
    np.testing.assert_allclose(rls.solve_cholesky(problem, 0.7), ridge.coef_, rtol=1e-8)


@SHAPES
@pytest.mark.parametrize("constants", [(0.0,), (0.0, 0.0), (2.5,), (0.1, -3.0, 0.0)])
def test_columns_without_variance_get_the_pseudo_inverse_solution(rng, shape, constants):
    _, (X, targets, weights) = random_problem(rng, shape, "variance")
    X[:, : len(constants)] = constants

    problem = rls.standardise(X, targets, weights, "variance")
    coefficients = rls.original_coefficients(problem, rls.solve_cholesky(problem, 0.7))
    expected = pseudo_inverse_solution(X, targets, weights, 0.7, "variance")
    np.testing.assert_allclose(coefficients, expected, rtol=1e-6, atol=1e-9)


def test_variance_of_a_constant_column_is_exactly_zero():
    X = np.column_stack([np.full(1000, 0.1), np.arange(1000.0)])

    mean, variance = rls.moments(X, np.full(1000, 0.3))
    assert mean[0] == 0.1
    assert variance[0] == 0
    assert variance[1] == pytest.approx(np.arange(1000.0).var())


def test_integer_activations_give_the_same_solution_as_floats(rng):
    X = rng.integers(-3, 4, size=(700, 9)).astype(np.int8)
    targets, weights = np.eye(2)[rng.integers(2, size=700)], np.ones(700)

    narrow = rls.solve_cholesky(rls.standardise(X, targets, weights, "variance"), 1.0)
    wide = rls.solve_cholesky(rls.standardise(X.astype(float), targets, weights, "variance"), 1.0)
    np.testing.assert_array_equal(narrow, wide)
