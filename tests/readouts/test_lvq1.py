import numpy as np
import plain

from hyperlvq import LVQ1Classifier


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
