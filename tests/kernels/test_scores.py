import numpy as np
import pytest

from hyperlvq.kernels.scores import (
    mean_distance_sum,
    prototype_probabilities,
    softmax_probabilities,
)

INF = np.inf


def test_probabilities_worked_by_hand():
    # margins are (2 - 3)/10 for the winner, and (3 - 2)/10, (7 - 2)/10
    found = prototype_probabilities(np.array([[2.0, 3.0, 7.0]]), np.array([0]), 4.0, 10.0)

    shares = 1 / (1 + np.exp([-0.4, 0.4, 2.0]))
    np.testing.assert_allclose(found, [shares / shares.sum()])


def test_softmax_worked_by_hand():
    log_of = np.log([[1.0, 2.0, 5.0]])

    np.testing.assert_allclose(softmax_probabilities(log_of, 0.0), [[1 / 8, 2 / 8, 5 / 8]])
    np.testing.assert_allclose(softmax_probabilities(log_of, 0.3), [[0.1875, 0.275, 0.5375]])
    np.testing.assert_allclose(softmax_probabilities(np.log([3.0]), 0.0), [[1 / 4, 3 / 4]])


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1.0, 1e200])
@pytest.mark.parametrize(
    "distances",
    [[0.0, 0.0], [0.0, 5.0], [5.0, 5.0, 5.0], [0.0, INF, 1e300], [INF, 3.0], [1e308, 1e-308]],
    ids=str,
)
def test_probabilities_of_any_distances_are_finite_and_add_up(distances, scale):
    distances = np.array([distances])
    winners = distances.argmin(axis=1)

    for slope in (1e-300, 10.0, 1e300):
        found = prototype_probabilities(distances, winners, slope, scale)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1, abs=1e-15)
        assert (found[np.isinf(distances)] == 0).all()
        assert found.argmax() == winners[0]


def test_winner_has_the_largest_probability_where_rounding_makes_a_tie():
    closer = np.nextafter(1.0, 0)

    found = prototype_probabilities(np.array([[1.0, closer, 1.0]]), np.array([1]), 10.0, 1.0)
    assert found.argmax() == 1
    np.testing.assert_allclose(found, 1 / 3)


def test_mean_of_distances_is_weighted_and_leaves_out_what_is_infinitely_far():
    distances = np.array([[1.0, 4.0, 9.0], [2.0, 7.0, INF], [3.0, INF, INF]])

    weights = np.array([1.0, 3.0, 5.0])
    assert mean_distance_sum(distances, np.array([0, 1, 0]), weights) == (1 * 5 + 3 * 9) / 4
    assert mean_distance_sum(distances[2:], np.array([0]), weights[2:]) == 0
