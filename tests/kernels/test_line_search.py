import numpy as np
import pytest

from hyperlvq.kernels.line_search import (
    CURVATURE,
    GUARDS,
    LONGEST_STEP,
    SCALARS,
    SUFFICIENT_DECREASE,
    begin_line,
    cubic_minimum,
    is_accepted,
    next_line,
)


def cubic(step):
    return step**3 - 3 * step, 3 * step**2 - 3


def begin(cost, slope, step, guards=GUARDS):
    return begin_line(*map(np.float64, (cost, slope, step)), SCALARS, guards)


def tries(function, step, most=20, guards=GUARDS):
    """Return the steps that a search tries, the last of which it accepts."""
    line = begin(*function(0.0), step, guards)
    steps = []
    while len(steps) < most:
        steps.append(line.step)
        trial = function(line.step)
        if is_accepted(line, *trial):
            return steps
        line = next_line(line, *trial, SCALARS)
    raise AssertionError(f"no step of {steps} was accepted")


def test_just_the_decrease_and_flatness_asked_for_are_enough():
    assert is_accepted(begin(0.0, -1.0, 1.0), -SUFFICIENT_DECREASE, CURVATURE)


def test_slope_without_end_is_followed_to_the_longest_step():
    steps = tries(lambda step: (-step, -1.0), 1.0, most=30)

    assert steps[:3] == [1.0, 5.0, 21.0]
    assert steps[-1] == LONGEST_STEP


@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_just_the_decrease_asked_for_ends_the_first_stage_where_the_cost_rises(slope):
    line = next_line(begin(0.0, -1.0, 1.0), -SUFFICIENT_DECREASE, slope, SCALARS)

    assert line.guards[0]


def test_flat_step_as_high_as_the_start_is_not_past_a_minimum():
    line = begin(0.0, -1.0, 1.0, guards=None)
    for slope in np.array([0.0, -1.0]):
        line = next_line(line, np.float64(0.0), slope, SCALARS)

        assert not line.is_bracketed


def test_step_beyond_all_others_is_no_nearer_than_that_of_dcsrch():
    heights, speeds = np.array([-2.3, 0.2, 0.3]), np.array([0.6, 2.7, 1.8])

    def waves(step):
        slope = (heights * speeds) @ np.cos(speeds * step)
        return float(heights @ np.sin(speeds * step)), float(slope)

    assert tries(waves, 0.1) == pytest.approx([0.1, 0.5, 2.1, 3.86, 2.442562], abs=1e-6)


def after(line, step, cost, slope):
    return next_line(line._replace(step=np.float64(step)), cost, slope, SCALARS)


def test_bracket_just_as_narrow_as_allowed_is_given_up():
    line = after(begin(0.0, -1.0, 9.0), 9.0, -9.0, -1.0)

    assert after(line, 10.0, 0.0, 1.0).step == 9


def test_step_goes_on_towards_the_other_end_where_the_cubic_leads_back():
    line = after(begin(0.0, -1.0, 1.0), 1.0, -0.5, 1.0)

    assert after(line, 0.5, -0.55, 0.9).step == pytest.approx(0.5 - 0.66 * 0.5)


def test_step_as_high_as_the_start_leads_to_that_of_dcsrch():
    def hollow(step):
        return step * (step - 2) * (step + 1), 3 * step**2 - 2 * step - 2

    assert tries(hollow, 2.0) == pytest.approx([2.0, 1.106936], abs=1e-6)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ((0.0, *cubic(0.0)), (3.0, *cubic(3.0)), (1, True)),
        ((3.0, *cubic(3.0)), (0.0, *cubic(0.0)), (1, True)),
        ((0.0, *cubic(0.0)), (1.0, *cubic(1.0)), (1, True)),  # which has no slope
        ((np.float64(0), 0.0, -1.0), (np.float64(1), -1.0, -1.0), (1, False)),  # a line
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_minimum_of_a_cubic_is_found_if_it_has_one(start, end, expected):
    assert cubic_minimum(start, end, SCALARS) == pytest.approx(expected)


def test_many_searches_at_once_try_what_each_tries_alone(rng, backend):
    heights, speeds = rng.normal(size=(200, 3)), rng.uniform(0.1, 6, size=(200, 3))
    heights *= -np.sign((heights * speeds).sum(axis=1))[:, np.newaxis]  # all fall at first
    first_steps = 10 ** rng.uniform(-3, 2, size=200)

    def waves(steps):
        angles = speeds * np.asarray(steps)[:, np.newaxis]
        slopes = (heights * speeds * np.cos(angles)).sum(axis=1)
        return (heights * np.sin(angles)).sum(axis=1), slopes

    line = begin_line(*map(backend.array, (*waves(np.zeros(200)), first_steps)), backend.xp)
    lines = [
        begin(*numbers, None) for numbers in zip(*waves(np.zeros(200)), first_steps, strict=True)
    ]
    is_open = np.ones(200, dtype=bool)
    for _ in range(8):
        trials = waves(backend.numpy(line.step))
        on_device = [backend.array(part) for part in trials]
        found = backend.numpy(is_accepted(line, *on_device))
        expected = [is_accepted(*each) for each in zip(lines, *trials, strict=True)]
        np.testing.assert_array_equal(found[is_open], np.array(expected)[is_open])
        is_open &= ~found
        line = next_line(line, *on_device, backend.xp)
        lines = [next_line(*each, SCALARS) for each in zip(lines, *trials, strict=True)]
        steps = np.array([each.step for each in lines])
        np.testing.assert_allclose(backend.numpy(line.step)[is_open], steps[is_open], rtol=1e-12)
