"""Levels of raw values: exact where they can be, and what is lost is said."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperlvq.checks import InputError
from hyperlvq.export.layout import scaling_layout
from hyperlvq.export.scaling import float_scaling, integer_scaling

UNITS = st.integers(1, 2000)


def integer_levels(x, low, high, n_units, input_type="int16"):
    bounds = (np.array([float(low)]), np.array([float(high)]))
    scaling, _ = integer_scaling(*bounds, n_units, ["a"], input_type)
    return scaling.levels(np.asarray(x)[:, np.newaxis])[:, 0]


def assert_exact(x, low, span, n_units, input_type="int16"):
    """Check the levels of x against round(N (x - min)/(max - min)), halves to even."""
    shares = [min(max(Fraction(int(value - low), span), Fraction(0)), Fraction(1)) for value in x]

    levels = integer_levels(x, low, low + span, n_units, input_type)
    assert levels.tolist() == [round(share * n_units) for share in shares]


@given(low=st.integers(-32768, 32000), span=st.integers(1, 767), n_units=UNITS)
@settings(deadline=None, max_examples=60)
def test_every_integer_of_an_integer_range_has_the_exact_level(low, span, n_units):
    x = np.arange(max(low - 2, -32768), min(low + span + 2, 32767) + 1)

    assert_exact(x, low, span, n_units)


@pytest.mark.parametrize(("input_type", "smallest"), [("int16", 1), ("int32", 2**20)])
@given(data=st.data(), n_units=UNITS)
@settings(deadline=None, max_examples=40)
def test_wide_ranges_are_exact_where_levels_change(input_type, smallest, data, n_units):
    limits = np.iinfo(input_type)
    span = data.draw(st.integers(smallest, int(limits.max) - int(limits.min)))
    edges = limits.min + (2 * np.arange(n_units) + 1) * span // (2 * n_units)
    x = np.unique(np.clip(np.concatenate([edges - 1, edges, edges + 1]), limits.min, limits.max))

    assert_exact(x, limits.min, span, n_units, input_type)


def test_ties_at_half_levels_go_to_the_even_one():
    levels = integer_levels(range(17), 0, 16, n_units=8)

    assert levels.tolist() == [0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 6, 7, 8, 8]


@given(low=st.floats(-500, 500), span=st.floats(0.01, 3000), n_units=st.integers(1, 1000))
@settings(deadline=None, max_examples=60)
def test_integers_in_a_real_range_have_the_level_of_the_float_model(low, span, n_units):
    x = np.arange(-600, 3600)
    positions = n_units * np.clip((x - low) / span, 0, 1)
    is_clear = np.abs(positions % 1 - 0.5) > 1e-9

    levels = integer_levels(x, low, low + span, n_units)

    np.testing.assert_array_equal(levels[is_clear], np.rint(positions[is_clear]))


def test_features_of_integer_and_of_real_ranges_go_together():
    low, high = np.array([0.0, 0.5, 3.0]), np.array([16.0, 90.25, 4.0])
    scaling, _ = integer_scaling(low, high, 8, ["a", "b", "c"], "int16")
    x = np.arange(-5, 100)

    levels = scaling.levels(np.column_stack([x, x, x]))

    expected = np.rint(8 * np.clip((x[:, np.newaxis] - low) / (high - low), 0, 1))
    np.testing.assert_array_equal(levels, expected)


def test_no_sum_of_a_scaling_leaves_its_width():
    for span in (3, 255, 4095, 65535):
        scaling, _ = integer_scaling(
            np.zeros(1) - 32768, np.zeros(1) - 32768 + span, 1000, ["a"], "int16"
        )
        largest = (span - 1) * int(scaling.multiplier[0]) + int(scaling.offset[0])

        assert largest < 2 ** scaling_layout(scaling).product_bits


def test_range_beyond_the_type_names_the_feature_and_a_wider_input():
    with pytest.raises(
        InputError, match=r"'area' ranges from 0 to 70000, beyond int16; choose int32"
    ):
        integer_scaling(np.zeros(1), np.array([70000.0]), 10, ["area"], "int16")
    with pytest.raises(InputError, match="choose float"):
        integer_scaling(np.zeros(1), np.array([1e12]), 10, ["area"], "int32")


def test_feature_of_few_integers_is_told_to_the_user():
    _, notes = integer_scaling(np.zeros(2), np.array([0.75, 100]), 10, ["ratio", "count"], "int16")

    assert len(notes) == 1
    assert "'ratio' spans only 0.75 integers" in notes[0]


@given(x=st.floats(width=32, allow_nan=False), n_units=UNITS)
@settings(deadline=None)
def test_float_levels_stay_within_the_units(x, n_units):
    scaling, _ = float_scaling(np.array([-3.0]), np.array([5.0]), n_units, ["a"])

    assert 0 <= scaling.levels([[x]])[0, 0] <= n_units


@given(level=st.integers(0, 1999))
@settings(deadline=None)
def test_float_levels_are_those_of_exact_arithmetic_at_halves(level):
    scaling, _ = float_scaling(np.zeros(1), np.array([2000.0]), 2000, ["a"])

    assert scaling.levels([[level + 0.5]])[0, 0] == round(Fraction(2 * level + 1, 2))


def test_range_that_float32_cannot_hold_names_the_feature():
    for low, high in ((0, 1e-40), (1e39, 2e39), (0, 1e39), (-3e38, 3e38), (-1e308, 1e308)):
        with pytest.raises(InputError, match="feature 'a' ranges from"):
            float_scaling(np.array([low]), np.array([high]), 10, ["a"])


def test_scale_that_float32_rounds_away_names_the_feature():
    with pytest.raises(InputError, match="feature 'b' ranges from"):
        float_scaling(np.zeros(2), np.array([1.0, 3e38]), 1, ["a", "b"])


def test_range_that_float32_resolves_poorly_is_told_to_the_user():
    _, notes = float_scaling(np.array([1e9]), np.array([1e9 + 500]), 100, ["time"])

    assert "feature 'time'" in notes[0]
