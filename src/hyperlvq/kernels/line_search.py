"""How far to go along a direction: the line search of Moré and Thuente (1994).

It takes the steps that MINPACK-2's dcsrch does, which scipy's L-BFGS-B searches lines with. A step
is accepted if the cost has fallen enough and the slope has become flat enough. Until then an
interval is kept whose better end is the best trial so far, and the next step is where a cubic or a
parabola through its ends and the latest trial is least.

Every number may be a scalar of numpy's or an array of one number per problem; `xp` has the
functions for them: numpy, torch, or `SCALARS`.
"""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

#: A step is accepted if the cost falls by this share of what the slope at its start promises,
SUFFICIENT_DECREASE = 1e-3
#: and if what remains of that slope is at most this share.
CURVATURE = 0.9
#: An interval narrower than this share of its longer step ends the search along a line.
NARROW = 0.1
#: A step that was too short grows by at most this share of what the bracket leaves,
INWARD = 0.66
#: and without a bracket by so many times its distance from the best step.
OUTWARD = 4.0
LONGEST_STEP = 1e10
# Without a bracket the next step lies beyond the latest by at least so many times its way from
# the best.
NEAREST = 1.1
# A bracket that has not shrunk to this share in two steps is halved.
SLOW = 0.66

#: The functions of arrays for numpy's scalars, for which numpy's own take far longer.
SCALARS = SimpleNamespace(
    where=lambda condition, if_true, if_false: if_true if condition else if_false,
    minimum=lambda left, right: right if right < left else left,
    maximum=lambda left, right: right if right > left else left,
    clip=lambda number, low, high: low if number < low else high if number > high else number,
    sqrt=np.sqrt,
    stack=tuple,
)


class Line(NamedTuple):
    """A search along a direction.

    A trial is a step, the cost there and its slope: three numbers, or an array of three rows.
    """

    step: Any  # to try next
    start_cost: Any
    start_slope: Any
    best: Any  # the best trial so far
    other: Any  # the other end of the bracket, once there is one
    low: Any  # between which steps the next one lies
    high: Any
    is_bracketed: Any
    guards: tuple | None  # None where searches go without, to be quick


#: What dcsrch keeps for safeguards that act in few searches on the costs of GLVQ, when one begins:
#: whether a point was low enough that the cost itself is modelled, and how wide the interval is
#: and was two steps ago.
GUARDS = np.False_, LONGEST_STEP, 2 * LONGEST_STEP


def begin_line(cost: Any, slope: Any, step: Any, xp: Any, guards: Any = None) -> Line:
    """Return the search from a point of some cost and slope that tries `step` first."""
    nothing = 0 * step
    start = xp.stack((nothing, cost, slope))
    high = step + OUTWARD * step
    return Line(step, cost, slope, start, start, nothing, high, step != step, guards)


def is_accepted(line: Line, cost: float, slope: float) -> bool:
    """Return whether the step is good enough, or the best to be found.

    A search whose bracket leaves nothing to try goes back to its best step.
    """
    decrease = SUFFICIENT_DECREASE * line.start_slope
    falls = cost <= line.start_cost + line.step * decrease
    is_enough = abs(slope) <= -CURVATURE * line.start_slope
    if line.guards is not None:
        is_enough |= (line.step == LONGEST_STEP) & (slope <= decrease)
    is_last = line.is_bracketed & (line.step == line.best[0])
    return (falls & is_enough) | is_last


@np.errstate(all="ignore")
def next_line(line: Line, cost: Any, slope: Any, xp: Any) -> Line:
    """Put the trial of the present step into the interval, and choose the next step."""
    where, guards = xp.where, line.guards
    latest = xp.stack((line.step, cost, slope))
    trials = line.best, latest, line.other
    if guards is not None:
        had_fallen, *widths = guards
        trials, has_fallen = _modelled(line, trials, had_fallen)
    is_higher = trials[1][1] > trials[0][1]
    is_past = trials[1][2] * trials[0][2] < 0
    step = _next_step(line, *trials, is_higher, is_past, xp)
    other = where(is_higher, latest, where(is_past, line.best, line.other))
    best = where(is_higher, line.best, latest)
    is_bracketed = line.is_bracketed | is_higher | is_past

    start, end = best[0], other[0]
    if guards is not None:
        step, *widths = _halved(step, start, end, is_bracketed, widths, xp)
        guards = has_fallen, *widths
    beyond = step - start
    low = where(is_bracketed, xp.minimum(start, end), step + NEAREST * beyond)
    high = where(is_bracketed, xp.maximum(start, end), step + OUTWARD * beyond)
    step = xp.clip(step, 0.0, LONGEST_STEP)
    is_inside = (low < step) & (step < high) & (high - low > NARROW * high)
    step = where(is_bracketed & ~is_inside, start, step)
    origin = line.start_cost, line.start_slope
    return Line(step, *origin, best, other, low, high, is_bracketed, guards)


def _modelled(line, trials, had_fallen):
    """Return trials of the cost less a line, and whether a point was low enough for that to end.

    The line is at first that of the decrease asked for, later none. `trials` are the best, the
    latest and the other end.
    """
    best, (step, cost, slope), _ = trials
    decrease = SUFFICIENT_DECREASE * line.start_slope
    falls = cost <= line.start_cost + step * decrease
    has_fallen = had_fallen | (falls & (slope >= 0))
    less = (~(falls | has_fallen) & (cost <= best[1])) * decrease
    return [(step, cost - less * step, slope - less) for step, cost, slope in trials], has_fallen


def _halved(step, start, end, is_bracketed, widths, xp):
    """Return the middle of a bracket that shrinks slowly, else the step; and both widths."""
    (last, earlier), width = widths, abs(end - start)
    step = xp.where(is_bracketed & (width >= SLOW * earlier), start + (end - start) / 2, step)
    return step, xp.where(is_bracketed, width, last), xp.where(is_bracketed, last, earlier)


def _next_step(line, best, latest, other, is_higher, is_past, xp):
    """Return where the minimum of a line should be, by the ends of the interval and a point.

    If the latest point is higher, or past the minimum, it is between the best and the latest. Else
    it is beyond: near, where the slope has become flatter, or as far as is allowed.
    """
    where = xp.where
    best_step, best_cost, best_slope = best
    step, cost, slope = latest
    way = best_step - step
    is_flatter = abs(slope) < abs(best_slope)
    farthest = where(way < 0, line.high, line.low)
    is_steep = ~(is_higher | is_past | is_flatter)
    start = where(is_higher, latest, where(is_steep, other, best))
    cubic, has_minimum = cubic_minimum(start, where(is_higher, best, latest), xp)
    secant = step + way * slope / (slope - best_slope)
    parabola = best_step - way * best_slope / ((cost - best_cost) / way + best_slope) / 2

    is_near = abs(cubic - best_step) < abs(parabola - best_step)
    between = where(is_near, cubic, cubic + (parabola - cubic) / 2)
    is_behind = ((cubic - step) * way >= 0) | ~has_minimum
    candidate = where(is_behind & ~is_past, farthest, cubic)
    is_secant_nearer = abs(secant - step) < abs(candidate - step)
    nearer = where(is_secant_nearer, secant, candidate)
    farther = where(is_secant_nearer, candidate, secant)
    limit = step + INWARD * (line.other[0] - step)
    inward = where(way < 0, xp.minimum(limit, nearer), xp.maximum(limit, nearer))
    outward = xp.minimum(xp.maximum(farther, line.low), line.high)
    flatter = where(line.is_bracketed, inward, outward)
    steeper = where(line.is_bracketed, cubic, farthest)
    beyond = where(is_past, farther, where(is_flatter, flatter, steeper))
    return where(is_higher, between, beyond)


def cubic_minimum(start: Any, end: Any, xp: Any) -> tuple[Any, ...]:
    """Return the minimum of the cubic through two trials with their slopes, and whether it has one.

    One without a minimum has its point of inflection; a straight line has its end.
    """
    (start_step, start_cost, start_slope), (end_step, end_cost, end_slope) = start, end
    way = start_step - end_step
    bend = 3 * (end_cost - start_cost) / way + start_slope + end_slope
    scale = xp.maximum(xp.maximum(abs(bend), abs(start_slope)), abs(end_slope))
    square = (bend / scale) ** 2 - (start_slope / scale) * (end_slope / scale)
    root = scale * xp.sqrt(xp.maximum(square, 0 * scale))
    sided = xp.where(way > 0, root, -root)
    rest = sided - end_slope
    whole = rest + sided + start_slope
    least = xp.where(whole == 0, end_step, end_step + way * (rest + bend) / whole)
    return least, root != 0
