import numpy as np
from sklearn.neighbors import NearestCentroid

from hyperlvq import CentroidClassifier


def test_centroids_agree_with_scikit_learns(wine):
    X, y = wine

    ours, theirs = CentroidClassifier().fit(X, y), NearestCentroid().fit(X, y)
    np.testing.assert_allclose(ours.prototypes_, theirs.centroids_)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_fit_and_batches_after_it_give_the_centroids_of_all_samples(wine):
    X, y = wine
    weights = np.linspace(0.5, 2, len(X))
    first, *others = (slice(start, None, 5) for start in range(5))

    learner = CentroidClassifier().fit(X[first], y[first], weights[first])
    for rows in others:
        learner.partial_fit(X[rows], y[rows], sample_weight=weights[rows])
    whole = CentroidClassifier().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(learner.prototypes_, whole.prototypes_)
    np.testing.assert_allclose(learner.class_weights_, whole.class_weights_)


def test_fit_forgets_earlier_batches(wine):
    X, y = wine
    learner = CentroidClassifier().partial_fit(X[:9] + 5, y[:9], classes=[0, 1, 2])

    expected = CentroidClassifier().fit(X, y).prototypes_
    np.testing.assert_array_equal(learner.fit(X, y).prototypes_, expected)
