import numpy as np
from sklearn.neighbors import NearestCentroid

from hyperlvq import CentroidClassifier


def test_centroids_agree_with_scikit_learns(wine):
    X, y = wine

    ours, theirs = CentroidClassifier().fit(X, y), NearestCentroid().fit(X, y)
    np.testing.assert_allclose(ours.prototypes_, theirs.centroids_)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_scores_are_minus_the_squared_distances(wine):
    X, y = wine
    readout = CentroidClassifier().fit(X, y)

    expected = -((X[:, np.newaxis] - readout.prototypes_) ** 2).sum(axis=2)
    np.testing.assert_allclose(readout.decision_function(X), expected, atol=1e-12)


def test_batches_give_the_centroids_of_all_samples(wine):
    X, y = wine
    weights = np.linspace(0.5, 2, len(X))
    learner = CentroidClassifier()

    for rows in np.array_split(np.arange(len(X)), 5):
        learner.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=weights[rows])
    whole = CentroidClassifier().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(learner.prototypes_, whole.prototypes_)
    np.testing.assert_allclose(learner.class_weights_, whole.class_weights_)


def test_fit_forgets_earlier_batches(wine):
    X, y = wine
    learner = CentroidClassifier().partial_fit(X[:9] + 5, y[:9], classes=[0, 1, 2])

    expected = CentroidClassifier().fit(X, y).prototypes_
    np.testing.assert_array_equal(learner.fit(X, y).prototypes_, expected)


def test_batches_can_follow_a_fit(wine):
    X, y = wine
    even, odd = slice(None, None, 2), slice(1, None, 2)

    learner = CentroidClassifier().fit(X[even], y[even]).partial_fit(X[odd], y[odd])
    np.testing.assert_allclose(learner.prototypes_, CentroidClassifier().fit(X, y).prototypes_)
