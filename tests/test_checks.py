from functools import partial

import numpy as np
import pytest

from hyperlvq.checks import check_boolean, check_choice, check_integer, check_real

count = partial(check_integer, minimum=1, maximum=5)
positive = partial(check_real, positive=True)
choice = partial(check_choice, choices={"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("check", "value", "expected"),
    [
        *((count, value, 3) for value in (3, np.int8(3), np.uint64(3))),
        *((check_real, value, float(value)) for value in (2, 2.5, np.float32(0.5), np.int16(7))),
        (choice, "a", "a"),
        (check_boolean, np.bool_(True), True),
    ],
)
def test_values_of_any_kind_are_taken_as_those_of_python(check, value, expected):
    checked = check("x", value)

    assert checked == expected
    assert type(checked) is type(expected)


@pytest.mark.parametrize(
    ("check", "values", "error", "sentence"),
    [
        (count, [None, "3", 3.0, True, [3]], TypeError, "x must be an integer, got"),
        (count, [0], ValueError, "x must be at least 1, got 0"),
        (count, [6], ValueError, "x must be at most 5, got 6"),
        (check_real, [None, "3", False, 1j], TypeError, "x must be a number, got"),
        (check_real, [-1.0, np.inf, np.nan], ValueError, "x must be a finite number of at least 0"),
        (positive, [0, -1.0, np.inf, np.nan], ValueError, "x must be a finite number above 0, got"),
        (choice, ["c", None, ["a"]], ValueError, "x must be one of 'a', 'b', got"),
        (check_boolean, ["no", 1, None], TypeError, "x must be True or False, got"),
    ],
)
def test_what_is_wrong_is_named(check, values, error, sentence):
    for value in values:
        with pytest.raises(error, match=sentence):
            check("x", value)
