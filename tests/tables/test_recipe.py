"""The model of a table: what becomes of numbers and of text."""

import numpy as np
import pandas as pd
import pytest

from hyperlvq.checks import InputError
from hyperlvq.tables.columns import Column, Kind
from hyperlvq.tables.recipe import MOST_LEVELS, table_classifier, table_recipe

NUMBER, TEXT = Column("a", Kind.NUMBER), Column("t", Kind.TEXT)


def features(frame, columns, hidden="intrvfl"):
    """Return what the first step of a fitted model makes of the table it was fitted on."""
    model = table_classifier(columns, len(frame), hidden, "centroids", seed=0)
    y = np.arange(len(frame)) % 2
    return model.fit(frame, y)["columns"].transform(frame)


def test_numbers_go_on_with_their_missing_ones_to_the_integer_layer():
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0, 5.0]})

    np.testing.assert_array_equal(features(frame, [NUMBER])[:, 0], frame["a"])


@pytest.mark.parametrize("hidden", ["features", "rvfl"])
def test_other_layers_get_the_median_for_a_missing_number(hidden):
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0, 5.0]})

    np.testing.assert_array_equal(features(frame, [NUMBER], hidden)[:, 0], [1, 3, 3, 5])


def test_text_becomes_one_feature_per_level_and_one_for_missing_cells():
    frame = pd.DataFrame({"t": ["x", "y", np.nan] * 2}, dtype=object)

    np.testing.assert_array_equal(features(frame, [TEXT]), np.tile(np.eye(3), (2, 1)))


def test_levels_of_one_row_share_a_feature():
    frame = pd.DataFrame({"t": ["rare", "seldom", *["x"] * 20]})

    np.testing.assert_array_equal(features(frame, [TEXT])[:3], [[0, 1], [0, 1], [1, 0]])


def test_in_a_small_table_every_level_has_a_feature():
    frame = pd.DataFrame({"t": ["x", "x", "rare", "seldom"]})

    assert features(frame, [TEXT]).shape == (4, 3)


def test_a_column_of_text_has_a_limited_number_of_features():
    frame = pd.DataFrame({"t": [f"level {i % 150}" for i in range(900)]})

    assert features(frame, [TEXT]).shape == (900, MOST_LEVELS)


def test_a_level_not_seen_in_training_is_no_feature():
    frame = pd.DataFrame({"t": ["x", "y"] * 3})
    model = table_classifier([TEXT], 6, "intrvfl", "centroids", seed=0).fit(frame, [0, 1] * 3)

    unseen = model["columns"].transform(pd.DataFrame({"t": ["z", np.nan]}, dtype=object))

    np.testing.assert_array_equal(unseen, np.zeros((2, 2)))


def test_dropped_columns_are_not_asked_for():
    columns = [NUMBER, Column("d", Kind.DROPPED, reason="dates")]

    assert features(pd.DataFrame({"a": [1.0, 2.0]}), columns).shape == (2, 1)


def test_every_random_state_is_the_seed():
    parameters = table_recipe("intrvfl", "glvq", 7).get_params()

    seeds = [value for name, value in parameters.items() if name.endswith("random_state")]
    assert seeds == [7, 7]


def test_a_parameter_that_the_recipe_has_not_is_bad_input():
    with pytest.raises(InputError, match="'rvfl' with 'rls' has no parameter 'clip'"):
        table_recipe("rvfl", "rls", 0, clip=3)
