import warnings

import numpy as np
import plain
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels, polynomial_kernel, rbf_kernel

from hyperlvq import KGLVQClassifier
from hyperlvq.kernels.scores import BLOCK_ROWS


@pytest.fixture
def rings(rng):
    """Two classes that no straight line separates."""
    angles = rng.uniform(0, 2 * np.pi, size=80)
    radii = np.repeat([1.0, 3.0], 40)
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles)]), np.repeat([0, 1], 40)


def test_kernel_separates_what_no_line_does(rings):
    X, y = rings

    assert KGLVQClassifier(gamma=0.5, random_state=0).fit(X, y).score(X, y) == 1
    assert KGLVQClassifier(kernel="linear", random_state=0).fit(X, y).score(X, y) < 0.8


def test_prototypes_only_use_samples_of_their_class(iris):
    X, y = iris
    readout = KGLVQClassifier(prototypes_per_class=2, gamma=0.5, random_state=0).fit(X, y)
    labels = {tuple(x): label for x, label in zip(X, y, strict=True)}
    sample_classes = np.array([labels[tuple(x)] for x in readout.X_fit_])

    foreign = readout.prototype_classes_[:, np.newaxis] != sample_classes
    assert (readout.dual_coef_[foreign] == 0).all()
    assert (readout.dual_coef_[~foreign] != 0).all()


@pytest.mark.parametrize(
    ("name", "gamma", "kernel"), [("rbf", 0.5, rbf_kernel), ("poly", 0.2, polynomial_kernel)]
)
def test_scores_are_minus_the_distance_in_feature_space(rings, name, gamma, kernel):
    X, y = rings
    readout = KGLVQClassifier(kernel=name, gamma=gamma, random_state=0).fit(X, y)
    within = kernel(readout.X_fit_, gamma=gamma)

    norms = np.diag(readout.dual_coef_ @ within @ readout.dual_coef_.T)
    distances = norms - 2 * kernel(X, readout.X_fit_, gamma=gamma) @ readout.dual_coef_.T
    expected = distances[:, 0] - distances[:, 1]
    scale = np.abs(expected).max()
    np.testing.assert_allclose(readout.decision_function(X) / scale, expected / scale, atol=1e-6)


def test_auto_slope_is_that_of_glvq(rings):
    assert KGLVQClassifier(random_state=0).fit(*rings).slope_ == 10

    automatic = KGLVQClassifier(slope="auto", random_state=0).fit(*rings)
    assert automatic.slope_ == pytest.approx(12 * np.sqrt(len(rings[1]) / 300))


def test_published_start_takes_the_path_of_scipy_on_the_summed_cost(rings):
    X, y = rings
    readout = KGLVQClassifier(2, 3.0, gamma=0.5, init="published", tol=1e-5).fit(X, y)
    kernel = rbf_kernel(readout.X_fit_, gamma=0.5)
    is_own = readout.dual_coef_ != 0
    sample_classes = np.argmax(is_own[[0, 2]], axis=0)

    def cost_and_gradient(free):
        coefficients = np.zeros(is_own.shape)
        coefficients[is_own] = free
        given = coefficients, kernel, sample_classes, readout.prototype_classes_, 3.0, np.ones(80)
        cost, gradient = plain.kernel_cost_and_gradient(*given)
        return cost, gradient[is_own]

    start = np.full(is_own.sum(), 1 / len(X))
    found = minimize(cost_and_gradient, start, jac=True, method="L-BFGS-B")
    assert readout.n_iter_ == pytest.approx(found.nit, abs=2)
    assert readout.loss_curve_[-1] == pytest.approx(found.fun, rel=1e-4)
    np.testing.assert_allclose(readout.dual_coef_[is_own], found.x, rtol=0.05, atol=1e-3)


def test_published_start_has_no_noise(rings):
    fits = [KGLVQClassifier(3, init="published", random_state=seed).fit(*rings) for seed in (0, 1)]

    np.testing.assert_array_equal(*(fit.dual_coef_ for fit in fits))


def test_kernel_matrix_is_computed_once_per_fit(rings):
    calls = []

    def kernel(x, z):
        calls.append(1)
        return np.exp(-((x - z) ** 2).sum())

    KGLVQClassifier(kernel=kernel, random_state=0).fit(*rings)
    assert len(calls) <= 80 * 81  # scikit-learn may fill one triangle or the whole square


def test_gamma_scale_is_that_of_scikit_learn(iris):
    X, y = iris
    X = np.unique(X, axis=0)  # equal samples count as one
    y = np.arange(len(X)) % 2

    readout = KGLVQClassifier(random_state=0, tol=0.1).fit(X, y)
    assert readout.gamma_ == pytest.approx(1 / (X.shape[1] * X.var()))


def test_too_large_a_kernel_matrix_is_refused_with_its_size_and_the_model_stays(rings):
    X, y = rings
    readout = KGLVQClassifier(random_state=0).fit(X, y)
    expected = readout.decision_function(X)

    with pytest.raises(MemoryError, match="80 samples needs 25600 bytes, more than max_kernel"):
        readout.set_params(max_kernel_bytes=25_000).fit(X, y)
    np.testing.assert_array_equal(readout.decision_function(X), expected)
    readout.set_params(max_kernel_bytes=25_600).fit(X, y)


def test_fit_whose_cost_overflows_leaves_the_model_as_it_was(iris):
    X, y = iris
    readout = KGLVQClassifier(kernel="linear", random_state=0).fit(X, y)
    expected = readout.predict(X)

    with pytest.raises(ValueError, match="not a finite number"), np.errstate(all="ignore"):
        readout.fit(X * 1e160, y + 5)
    np.testing.assert_array_equal(readout.predict(X), expected)
    sentence = "the distances are not finite: features are too large"
    with pytest.raises(ValueError, match=sentence), np.errstate(all="ignore"):
        readout.predict(np.tile(X * 1e307, (9, 1)))  # in several blocks


def test_prototypes_start_at_the_class_means_and_noise_is_a_share_of_each_coefficient():
    is_own = np.eye(2, dtype=bool)[:, np.arange(40) % 2]
    weights = np.linspace(1, 2, 40)
    means, noisy = (
        KGLVQClassifier(init_noise=noise, random_state=0)._starting_coefficients(weights, is_own)
        for noise in (0.0, 0.5)
    )

    np.testing.assert_allclose(means, is_own * weights / (is_own @ weights)[:, np.newaxis])
    shares = noisy[is_own] / means[is_own]
    assert 0.5 <= shares.min() < 0.6
    assert 1.4 < shares.max() <= 1.5


@pytest.mark.parametrize(
    ("kernel", "tolerance"),
    [("rbf", 1e-6), ("laplacian", 1e-6), ("poly", 1e-9), ("linear", 1e-9), (np.dot, 1e-9)],
    ids=str,
)
def test_prototype_distances_are_those_in_feature_space(wine, kernel, tolerance):
    X, y = wine
    readout = KGLVQClassifier(2, kernel=kernel, max_iter=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        readout.fit(X[::2], y[::2])
    given = {} if callable(kernel) else {"gamma": readout.gamma_}
    K = pairwise_kernels(np.vstack([X, readout.X_fit_]), metric=kernel, filter_params=True, **given)
    # ‖φ(x) - Σ γ φ(x_m)‖² as the quadratic form of 1 and -γ
    combined = [
        np.hstack([np.eye(len(X)), np.tile(-gamma, (len(X), 1))]) for gamma in readout.dual_coef_
    ]
    expected = np.stack([np.einsum("mi,ij,mj->m", c, K, c) for c in combined], axis=1)

    distances = readout.prototype_distances(X)

    np.testing.assert_allclose(distances, expected, atol=tolerance * expected.max())


def test_prototype_distances_of_blocks_of_rows_are_those_of_each_row(rng):
    X = rng.normal(size=(BLOCK_ROWS + 10, 3))
    readout = KGLVQClassifier(max_iter=2500, random_state=0).fit(X[:60], np.arange(60) % 2)

    distances = readout.prototype_distances(X)
    one_by_one = np.vstack([readout.prototype_distances(x[None]) for x in X[-20:]])
    np.testing.assert_allclose(distances[-20:], one_by_one, atol=1e-6)
