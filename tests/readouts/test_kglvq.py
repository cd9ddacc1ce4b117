import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from hyperlvq import KGLVQClassifier


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


def test_scores_are_minus_the_distance_in_feature_space(rings):
    X, y = rings
    readout = KGLVQClassifier(gamma=0.5, random_state=0).fit(X, y)
    kernel = rbf_kernel(X, readout.X_fit_, gamma=0.5)
    within = rbf_kernel(readout.X_fit_, gamma=0.5)

    norms = np.diag(readout.dual_coef_ @ within @ readout.dual_coef_.T)
    distances = 1 - 2 * kernel @ readout.dual_coef_.T + norms
    expected = distances[:, 0] - distances[:, 1]
    np.testing.assert_allclose(readout.decision_function(X), expected, atol=1e-6)


def test_kernel_matrix_is_computed_once_per_fit(rings):
    calls = []

    def kernel(x, z):
        calls.append(1)
        return np.exp(-((x - z) ** 2).sum())

    KGLVQClassifier(kernel=kernel, random_state=0).fit(*rings)
    assert len(calls) <= 80 * 81  # scikit-learn may fill one triangle or the whole square


def test_named_kernels_take_gamma_only_if_they_know_it(rings):
    X, y = rings

    named = KGLVQClassifier(kernel="poly", gamma=0.2, random_state=0).fit(X, y)
    expected = polynomial_kernel(X[:3], named.X_fit_, gamma=0.2) @ named.dual_coef_.T
    scores = named.decision_function(X[:3])
    norms = named.prototype_norms_
    np.testing.assert_allclose(
        scores, (norms[0] - 2 * expected[:, 0]) - (norms[1] - 2 * expected[:, 1])
    )


def test_gamma_scale_is_that_of_scikit_learn(iris):
    X, y = iris
    X = np.unique(X, axis=0)  # equal samples count as one
    y = np.arange(len(X)) % 2

    readout = KGLVQClassifier(random_state=0, tol=0.1).fit(X, y)
    assert readout.gamma_ == pytest.approx(1 / (X.shape[1] * X.var()))


def test_gamma_scale_of_constant_data_is_one():
    readout = KGLVQClassifier(random_state=0).fit(np.ones((4, 2)), [0, 1, 0, 1])

    assert readout.gamma_ == 1


def test_too_large_a_kernel_matrix_is_refused_with_its_size(rings):
    with pytest.raises(MemoryError, match="80 samples needs 25600 bytes, more than max_kernel"):
        KGLVQClassifier(max_kernel_bytes=25_000).fit(*rings)


def test_model_survives_a_refit_that_is_too_large(rings):
    X, y = rings
    readout = KGLVQClassifier(random_state=0).fit(X, y)
    expected = readout.decision_function(X)

    with pytest.raises(MemoryError):
        readout.set_params(max_kernel_bytes=1).fit(X[:50], y[:50])
    np.testing.assert_array_equal(readout.decision_function(X), expected)


def test_iteration_limit_warns(rings):
    with pytest.warns(ConvergenceWarning, match="limit of 2 iterations"):
        readout = KGLVQClassifier(max_iter=2, random_state=0).fit(*rings)
    assert readout.n_iter_ == len(readout.loss_curve_) == 2


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"slope": -1}, ValueError, "slope must be a finite number above 0, got -1"),
        ({"kernel": "gauss"}, ValueError, "kernel must be one of .*'rbf'.*, got 'gauss'"),
        ({"gamma": 0}, ValueError, "gamma must be a finite number above 0, got 0"),
        ({"gamma": "auto"}, TypeError, "gamma must be a number, got 'auto'"),
        ({"max_kernel_bytes": 0}, ValueError, "max_kernel_bytes must be at least 1, got 0"),
        ({"prototypes_per_class": 0}, ValueError, "prototypes_per_class must be at least 1"),
    ],
)
def test_bad_parameter_is_named_with_its_value(rings, parameters, error, message):
    with pytest.raises(error, match=message):
        KGLVQClassifier(**parameters).fit(*rings)


def test_fit_that_fails_leaves_the_model_as_it_was(iris):
    X, y = iris
    readout = KGLVQClassifier(kernel="chi2", tol=1e-2, random_state=0).fit(X, y)
    expected = readout.predict(X)

    with pytest.raises(ValueError, match="negative"):
        readout.fit(-X, y)
    np.testing.assert_array_equal(readout.predict(X), expected)
