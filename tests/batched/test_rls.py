from dataclasses import replace

import numpy as np
import pytest

from hyperlvq import RLSClassifier
from hyperlvq.batched import rls
from hyperlvq.batched.rls import LabelledRows, Method
from hyperlvq.kernels.scores import BLOCK_ROWS

ALPHAS = [2.0**-10, 1.0, 32.0]
SHAPES = pytest.mark.parametrize("shape", [(80, 12), (12, 80)], ids=["tall", "wide"])
PENALTIES = pytest.mark.parametrize("penalty", ["identity", "variance"])


def make_samples(rng, shape, constants=()):
    """Return weighted samples of three classes whose first columns are constant."""
    X = rng.normal(size=shape) + rng.normal(size=shape[1])
    X[:, : len(constants)] = constants
    return LabelledRows(X, np.arange(shape[0]) % 3, rng.uniform(0.5, 2, size=shape[0]), 3)


def make_layers(rng, n_samples, n_columns, n_constant=0):
    """Return two hidden layers, the second with constant columns, and labels."""
    y = rng.integers(3, size=n_samples)
    X = rng.integers(-3, 4, size=(2, n_samples, n_columns)) + y[:, np.newaxis]
    X[1, :, :n_constant] = 2
    return X.astype(np.float64), y


def pseudo_inverse_solution(samples, alpha, penalty):
    """Return W = TᵀSX (XᵀSX + αR)⁺, the formula as the paper has it."""
    X, y, weights, n_classes, *_ = samples
    mean = np.average(X, axis=0, weights=weights)
    variance = np.average((X - mean) ** 2, axis=0, weights=weights)
    variance[np.ptp(X, axis=0) == 0] = 0
    R = np.eye(X.shape[1]) if penalty == "identity" else np.diag(variance)
    weighted = X.T * weights
    inverse = np.linalg.pinv(weighted @ X + alpha * R, hermitian=True)
    return (inverse @ weighted @ np.eye(n_classes)[y]).T


@SHAPES
@PENALTIES
@pytest.mark.parametrize("constants", [(), (0.0,), (2.5,), (0.1, -3.0, 0.0)])
@pytest.mark.parametrize("solver", ["cholesky", "eigen", "qr", "pinv", "fista", "lms"])
def test_solvers_give_the_pseudo_inverse_solution(rng, shape, penalty, constants, solver):
    samples = make_samples(rng, shape, constants)
    method = Method(penalty, solver, max_iter=5000, tol=1e-10)

    (found,), n_iter, remaining = rls.solve_least_squares(samples, [0.7], method)
    assert remaining <= method.tol
    assert n_iter < 300  # thousands of "fista" where its momentum never starts anew
    expected = pseudo_inverse_solution(samples, 0.7, penalty)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@SHAPES
def test_solution_without_penalty_has_least_norm(rng, shape):
    samples = make_samples(rng, shape)
    roots = np.sqrt(samples.weights)[:, np.newaxis]

    (found,), _, _ = rls.solve_least_squares(samples, [0.0], Method("identity"))
    expected = np.linalg.lstsq(roots * samples.X, roots * np.eye(3)[samples.y])[0].T
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@PENALTIES
@pytest.mark.parametrize("solver", ["auto", "cholesky", "eigen"])
@pytest.mark.parametrize(("n_samples", "n_columns"), [(60, 20), (20, 60), (400, 300)])
def test_layers_and_alphas_together_are_those_of_one_by_one(
    rng, backend, n_samples, n_columns, solver, penalty
):
    X, y = make_layers(rng, n_samples, n_columns, n_constant=3)
    weights, method = rng.uniform(0.5, 3, size=n_samples), Method(penalty, solver)
    samples = LabelledRows(backend.array(X), y, weights, 3, backend)
    found = backend.numpy(rls.solve_least_squares(samples, ALPHAS, method)[0])

    for layer, path in zip(X, found, strict=True):
        for alpha, coefficients in zip(ALPHAS, path, strict=True):
            alone = LabelledRows(layer, y, weights, 3)
            (expected,), _, _ = rls.solve_least_squares(alone, [alpha], Method(penalty))
            scale = np.abs(expected).max()
            np.testing.assert_allclose(coefficients / scale, expected / scale, atol=1e-7)


@PENALTIES
@pytest.mark.parametrize("n_constant", [0, 2])
@pytest.mark.parametrize(("n_samples", "n_columns"), [(40, 6), (12, 30)])
def test_leave_one_out_is_that_of_fits_without_each_sample(
    rng, backend, n_samples, n_columns, n_constant, penalty
):
    (_, X), y = make_layers(rng, n_samples, n_columns, n_constant)
    weights, alphas, method = rng.uniform(0.5, 2, size=n_samples), [0.3, 5.0], Method(penalty)
    samples = LabelledRows(backend.array(X), y, weights, 3, backend)
    right, errors = np.zeros(2), np.zeros(2)
    variance = np.average((X - np.average(X, axis=0, weights=weights)) ** 2, 0, weights)
    R = np.diag(variance if penalty == "variance" else np.ones(n_columns))
    for place, alpha in enumerate(alphas):
        for m in range(n_samples):
            weighted = X.T * np.where(np.arange(n_samples) == m, 0, weights)
            inverse = np.linalg.pinv(weighted @ X + alpha * R, hermitian=True)
            scores = X[m] @ inverse @ weighted @ np.eye(3)[y]
            right[place] += weights[m] * (scores.argmax() == y[m])
            errors[place] += weights[m] * ((scores - np.eye(3)[y[m]]) ** 2).sum()

    equations = rls.equations_of(samples, method)
    spectrum = rls.spectrum_of(equations)
    found = rls.left_out(samples, equations.columns, spectrum, alphas)
    coefficients, alpha = rls.choose_penalty(samples, alphas, method)

    np.testing.assert_allclose(found, [right, errors], rtol=1e-7)
    assert alpha == alphas[np.lexsort((errors, -right))[0]]
    (expected,), _, _ = rls.solve_least_squares(samples, [alpha], method)
    expected = backend.numpy(expected)
    np.testing.assert_allclose(backend.numpy(coefficients), expected, atol=1e-9)


def test_moments_of_a_constant_column_are_exact():
    X = np.column_stack([np.full(1000, 0.1), np.arange(1000.0)])
    samples = LabelledRows(X, np.arange(1000) % 2, np.full(1000, 0.3), 2)

    columns = rls.unscaled_columns(samples, Method())
    squares = rls.squares_of(samples, columns)
    assert columns.mean[0, 0] == 0.1
    assert squares[0, 0] == 0
    assert squares[0, 1] == pytest.approx(300 * np.arange(1000.0).var())


def test_integer_activations_give_the_same_solution_as_floats(rng):
    X = rng.integers(-3, 4, size=(BLOCK_ROWS + 200, 9)).astype(np.int8)
    samples = LabelledRows(X, np.arange(len(X)) % 2, np.ones(len(X)), 2)

    narrow, wide = (
        rls.solve_least_squares(each, [1.0], Method())[0]
        for each in (samples, samples._replace(X=X.astype(float)))
    )
    np.testing.assert_array_equal(narrow, wide)


def train_and_test(train, y_train, test, y_test, backend):
    """Return the accuracies of all layers and ALPHAS."""
    coefficients = rls.train_rls(backend.array(train), y_train, ALPHAS, backend)
    classes, test = np.unique(y_train), backend.array(test)
    return rls.rls_accuracies(coefficients, classes, test, y_test, backend)


def test_accuracies_are_those_of_the_classifier(rng, backend):
    X, y = make_layers(rng, 90, 30, 2)
    found = train_and_test(X[:, :60], y[:60], X[:, 60:], y[60:], backend)

    for layer, accuracies in zip(X, found, strict=True):
        expected = [
            RLSClassifier(alpha).fit(layer[:60], y[:60]).score(layer[60:], y[60:])
            for alpha in ALPHAS
        ]
        assert accuracies.tolist() == pytest.approx(expected)


def test_classes_that_training_lacks_are_never_right(rng, backend):
    X, y = make_layers(rng, 90, 30)
    found = train_and_test(X[:, :60], y[:60] % 2, X[:, 60:], np.full(30, 7), backend)

    assert not found.any()


def test_small_memory_changes_nothing(rng, backend):
    X, y = make_layers(rng, 90, 30)
    short = replace(backend, batch_bytes=1000, block_bytes=10_000)

    np.testing.assert_array_equal(
        train_and_test(X, y, X, y, backend), train_and_test(X, y, X, y, short)
    )


def test_penalties_lost_in_rounding_are_solved_by_eigenvalues(rng, backend):
    factors = rng.normal(size=(2, 40, 3)) * 1e6
    matrices = factors @ factors.swapaxes(1, 2)  # rank 3 of 40
    right = rng.normal(size=(2, 40, 2))
    equations = backend.array(matrices), backend.array(right), None, None, backend

    found = rls.solve_directly(rls.Equations(*equations), [1e-6, 1e15], "auto")
    found = backend.numpy(found)

    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(matrices + 1e-6 * np.eye(40))
    assert np.isfinite(found).all()
    shifted = matrices + 1e15 * np.eye(40)
    np.testing.assert_allclose(found[:, 1], np.linalg.solve(shifted, right), rtol=1e-8)
