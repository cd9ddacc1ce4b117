import numpy as np

from hyperlvq.kernels.features import columns_to_features, level_lookups


def test_columns_become_features_by_hand():
    learnt = {
        "level_names_": np.array(["x", "y"], dtype=object),
        "level_columns_": np.array([0, 0]),
        "level_features_": np.array([1, 2]),
        "missing_features_": np.array([3]),
        "date_columns_": np.array([], dtype=np.int64),
        "date_parts_": np.array([], dtype=np.int64),
        "medians_": np.array([7.5]),
        "n_features_out_": 4,
    }
    text = [np.array(["y", "new", None, "x"], dtype=object)]

    numbers = [np.array([5.0, np.nan, 7, 8])]

    found = columns_to_features([numbers, text, []], learnt, level_lookups(learnt), fill=True)

    np.testing.assert_array_equal(found, [[5, 0, 1, 0], [7.5, 0, 0, 0], [7, 0, 0, 1], [8, 1, 0, 0]])


def test_missing_text_may_be_the_first_feature_or_none():
    learnt = {
        "level_names_": np.array(["x"], dtype=object),
        "level_columns_": np.array([0]),
        "level_features_": np.array([1]),
        "missing_features_": np.array([0, -1]),
    }

    assert level_lookups(learnt) == [{None: 0, "x": 1}, {}]
