import numpy as np
import plain
import pytest
from sklearn.datasets import load_digits

from hyperlvq import (
    CentroidClassifier,
    GLVQClassifier,
    IntRVFLLayer,
    LVQ1Classifier,
    PerceptronClassifier,
)


def test_perceptron_improves_on_the_centroids():
    X, y = load_digits(return_X_y=True)
    X, y = X[:150] / 16, y[:150]
    H = IntRVFLLayer(n_units=40, random_state=0).fit_transform(X)

    refined = PerceptronClassifier(learning_rate=0.002, tol=0, random_state=0).fit(H, y)
    assert refined.score(H, y) > CentroidClassifier().fit(H, y).score(H, y) + 0.05


def test_training_stops_with_a_pass_without_mistakes():
    X, y = np.array([[0.0], [1.0], [9.0], [10.0]]), [0, 0, 1, 1]

    readout = PerceptronClassifier(random_state=0).fit(X, y)
    assert readout.n_iter_ == 1
    assert readout.loss_curve_ == [0]
    np.testing.assert_array_equal(readout.prototypes_, [[0.5], [9.5]])


def test_training_stops_when_mistakes_get_no_fewer(activations, rng):
    X, _ = activations

    readout = PerceptronClassifier(random_state=0).fit(X, rng.integers(3, size=len(X)))
    assert 5 < readout.n_iter_ == len(readout.loss_curve_) < 1000


@pytest.mark.filterwarnings("ignore:overflow encountered")  # numpy, where nothing is compiled
@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_prototypes_without_bounds_are_named_and_undone(iris):
    X, y = iris
    message = r"the prototypes diverge: learning_rate=1e\+300 or the features are too large"
    with pytest.raises(ValueError, match=message):
        GLVQClassifier(solver="sgd", learning_rate=1e300, random_state=0).fit(X, y)

    readout = GLVQClassifier(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    expected = readout.predict(X)
    with pytest.raises(ValueError, match=message):
        readout.set_params(learning_rate=1e300).partial_fit(X, y)
    np.testing.assert_array_equal(readout.predict(X), expected)


def test_refinement_that_does_harm_is_undone(iris):
    X, y = iris[0] + 1000, iris[1]  # a mistake moves prototypes by far more than they differ
    readout = PerceptronClassifier(random_state=0).fit(X, y)

    assert readout.loss_curve_[-1] > 2 * min(readout.loss_curve_)
    assert readout.score(X, y) >= CentroidClassifier().fit(X, y).score(X, y)


def test_rate_falls_linearly_from_pass_to_pass(activations):
    X, y = activations
    parameters = {"init_noise": 0, "shuffle": False, "learning_rate": 0.2}
    prototypes = np.array([X[y == c].mean(axis=0) for c in range(3)])

    readout = LVQ1Classifier(max_iter=2, **parameters).fit(X, y)
    for rate in (0.2, 0.1):
        plain.lvq1_pass(X, y, np.arange(len(X)), prototypes, np.arange(3), rate)
    np.testing.assert_allclose(readout.prototypes_, prototypes)


def test_several_prototypes_follow_the_clusters_of_a_class(rng):
    centres = np.array([[0, 0], [8, 8], [0, 8], [8, 0]])
    X = centres.repeat(30, axis=0) + rng.normal(scale=0.5, size=(120, 2))
    y = np.repeat([0, 0, 1, 1], 30)

    readout = LVQ1Classifier(prototypes_per_class=2, init_noise=1, random_state=0).fit(X, y)
    assert readout.score(X, y) == 1
    assert LVQ1Classifier(prototypes_per_class=1, random_state=0).fit(X, y).score(X, y) < 0.8
