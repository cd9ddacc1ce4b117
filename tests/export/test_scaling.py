"""Levels of raw values: exact where they can be, and what is lost is said."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hyperlvq.checks import InputError
from hyperlvq.export.layout import scaling_layout
from hyperlvq.export.scaling import FloatScaling, make_scaling, to_input

UNITS = st.integers(1, 2000)


def scale(low, high, n_units, input_type="int16"):
    """Return the scaling of features named a, b, c, and notes on it."""
    low, high = np.array(low, dtype=float, ndmin=1), np.array(high, dtype=float, ndmin=1)
    return make_scaling(low, high, n_units, "abc"[: len(low)], input_type)


def integer_levels(x, low, high, n_units, input_type="int16"):
    scaling, _ = scale(low, high, n_units, input_type)
    return scaling.levels(np.asarray(x)[:, np.newaxis])[:, 0]


def assert_exact(x, low, span, n_units, input_type="int16"):
    """Check the levels of x against round(N (x - min)/(max - min)), halves to even."""
    shares = [min(max(Fraction(int(value - low), span), Fraction(0)), Fraction(1)) for value in x]

    levels = integer_levels(x, low, low + span, n_units, input_type)
    assert levels.tolist() == [round(share * n_units) for share in shares]


@given(low=st.integers(-32768, 32000), span=st.integers(1, 767), n_units=UNITS)
@example(low=0, span=16, n_units=8)  # ties at half levels
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


@given(low=st.floats(-500, 500), span=st.floats(0.01, 3000), n_units=st.integers(1, 1000))
@settings(deadline=None, max_examples=60)
def test_integers_in_a_real_range_have_the_level_of_the_float_model(low, span, n_units):
    x = np.arange(-600, 3600)
    positions = n_units * np.clip((x - low) / span, 0, 1)
    is_clear = np.abs(positions % 1 - 0.5) > 1e-9

    levels = integer_levels(x, low, low + span, n_units)

    np.testing.assert_array_equal(levels[is_clear], np.rint(positions[is_clear]))


def test_integer_input_is_rounded_and_limited():
    assert to_input([[1.4, 1e9]], np.int16).tolist() == [[1, 32767]]


def test_features_of_integer_and_of_real_ranges_go_together():
    low, high = np.array([0.0, 0.5, 3.0]), np.array([16.0, 90.25, 4.0])
    x = np.arange(-5, 100)[:, np.newaxis] + np.zeros(3)

    levels = scale(low, high, 8)[0].levels(x)

    np.testing.assert_array_equal(levels, np.rint(8 * np.clip((x - low) / (high - low), 0, 1)))


@pytest.mark.parametrize("span", [3, 255, 4095, 65535])
@pytest.mark.parametrize("n_units", [1000, 1023])
def test_sums_of_a_scaling_are_just_as_wide_as_the_largest(span, n_units):
    scaling, _ = scale(-32768, -32768 + span, n_units)
    largest = (span - 1) * int(scaling.multiplier[0]) + int(scaling.offset[0])

    assert scaling_layout(scaling).product_bits == (32 if largest < 2**32 else 64)


@given(x=st.floats(width=32, allow_nan=False), n_units=UNITS)
@settings(deadline=None)
def test_float_levels_stay_within_the_units(x, n_units):
    scaling, _ = scale(-3, 5, n_units, "float")

    assert 0 <= scaling.levels([[x]])[0, 0] <= n_units


@given(level=st.integers(0, 1999))
@settings(deadline=None)
def test_float_levels_are_those_of_exact_arithmetic_at_halves(level):
    scaling, _ = scale(0, 2000, 2000, "float")

    assert scaling.levels([[level + 0.5]])[0, 0] == round(Fraction(2 * level + 1, 2))


@pytest.mark.parametrize(
    ("low", "high", "input_type", "message"),
    [
        (
            0,
            70000,
            "int16",
            "'a' ranges from 0 to 70000, outside the range of int16: use input int32",
        ),
        (0, 1e12, "int32", "use input float"),
        *[
            (*ends, "float", "feature 'a' ranges from")
            for ends in ((0, 1e-40), (1e39, 2e39), (0, 1e39), (-3e38, 3e38), (-1e308, 1e308))
        ],
        # A scale that float32 rounds away.
        ((0, 0), (1, 3e38), "float", "feature 'b' ranges from"),
    ],
)
def test_range_that_cannot_be_held_names_the_feature(low, high, input_type, message):
    with pytest.raises(InputError, match=message):
        scale(low, high, 1, input_type)


@pytest.mark.parametrize(
    ("low", "high", "input_type", "note"),
    [
        ((0, 0), (0.75, 100), "int16", "'a' spans only 0.75 integers"),
        (1e9, 1e9 + 500, "float", "fewer than 100 values in the range of feature 'a'"),
    ],
)
def test_feature_that_loses_much_is_told_to_the_user(low, high, input_type, note):
    (told,) = scale(low, high, 100, input_type)[1]

    assert note in told


@pytest.mark.parametrize(("n_rows", "index_type"), [(256, "uint8_t"), (257, "uint16_t")])
def test_scalings_that_occur_often_are_stored_once_with_an_index(n_rows, index_type):
    low = np.tile(np.arange(n_rows, dtype=np.float32), 2)

    layout = scaling_layout(FloatScaling(low, np.ones_like(low), 100))
    assert (layout.n_rows, layout.index_type) == (n_rows, index_type)
    index_bytes = int(index_type[4:-2]) // 8
    assert layout.table_bytes(2 * n_rows, False) == n_rows * 8 + 2 * n_rows * index_bytes


@pytest.mark.parametrize(
    ("low", "n_rows"),
    [
        (np.arange(10), 10),
        (np.zeros(10), 1),
        (np.where(np.arange(10), 0.0, -0.0), 2),  # which C tells apart
    ],
)
def test_scalings_that_differ_have_rows_of_their_own(low, n_rows):
    low = low.astype(np.float32)

    layout = scaling_layout(FloatScaling(low, np.ones_like(low), 100))
    index_type = "uint8_t" if n_rows == 2 else ""
    assert (layout.n_rows, layout.index_type) == (n_rows, index_type)
    assert layout.table_bytes(10, False) == 8 * n_rows + 10 * (n_rows == 2)
