import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperlvq.kernels.missing import fill_missing, prior_scores, score_empty_rows, weighted_medians
from hyperlvq.kernels.scores import compared, softmax_probabilities

ROWS = st.lists(st.tuples(st.integers(-4, 4), st.integers(1, 5)), min_size=1, max_size=12)


@given(ROWS, st.randoms(use_true_random=False))
def test_medians_of_counts_are_those_of_repeated_rows_in_any_order(rows, random):
    random.shuffle(rows)
    values, counts = np.array(rows, dtype=float).T
    expected = np.median(np.repeat(values, counts.astype(int)))

    assert weighted_medians(values[:, None], counts).tolist() == [expected]


def test_a_feature_with_a_missing_value_has_no_median():
    X = np.array([[1, 4], [np.nan, 6], [3, 5]], dtype=np.float32)

    np.testing.assert_array_equal(weighted_medians(X, np.ones(3)), [np.nan, 5])


def test_only_missing_values_with_a_median_are_filled():
    X = np.array([[1, np.nan, np.nan], [2, 3, 4]], dtype=np.float32)
    filled, is_filled = fill_missing(X, np.array([8, 0.1, np.nan]))

    np.testing.assert_array_equal(filled, [[1, 0.1, np.nan], [2, 3, 4]])
    np.testing.assert_array_equal(is_filled, [[False, True, False], [False] * 3])


@pytest.mark.parametrize("medians", [None, np.full(2, np.nan), np.ones(2)])
def test_what_needs_no_filling_is_not_copied(medians):
    X = np.array([[1.0, 2.0], [0.0, np.nan if medians is None or medians[0] != 1 else 3.0]])
    filled, is_filled = fill_missing(X, medians)

    assert filled is X
    assert is_filled is None


@pytest.mark.parametrize("prior", [[0.3, 0.7], [0.2, 0.5, 0.3], [1 - 1e-300, 1e-300]])
def test_scores_of_class_frequencies_give_them_as_probabilities(prior):
    scores = compared(prior_scores(np.array(prior), 1e-3)[None])

    np.testing.assert_allclose(softmax_probabilities(scores, 1e-3), [prior], atol=1e-3)
    if min(prior) > 1e-3:
        np.testing.assert_allclose(softmax_probabilities(scores, 1e-3), [prior], rtol=1e-12)


def test_rows_with_a_value_keep_their_scores():
    scores, X = np.ones((2, 2)), np.array([[np.nan, 1], [np.nan, np.nan]])
    score_empty_rows(scores, X, np.array([0.5, 0.5]), 0.0)

    np.testing.assert_array_equal(scores, [[1, 1], [np.log(0.5)] * 2])
