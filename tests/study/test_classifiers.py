import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from hyperlvq.study.classifiers import ProbabilitySVC
from hyperlvq.study.protocol import probability_results


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
    assert probability_results(probabilities, y[1::2])["log_loss"] < np.log(n_classes)


def test_a_class_of_one_sample_is_no_obstacle():
    X, y = blobs(2)
    y[0] = 7

    for calibration_rows in (2000, 20):
        model = ProbabilitySVC(1.0, 1.0, calibration_rows).fit(X, y)
        assert model.predict_proba(X).shape == (300, 3)


@pytest.mark.parametrize(("calibration_rows", "n_parts"), [(2000, 3), (200, 2), (60, 1), (29, 1)])
def test_probabilities_are_of_about_so_many_rows(calibration_rows, n_parts, monkeypatch):
    seen = []

    def fit(svc, X, y):
        seen.append(len(y))
        return plain_fit(svc, X, y)

    plain_fit = SVC.fit
    monkeypatch.setattr(SVC, "fit", fit)
    ProbabilitySVC(1.0, 1.0, calibration_rows).fit(*blobs(2))

    n_used = 300 * n_parts - sum(seen[1:])
    assert len(seen) == 1 + n_parts
    assert n_used == 300 if calibration_rows == 2000 else abs(n_used - calibration_rows) <= 1


def test_probabilities_can_be_left_out():
    X, y = blobs(2)

    assert not hasattr(ProbabilitySVC(1.0, 1.0, calibration_rows=0).fit(X, y), "calibrator_")
