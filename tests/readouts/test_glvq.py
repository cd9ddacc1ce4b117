import numpy as np
import plain
import pytest
from sklearn.exceptions import ConvergenceWarning

from hyperlvq import GLVQClassifier


def mean_cost_and_gradient(readout, X, y):
    prototypes = readout.prototypes_, readout.prototype_classes_
    shares = np.full(len(X), 1 / len(X))
    return plain.cost_and_gradient(*prototypes, X.astype(float), y, readout.slope_, shares)


def mean_cost(readout, X, y):
    return mean_cost_and_gradient(readout, X, y)[0]


def test_prototypes_end_at_a_stationary_point(wine):
    readout = GLVQClassifier(slope=2.0, tol=1e-5, random_state=0).fit(*wine)

    assert np.abs(mean_cost_and_gradient(readout, *wine)[1]).max() < 5e-4


def test_loss_curve_falls_to_the_cost_of_the_model(activations):
    X, y = activations
    readout = GLVQClassifier(random_state=0).fit(X, y)

    assert len(readout.loss_curve_) == readout.n_iter_
    assert (np.diff(readout.loss_curve_) <= 1e-7).all()
    assert readout.loss_curve_[-1] == pytest.approx(mean_cost(readout, X, y), rel=1e-4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["lbfgs", "sgd"])
@pytest.mark.parametrize(
    ("total", "slope"), [(1e-9, 6), (75, 6), (300, 12), (1200, 24), (75_000, 189.7), (1e6, 200)]
)
def test_auto_slope_grows_with_the_root_of_the_weight_of_all_samples(wine, total, slope, solver):
    X, y = wine
    readout = GLVQClassifier(solver=solver, max_iter=1, random_state=0)

    readout.fit(X, y, sample_weight=np.full(len(y), total / len(y)))
    assert readout.slope_ == pytest.approx(slope, abs=0.05)


@pytest.mark.parametrize("class_weight", [{0: 1000, 1: 0.001}, "balanced"])
def test_auto_slope_does_not_depend_on_weights_of_classes(wine, class_weight):
    plain, weighted = (
        GLVQClassifier(class_weight=each, random_state=0).fit(*wine).slope_
        for each in (None, class_weight)
    )

    assert weighted == pytest.approx(plain)


@pytest.mark.parametrize("begin", [GLVQClassifier.partial_fit, GLVQClassifier.fit])
def test_auto_slope_of_the_first_samples_is_kept(wine, begin):
    X, y = wine
    labels = {"classes": [0, 1, 2]} if begin is GLVQClassifier.partial_fit else {}
    readout = begin(GLVQClassifier(random_state=0), X, y, **labels)
    first = readout.slope_

    assert first == pytest.approx(12 * np.sqrt(len(y) / 300))
    assert readout.partial_fit(X[:3], y[:3]).slope_ == first
    assert readout.set_params(slope=3).partial_fit(X[:3], y[:3]).slope_ == 3


def test_online_training_nears_the_cost_of_lbfgs(activations):
    X, y = activations

    online = GLVQClassifier(solver="sgd", random_state=0).fit(X, y)
    batch = GLVQClassifier(random_state=0).fit(X, y)
    assert mean_cost(online, X, y) < 1.1 * mean_cost(batch, X, y)


def test_given_learning_rate_is_used_as_it_is(activations, recwarn):
    X, y = activations
    parameters = {"solver": "sgd", "max_iter": 1, "shuffle": False, "init_noise": 0}
    prototypes = np.array([X[y == c].mean(axis=0) for c in range(3)])

    readout = GLVQClassifier(slope=10, learning_rate=2.0, **parameters).fit(X, y)
    plain.glvq_pass(X, y, np.arange(len(X)), prototypes, np.arange(3), 10.0, 2.0)
    np.testing.assert_allclose(readout.prototypes_, prototypes)
    assert readout.learning_rate_ == 2.0


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_auto_learning_rate_follows_the_scale_of_the_data(wine, scale):
    X, y = wine

    def fitted(factor):
        readout = GLVQClassifier(solver="sgd", init_noise=0.1 * factor, random_state=0)
        return readout.fit(X * factor, y)

    assert fitted(scale).learning_rate_ == pytest.approx(scale**2 * fitted(1).learning_rate_)
    assert fitted(scale).score(X * scale, y) > 0.95


def test_auto_learning_rate_of_the_first_batch_is_kept(wine):
    X, y = wine
    readout = GLVQClassifier(solver="sgd", random_state=0)
    first = readout.partial_fit(X[::2], y[::2], classes=[0, 1, 2]).learning_rate_

    assert 0 < first < 1
    assert readout.partial_fit(3 * X[1::2], y[1::2]).learning_rate_ == first


def test_auto_learning_rate_waits_for_a_second_class(activations):
    X, y = activations
    readout = GLVQClassifier(random_state=0)

    readout.partial_fit(X[y == 0], y[y == 0], classes=[0, 1, 2])
    assert readout.learning_rate_ == 0
    readout.partial_fit(X, y)
    assert readout.learning_rate_ > 0


def test_warm_start_goes_on_where_the_last_fit_ended(activations, recwarn):
    X, y = activations
    readout = GLVQClassifier(warm_start=True, max_iter=5, random_state=0).fit(X, y)
    first = readout.loss_curve_[-1]

    assert readout.fit(X, y).loss_curve_[0] < first


def test_warm_start_refuses_what_the_prototypes_do_not_fit(activations):
    X, y = activations
    readout = GLVQClassifier(warm_start=True, random_state=0).fit(X, y)

    with pytest.raises(ValueError, match=r"needs the classes \[0, 1, 2\], got \[5, 6, 7\]"):
        readout.fit(X, y + 5)
    with pytest.raises(ValueError, match="warm_start needs 40 features, got 39"):
        readout.fit(X[:, 1:], y)
    with pytest.raises(
        ValueError,
        match=r"warm_start needs the prototypes_per_class of the last fit.*got \[2, 2, 2\]",
    ):
        readout.set_params(prototypes_per_class=2).fit(X, y)


def test_warm_start_keeps_the_classes_of_prototypes_learnt_in_batches(iris, recwarn):
    X, y = iris
    readout = GLVQClassifier(warm_start=True, max_iter=1, random_state=0)
    for label in (2, 0, 1):
        readout.partial_fit(X[y == label], y[y == label], classes=[0, 1, 2])
    before = readout.score(X, y)

    assert readout.fit(X, y).score(X, y) >= before
    assert readout.prototype_classes_.tolist() == [2, 0, 1]


def test_learning_rate_is_forgotten_by_the_next_fit(iris):
    X, y = iris
    readout = GLVQClassifier(solver="sgd", random_state=0).fit(X * 1e3, y)

    readout.set_params(solver="lbfgs").fit(X, y)
    assert readout.partial_fit(X, y).score(X, y) > 0.9


def test_float32_features_far_from_zero_lose_no_accuracy(iris):
    X, y = (iris[0] + 1e4).astype(np.float32), iris[1]

    assert GLVQClassifier(random_state=0).fit(X, y).score(X, y) > 0.95


@pytest.mark.compiled
def test_training_needs_little_memory_beyond_the_activations(rng, peak_memory):
    X = rng.integers(-3, 4, size=(5000, 1000), dtype=np.int8)
    y = rng.integers(5, size=5000)
    readout = GLVQClassifier(prototypes_per_class=3, max_iter=3, random_state=0)

    with pytest.warns(ConvergenceWarning):
        assert peak_memory(lambda: readout.fit(X, y)) < 40e6


@pytest.mark.parametrize(
    ("tol", "gain", "has_converged"), [(0, 1e-7, False), (0, 0, False), ("auto", 1e-7, True)]
)
def test_passes_that_gain_little_are_the_last_unless_no_tolerance_is_asked_for(
    tol, gain, has_converged
):
    readout = GLVQClassifier(solver="sgd", tol=tol)
    readout.loss_curve_ = [1 - gain * n_passes for n_passes in range(20)]

    assert readout._has_converged() is has_converged
