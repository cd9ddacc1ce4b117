from math import log

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier

from hyperlvq.study.probabilities import class_probabilities, confidence_bins, log_loss

X = np.array([[0.0], [1.0], [4.0]])


def test_a_class_that_training_did_not_see_has_no_probability():
    classifier = KNeighborsClassifier(1).fit(X, [0, 2, 2])

    assert class_probabilities(classifier, X, 4).tolist() == [[1, 0, 0, 0], *[[0, 0, 1, 0]] * 2]


def test_a_model_may_have_no_probabilities():
    assert class_probabilities(RidgeClassifier().fit(X, [0, 1, 1]), X, 2) is None


def test_log_loss_is_that_of_the_true_class_with_a_floor_under_its_probability():
    probabilities = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])

    expected = -(log(0.5) + log(0.25) + log(0.001)) / 3
    assert log_loss(probabilities, np.array([0, 0, 1])) == pytest.approx(expected)


def test_samples_are_counted_by_tenths_of_confidence():
    probabilities = np.array([[0.62, 0.38], [0.35, 0.65], [1.0, 0.0], [0.5, 0.5]])
    bins = confidence_bins(probabilities, np.array([0, 0, 0, 1]))

    assert bins[5:] == [[1, 0.5, 0], [2, 1.27, 1], [0, 0, 0], [0, 0, 0], [1, 1, 1]]
    assert bins[:5] == [[0, 0, 0]] * 5
