import numpy as np
import pytest

from hyperlvq.kernels.line_search import (
    CURVATURE,
    LONGEST_STEP,
    SUFFICIENT_DECREASE,
    LineSearch,
    Trial,
    cubic_minimum,
)


def parabola(step):
    return (step - 1) ** 2, 2 * (step - 1)


def cubic(step):
    return step**3 - 3 * step, 3 * step**2 - 3


def steep_then_flat(step):
    return -step / (step**2 + 2), (step**2 - 2) / (step**2 + 2) ** 2


def wave(step):
    return np.sin(step + 2), np.cos(step + 2)


def tries(function, step, most=20):
    """Return the steps that a search tries, the last of which it accepts."""
    search = LineSearch(*function(0.0), step)
    steps = []
    while len(steps) < most:
        steps.append(search.step)
        if search.accepts(*function(search.step)):
            return steps
    raise AssertionError(f"no step of {steps} was accepted")


@pytest.mark.parametrize("function", [parabola, cubic, steep_then_flat, wave])
@pytest.mark.parametrize("step", [1e-3, 0.1, 1.0, 10.0, 300.0])
def test_accepted_step_is_lower_and_flatter(function, step):
    cost, slope = function(0.0)
    *_, accepted = tries(function, step)
    accepted_cost, accepted_slope = function(accepted)

    assert accepted_cost <= cost + SUFFICIENT_DECREASE * accepted * slope
    assert abs(accepted_slope) <= CURVATURE * abs(slope)


def test_good_first_step_is_taken():
    assert tries(parabola, 0.9) == [0.9]


def test_just_the_decrease_and_flatness_asked_for_are_enough():
    assert LineSearch(0.0, -1.0, 1.0).accepts(-SUFFICIENT_DECREASE, CURVATURE)


def test_minimum_of_a_parabola_is_found_at_once():
    assert tries(parabola, 10.0) == [10.0, pytest.approx(1.0)]


def test_slope_without_end_is_followed_to_the_longest_step():
    steps = tries(lambda step: (-step, -1.0), 1.0, most=30)

    assert steps[:3] == [1.0, 5.0, 21.0]
    assert steps[-1] == LONGEST_STEP


def test_narrow_bracket_ends_at_its_better_end():
    def kink(step):
        """Return a cost that is steep on both sides of 1, so that no step is flat enough."""
        return 5 * abs(step - 1), 5.0 if step > 1 else -5.0

    steps = tries(kink, 3.0)

    assert steps[-1] == min(steps, key=lambda step: kink(step)[0])
    assert steps[-1] == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize(
    ("heights", "speeds", "steps"),
    [
        # The first stage, by the cost less the decrease asked for.
        ([-1.4, -0.6, 0.3], [3.0, 4.7, 2.8], [5.0, 2.168107, 0.649822]),
        # A bracket that shrinks slowly.
        (
            [-0.8, 0.2, -0.1],
            [0.5, 3.5, 5.8],
            [1.0, 5.0, 2.874109, 3.93548, 3.081896, 3.215949, 3.575715, 3.330762],
        ),
        # A shorter step than the nearest beyond the latest.
        ([-2.3, 0.2, 0.3], [0.6, 2.7, 1.8], [0.1, 0.5, 2.1, 3.86, 2.442562]),
    ],
    ids=["first stage", "halving", "nearest"],
)
def test_safeguards_are_those_of_dcsrch(heights, speeds, steps):
    """Compare with what MINPACK-2's search tries on waves where a safeguard acts."""
    heights, speeds = np.array(heights), np.array(speeds)

    def waves(step):
        slope = (heights * speeds) @ np.cos(speeds * step)
        return float(heights @ np.sin(speeds * step)), float(slope)

    assert tries(waves, steps[0]) == pytest.approx(steps, abs=1e-6)


def test_step_as_high_as_the_start_leads_to_that_of_dcsrch():
    def hollow(step):
        return step * (step - 2) * (step + 1), 3 * step**2 - 2 * step - 2

    assert tries(hollow, 2.0) == pytest.approx([2.0, 1.106936], abs=1e-6)


def test_cubic_has_its_minimum_between_the_points():
    start, end = Trial(0.0, *cubic(0.0)), Trial(3.0, *cubic(3.0))

    assert cubic_minimum(start, end) == pytest.approx(1)
    assert cubic_minimum(end, start) == pytest.approx(1)


def test_line_has_no_minimum():
    start, end = Trial(0.0, 0.0, -1.0), Trial(1.0, -1.0, -1.0)

    assert cubic_minimum(start, end) == 1.0
    assert cubic_minimum(start, end, if_none=5.0) == 5.0
