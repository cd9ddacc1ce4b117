from dataclasses import replace

import numpy as np
import pytest

from hyperlvq import RLSClassifier, rls_path
from hyperlvq.batched.rls import (
    FACTOR_BLOCK,
    rls_accuracies,
    rls_coefficients,
    solve_by_eigenvalues,
    solve_definite,
    solve_shifted,
    train_rls,
)

ALPHAS = [2.0**-10, 1.0, 32.0]


def make_layers(rng, n_samples, n_columns, n_constant=0):
    y = rng.integers(3, size=n_samples)
    X = rng.integers(-3, 4, size=(2, n_samples, n_columns)) + y[:, np.newaxis]
    X[1, :, :n_constant] = 2
    return X.astype(np.float64), y


def train_and_test(train, y_train, test, y_test, backend):
    """Return the accuracies of all layers and ALPHAS."""
    coefficients = train_rls(backend.array(train), y_train, ALPHAS, backend)
    classes, test = np.unique(y_train), backend.array(test)
    return rls_accuracies(coefficients, classes, test, y_test, backend)


@pytest.mark.parametrize("n_constant", [0, 3])
@pytest.mark.parametrize(("n_samples", "n_columns"), [(60, 20), (20, 60), (400, 300)])
def test_coefficients_are_those_of_the_path(rng, backend, n_samples, n_columns, n_constant):
    X, y = make_layers(rng, n_samples, n_columns, n_constant)
    found = backend.numpy(
        rls_coefficients(backend.array(X), backend.array(np.eye(3)[y]), ALPHAS, backend)
    )

    for layer, coefficients in zip(X, found, strict=True):
        expected = rls_path(layer, y, ALPHAS)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(coefficients.swapaxes(1, 2) / scale, expected / scale, atol=1e-7)


@pytest.mark.parametrize("penalty", ["variance", "identity"])
@pytest.mark.parametrize("solver", ["auto", "cholesky", "eigen"])
@pytest.mark.parametrize(("n_samples", "n_columns"), [(60, 20), (20, 60)])
def test_weights_penalties_and_solvers_are_those_of_the_classifier(
    rng, backend, n_samples, n_columns, solver, penalty
):
    X, y = make_layers(rng, n_samples, n_columns, n_constant=2)
    weights = rng.uniform(0.5, 3, size=n_samples)
    found = rls_coefficients(
        backend.array(X),
        backend.array(np.eye(3)[y]),
        [0.5],
        backend,
        weights=backend.array(weights),
        penalty=penalty,
        solver=solver,
    )

    for layer, coefficients in zip(X, backend.numpy(found), strict=True):
        readout = RLSClassifier(0.5, penalty=penalty).fit(layer, y, sample_weight=weights)
        np.testing.assert_allclose(coefficients[0].T, readout.coef_, atol=1e-8)


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


@pytest.mark.parametrize("size", [1, FACTOR_BLOCK, 2 * FACTOR_BLOCK + 7])
def test_definite_systems_are_solved_block_by_block(rng, backend, size):
    root = rng.normal(size=(2, size, size + 5))
    matrices, right = root @ root.swapaxes(1, 2), rng.normal(size=(2, size, 3))
    found = solve_definite(backend.array(matrices.copy()), backend.array(right), backend)

    np.testing.assert_allclose(backend.numpy(found), np.linalg.solve(matrices, right), rtol=1e-5)


def test_penalties_lost_in_rounding_are_solved_by_eigenvalues(rng, backend):
    factors = rng.normal(size=(2, 40, 3)) * 1e6
    matrices = factors @ factors.swapaxes(1, 2)  # rank 3 of 40
    right = rng.normal(size=(2, 40, 2))
    alphas = np.array([1e-6, 1e15])

    found = backend.numpy(
        solve_shifted(backend.array(matrices), backend.array(right), backend.array(alphas), backend)
    )

    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(matrices + 1e-6 * np.eye(40))
    assert np.isfinite(found).all()
    shifted = matrices + 1e15 * np.eye(40)
    np.testing.assert_allclose(found[:, 1], np.linalg.solve(shifted, right), rtol=1e-8)


@pytest.mark.parametrize("alpha", [2.0**-10, 1.0, 32.0])
def test_eigenvalues_and_factors_solve_alike(rng, backend, alpha):
    X = rng.normal(size=(2, 50, 20))
    matrices, right = X.swapaxes(1, 2) @ X, rng.normal(size=(2, 20, 3))
    arguments = backend.array(matrices), backend.array(right), backend.array(np.array([alpha]))

    found = backend.numpy(solve_by_eigenvalues(*arguments, backend))

    np.testing.assert_allclose(found, backend.numpy(solve_shifted(*arguments, backend)), rtol=1e-8)
