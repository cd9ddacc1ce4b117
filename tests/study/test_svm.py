import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from hyperlvq.study.probabilities import log_loss
from hyperlvq.study.svm import ProbabilitySVC


def blobs(n_classes, n_samples=300):
    X, y = make_blobs(n_samples, centers=n_classes, cluster_std=1.5, random_state=0)
    return X / np.abs(X).max(), y


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("calibration_rows", [2000, 50])
def test_predictions_are_those_of_svc_and_probabilities_beat_guessing(n_classes, calibration_rows):
    X, y = blobs(n_classes)
    model = ProbabilitySVC(4.0, 2.0, calibration_rows).fit(X[::2], y[::2])
    probabilities = model.predict_proba(X[1::2])

    expected = SVC(C=4.0, gamma=2.0).fit(X[::2], y[::2]).predict(X)
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert log_loss(probabilities, y[1::2]) < np.log(n_classes)


def test_a_class_of_one_sample_is_no_obstacle():
    X, y = blobs(2)
    y[0] = 7

    assert ProbabilitySVC().fit(X, y).predict_proba(X).shape == (300, 3)
    assert ProbabilitySVC(calibration_rows=20).fit(X, y).predict_proba(X).shape == (300, 3)


def test_probabilities_can_be_left_out():
    X, y = blobs(2)

    assert not hasattr(ProbabilitySVC(calibration_rows=0).fit(X, y), "calibrator_")
