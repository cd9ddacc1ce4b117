import numpy as np
import pytest

from hyperlvq.checks import check_boolean, check_choice, check_integer, check_real


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_integers_of_any_kind_are_taken(value):
    checked = check_integer("n", value, minimum=1)

    assert checked == 3
    assert type(checked) is int


@pytest.mark.parametrize("value", [2, 2.5, np.float32(0.5), np.int16(7)])
def test_numbers_of_any_kind_are_taken(value):
    checked = check_real("x", value)

    assert checked == value
    assert type(checked) is float


@pytest.mark.parametrize("value", [None, "3", 3.0, True, [3]])
def test_what_is_no_integer_is_named(value):
    with pytest.raises(TypeError, match="n must be an integer, got"):
        check_integer("n", value, minimum=1)


@pytest.mark.parametrize("value", [None, "3", False, 1j])
def test_what_is_no_number_is_named(value):
    with pytest.raises(TypeError, match="x must be a number, got"):
        check_real("x", value)


def test_limits_are_named():
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        check_integer("n", 0, minimum=1)
    with pytest.raises(ValueError, match="n must be at most 5, got 6"):
        check_integer("n", 6, minimum=1, maximum=5)


@pytest.mark.parametrize("value", [-1.0, np.inf, np.nan])
def test_numbers_out_of_range_are_named(value):
    with pytest.raises(ValueError, match="x must be a finite number of at least 0, got"):
        check_real("x", value)


@pytest.mark.parametrize("value", [0, -1.0, np.inf, np.nan])
def test_numbers_that_must_be_positive_are_named(value):
    with pytest.raises(ValueError, match="x must be a finite number above 0, got"):
        check_real("x", value, positive=True)


@pytest.mark.parametrize("value", ["c", None, ["a"]])
def test_unknown_choice_is_named_beside_those_that_exist(value):
    with pytest.raises(ValueError, match="c must be one of 'a', 'b', got"):
        check_choice("c", value, ("a", "b"))


def test_known_choice_is_returned():
    assert check_choice("c", "a", {"a": 1, "b": 2}) == "a"


def test_truth_is_returned_and_all_else_named():
    assert check_boolean("b", np.bool_(True)) is True
    for value in ("no", 1, None):
        with pytest.raises(TypeError, match="b must be True or False, got"):
            check_boolean("b", value)
