import numpy as np
import pytest

from hyperlvq import CentroidClassifier, PerceptronClassifier


def test_perceptron_improves_on_the_centroids(activations):
    X, y = activations

    refined = PerceptronClassifier(random_state=0).fit(X, y)
    assert refined.score(X, y) >= CentroidClassifier().fit(X, y).score(X, y)


def test_training_stops_with_a_pass_without_mistakes():
    X, y = np.array([[0.0], [1.0], [9.0], [10.0]]), [0, 0, 1, 1]

    readout = PerceptronClassifier(random_state=0).fit(X, y)
    assert readout.n_iter_ == 1
    assert readout.loss_curve_ == [0]
    np.testing.assert_array_equal(readout.prototypes_, [[0.5], [9.5]])


def test_training_without_convergence_takes_all_passes(activations, rng):
    X, _ = activations

    readout = PerceptronClassifier(max_iter=4, random_state=0).fit(X, rng.integers(3, size=len(X)))
    assert readout.n_iter_ == len(readout.loss_curve_) == 4


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"learning_rate": 0}, "learning_rate must be a finite number above 0, got 0"),
        ({"learning_rate": np.inf}, "learning_rate must be a finite number above 0, got inf"),
        ({"max_iter": 0}, "max_iter must be at least 1, got 0"),
    ],
)
def test_bad_parameter_is_named_with_its_value(activations, parameters, message):
    with pytest.raises(ValueError, match=message):
        PerceptronClassifier(**parameters).fit(*activations)
