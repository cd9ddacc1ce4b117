import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder

from hyperlvq.kernels.features import choose_levels, columns_to_features, level_lookups


def test_levels_are_in_order_with_missing_ones_behind_them():
    names, features, of_missing = choose_levels(["y", None, "x", np.nan, "y"], 1, 100)

    assert names == ["x", "y"]
    assert (*features, of_missing) == (0, 1, 2)


def test_rare_levels_share_the_last_feature():
    names, features, of_missing = choose_levels(["a", "b", "b", "c", "c", None], 2, 100)

    assert names == ["a", "b", "c"]
    assert (*features, of_missing) == (2, 0, 1, 2)


def test_the_most_frequent_levels_are_kept_where_there_are_too_many():
    _, features, _ = choose_levels([*"abbcccdddd"], 1, 3)

    assert features.tolist() == [2, 2, 0, 1]


def test_columns_become_features_by_hand():
    lookups = level_lookups(
        np.array(["x", "y"], dtype=object), np.array([0, 0]), np.array([1, 2]), np.array([3])
    )
    text = [np.array(["y", "new", None, "x"], dtype=object)]

    found = columns_to_features([np.array([5.0, np.nan, 7, 8])], text, lookups, 4, medians=[7.5])

    np.testing.assert_array_equal(found, [[5, 0, 1, 0], [7.5, 0, 0, 0], [7, 0, 0, 1], [8, 1, 0, 0]])


@pytest.mark.parametrize("min_rows", [1, 2, 5])
@pytest.mark.parametrize("max_levels", [2, 4, 100])
@pytest.mark.parametrize("has_missing", [True, False])
def test_levels_are_those_of_scikit_learn(min_rows, max_levels, has_missing, rng):
    cells = rng.choice([*"abcdefgh", np.nan] if has_missing else [*"abcdefgh"], 40)
    column = np.array([None if cell == "nan" else cell for cell in cells], dtype=object)
    oracle = OneHotEncoder(
        handle_unknown="ignore",
        min_frequency=min_rows,
        max_categories=max_levels,
        sparse_output=False,
    ).fit(column[:, np.newaxis])
    names, features, of_missing = choose_levels(column, min_rows, max_levels)
    lookups = level_lookups(names, np.zeros(len(names), int), features, np.array([of_missing]))
    new = np.array([*column, "unseen"], dtype=object)

    found = columns_to_features([], [new], lookups, max(*features, of_missing) + 1)

    np.testing.assert_array_equal(found, oracle.transform(new[:, np.newaxis]))


def test_a_column_without_any_text_has_the_feature_of_missing_values():
    names, features, of_missing = choose_levels([None, None], 1, 100)
    lookups = level_lookups(names, np.array([], int), features, np.array([of_missing]))

    found = columns_to_features([], [np.array([None, "new"], dtype=object)], lookups, 1)

    np.testing.assert_array_equal(found, [[1], [0]])
