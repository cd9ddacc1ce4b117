import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from hyperlvq import IntRVFLLayer, RLSClassifier, RVFLLayer, load, rls_path, save

SOLVERS = pytest.mark.parametrize(
    ("solver", "tolerance"),
    [("cholesky", 1e-8), ("qr", 1e-8), ("eigen", 1e-8), ("fista", 1e-4), ("lms", 1e-4)],
)


@SOLVERS
def test_solvers_agree_with_scikit_learns_ridge(wine, solver, tolerance, recwarn):
    X, y = wine

    ridge = Ridge(alpha=2.0, fit_intercept=False).fit(X, np.eye(3)[y])
    ours = RLSClassifier(alpha=2.0, penalty="identity", solver=solver).fit(X, y)
    difference = np.linalg.norm(ours.coef_ - ridge.coef_)
    assert difference < tolerance * np.linalg.norm(ridge.coef_)
    assert (ours.n_iter_ == 1) == (solver in ("cholesky", "qr", "eigen"))


@pytest.mark.parametrize("n_units", [30, 400], ids=["primal", "dual"])
@pytest.mark.parametrize("solver", ["auto", "cholesky", "qr", "eigen", "fista", "lms"])
def test_rank_deficient_activations_have_a_finite_solution(wine, n_units, solver):
    X, y = wine
    activations = IntRVFLLayer(n_units=n_units, clip=1, random_state=0).fit_transform(X)
    activations = np.column_stack([activations, activations, np.zeros((len(X), 2), np.int8)])

    readout = RLSClassifier(alpha=0.1, solver=solver, max_iter=5000).fit(activations, y)
    assert np.isfinite(readout.coef_).all()
    assert readout.score(activations, y) > 0.9


ITERATIVE = pytest.mark.parametrize("solver", ["fista", "lms"])


def distance_to_closed_form(X, y, solver, sample_weight=None, **parameters):
    """Return the relative distance of coefficients, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = RLSClassifier(solver=solver, **parameters).fit(X, y, sample_weight)
    exact = RLSClassifier(solver="eigen", **parameters).fit(X, y, sample_weight)
    return np.linalg.norm(found.coef_ - exact.coef_) / np.linalg.norm(exact.coef_)


@pytest.mark.compiled
@ITERATIVE
@pytest.mark.parametrize("penalty", ["variance", "identity"])
@pytest.mark.parametrize("clip", [1, 3, 7])
@pytest.mark.parametrize("n_units", [50, 200])
@pytest.mark.parametrize("alpha", [1, 1000])
def test_iterative_solvers_reach_the_closed_form_on_integer_activations(
    wine, n_units, clip, penalty, alpha, solver
):
    X, y = wine
    H = IntRVFLLayer(n_units, clip=clip, random_state=0).fit_transform(X)
    weights = np.linspace(0.2, 3, len(X)) if clip == 3 else None

    assert distance_to_closed_form(H, y, solver, weights, penalty=penalty, alpha=alpha) < 0.01


@pytest.mark.compiled
@ITERATIVE
@pytest.mark.parametrize("penalty", ["variance", "identity"])
@pytest.mark.parametrize("alpha", [0, 0.001, 1, 1000])
def test_iterative_solvers_reach_the_closed_form_on_features(wine, penalty, alpha, solver):
    assert distance_to_closed_form(*wine, solver, penalty=penalty, alpha=alpha) < 0.01


@pytest.mark.compiled
@ITERATIVE
def test_warning_states_the_gradient_that_is_left(wine, solver):
    X, y = wine
    H = IntRVFLLayer(200, clip=1, random_state=0).fit_transform(X)

    expected = rf"{solver} stopped .* the gradient is still \d\S* of the first \(tol=1e-06\)"
    with pytest.warns(ConvergenceWarning, match=expected):
        RLSClassifier(0.001, solver=solver, max_iter=100).fit(H, y)


# With the largest every direction is kept, with the others fewer.
@pytest.mark.parametrize("alpha", [1e-6, 0.01, 1e4])
@pytest.mark.parametrize("penalty", ["variance", "identity"])
def test_pinv_is_the_pseudo_inverse_with_the_cutoff_of_single_precision(wine, penalty, alpha):
    X, y = wine
    H = RVFLLayer(60, random_state=0).fit_transform(X / X.max(axis=0))
    R = np.diag(H.var(axis=0)) if penalty == "variance" else np.eye(60)
    values = np.linalg.eigvalsh(H.T @ H + alpha * R)
    assert (values[0] > 60 * 2.0**-23 * values[-1]) == (alpha == 1e4)
    inverse = np.linalg.pinv(H.T @ H + alpha * R, rcond=60 * 2.0**-23, hermitian=True)

    readout = RLSClassifier(alpha, penalty=penalty, solver="pinv").fit(H, y)
    np.testing.assert_allclose(readout.coef_, (inverse @ H.T @ np.eye(3)[y]).T, rtol=1e-6)


def test_auto_solver_serves_an_alpha_of_zero(rng):
    X = rng.normal(size=(10, 30))
    y = np.arange(10) % 2

    readout = RLSClassifier(alpha=0).fit(X, y)
    np.testing.assert_allclose(X @ readout.coef_.T, np.eye(2)[y], atol=1e-8)


CONSTANT = np.full((5, 2), 3.0), [0, 1, 1, 1, 0]


@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize("solver", ["auto", "eigen", "fista", "lms"])
def test_constant_columns_predict_the_largest_class(alpha, solver):
    X, y = CONSTANT

    assert (RLSClassifier(alpha, solver=solver).fit(X, y).predict(X) == 1).all()


@pytest.mark.parametrize("solver", ["cholesky", "qr"])
@pytest.mark.parametrize("is_constant", [False, True])
def test_alpha_too_small_for_the_solver_is_refused(wine, solver, is_constant):
    with pytest.raises(ValueError, match=f"alpha=0.0 is too small for solver='{solver}'"):
        RLSClassifier(alpha=0, solver=solver).fit(*(CONSTANT if is_constant else wine))


def test_thousands_of_classes_take_less_memory_than_their_one_hot_labels(rng, peak_memory):
    n_samples, n_classes = 6000, 2000
    X, y = rng.normal(size=(n_samples, 5)), np.arange(n_samples) % n_classes

    assert peak_memory(lambda: RLSClassifier().fit(X, y)) < 8 * n_samples * n_classes / 2


@pytest.mark.parametrize("penalty", ["identity", "variance"])
def test_path_gives_the_coefficients_of_each_alpha(wine, penalty):
    X, y = wine
    weights = np.linspace(0.5, 2, len(X))
    alphas = 2.0 ** np.arange(-10, 6)

    path = rls_path(X, y, alphas, penalty=penalty, sample_weight=weights)
    for alpha, coef in zip(alphas, path, strict=True):
        expected = RLSClassifier(alpha, penalty=penalty).fit(X, y, sample_weight=weights).coef_
        np.testing.assert_allclose(coef, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("alphas", "message"),
    [
        ([], "alphas must hold at least one number"),
        ([1, -1], "alphas must be a finite number of at least 0, got -1"),
    ],
)
def test_path_refuses_alphas_that_are_none(wine, alphas, message):
    with pytest.raises(ValueError, match=message):
        rls_path(*wine, alphas=alphas)


@pytest.mark.parametrize("n_units", [50, 400], ids=["primal", "dual"])
def test_alpha_of_leave_one_out_is_found_and_used(wine, n_units, tmp_path):
    X, y = wine
    H = IntRVFLLayer(n_units, random_state=0).fit_transform(X / X.max(axis=0))

    readout = RLSClassifier("loo").fit(H, y)

    assert 2.0**-10 < readout.alpha_ < 2.0**15
    np.testing.assert_allclose(readout.coef_, RLSClassifier(readout.alpha_).fit(H, y).coef_)
    save(readout, tmp_path / "model")
    assert load(tmp_path / "model").alpha_ == readout.alpha_
    assert not hasattr(readout.set_params(alpha=1.0).fit(H, y), "alpha_")


@pytest.mark.parametrize("penalty", ["variance", "identity"])
@pytest.mark.parametrize("value", [0.0, 2.0])
def test_leave_one_out_of_features_that_say_nothing_is_the_share_of_classes(penalty, value):
    X, y = np.full((6, 3), value), np.array([0, 1, 1, 1, 0, 1])

    readout = RLSClassifier("loo", penalty=penalty).fit(X, y)

    expected = RLSClassifier(readout.alpha_, penalty=penalty).fit(X, y)
    np.testing.assert_allclose(readout.coef_, expected.coef_, atol=1e-12)


def test_leave_one_out_of_many_classes_takes_little_memory(rng, peak_memory):
    X, y = rng.normal(size=(1000, 20)), np.arange(1000) % 500

    assert peak_memory(lambda: RLSClassifier("loo").fit(X, y)) < 200e6


def test_noise_gets_a_large_penalty_and_what_is_plain_a_small_one(rng):
    y = np.arange(200) % 2
    noise, plain = rng.normal(size=(200, 50)), y[:, np.newaxis] + 0.01 * rng.normal(size=(200, 3))

    assert RLSClassifier("loo").fit(noise, y).alpha_ > 2 * RLSClassifier("loo").fit(plain, y).alpha_


def test_leave_one_out_leaves_out_one_copy_of_a_weighted_row(rng):
    X, counts = rng.normal(size=(30, 4)), rng.integers(1, 5, size=30)
    y = (X[:, 0] + rng.normal(size=30) > 0).astype(int)
    weighted = RLSClassifier("loo").fit(X, y, counts)
    repeated = RLSClassifier("loo").fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))

    assert weighted.alpha_ == repeated.alpha_
    np.testing.assert_allclose(weighted.coef_, repeated.coef_)
