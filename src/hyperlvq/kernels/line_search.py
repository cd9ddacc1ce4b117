"""How far to go along a direction: the line search of Moré and Thuente (1994).

It takes the steps that MINPACK-2's dcsrch does, which scipy's L-BFGS-B searches lines with. A step
is accepted if the cost has fallen enough and the slope has become flat enough. Until then an
interval is kept whose better end is the best trial so far, and the next step is where a cubic or a
parabola through its ends and the latest trial is least.
"""

from math import sqrt
from typing import NamedTuple

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


class Trial(NamedTuple):
    """A step along the line, the cost there and its slope."""

    step: float
    cost: float
    slope: float

    def less(self, decrease: float) -> "Trial":
        """Return the trial of the cost less a line of this slope."""
        return Trial(self.step, self.cost - decrease * self.step, self.slope - decrease)


class LineSearch:
    """The search along one direction; `step` is what to try next."""

    def __init__(self, cost: float, slope: float, step: float):
        self.step = step
        self._start = self._best = self._other = Trial(0.0, cost, slope)
        self._is_bracketed = False
        self._has_fallen = False  # whether a point was low enough that the cost itself is modelled
        self._bounds = 0.0, step + OUTWARD * step
        self._widths = LONGEST_STEP, 2 * LONGEST_STEP  # of the interval, now and two steps ago

    def accepts(self, cost: float, slope: float) -> bool:
        """Say whether the step is good enough or the best to be found; else choose the next."""
        latest = Trial(self.step, cost, slope)
        decrease = SUFFICIENT_DECREASE * self._start.slope
        falls = cost <= self._start.cost + self.step * decrease
        self._has_fallen |= falls and slope >= 0
        if falls and abs(slope) <= -CURVATURE * self._start.slope:
            return True
        if self._is_exhausted() or (self.step == LONGEST_STEP and falls and slope <= decrease):
            return True
        is_too_high = not falls and not self._has_fallen and cost <= self._best.cost
        self._narrow(latest, decrease if is_too_high else 0.0)
        self._choose_bounds()
        return False

    def _is_exhausted(self) -> bool:
        """Say whether roundings, or a narrow bracket, leave no step to try."""
        low, high = self._bounds
        is_outside = not low < self.step < high
        return self._is_bracketed and (is_outside or high - low <= NARROW * high)

    def _narrow(self, latest: Trial, decrease: float) -> None:
        """Put the latest trial into the interval and choose the next step.

        Both go by the cost less a line: at first that of the decrease asked for, later none.
        """
        best, other, point = (trial.less(decrease) for trial in (self._best, self._other, latest))
        is_past = point.slope * best.slope < 0
        self.step = next_step(best, other, point, self._is_bracketed, self._bounds)
        if point.cost > best.cost:
            self._other = latest
        else:
            self._other = self._best if is_past else self._other
            self._best = latest
        self._is_bracketed |= point.cost > best.cost or is_past

    def _choose_bounds(self) -> None:
        """Halve a bracket that shrinks slowly, and note between which steps the next one lies."""
        start, end = self._best.step, self._other.step
        if self._is_bracketed:
            width, earlier = self._widths
            if abs(end - start) >= SLOW * earlier:
                self.step = start + (end - start) / 2
            self._widths = abs(end - start), width
            self._bounds = min(start, end), max(start, end)
        else:
            distance = self.step - start
            self._bounds = self.step + NEAREST * distance, self.step + OUTWARD * distance
        self.step = min(max(self.step, 0.0), LONGEST_STEP)
        if self._is_exhausted():
            self.step = start


def next_step(
    best: Trial, other: Trial, latest: Trial, is_bracketed: bool, bounds: tuple[float, float]
) -> float:
    """Return where the minimum of the line should be, by the ends of the interval and a point."""
    way = best.step - latest.step
    if latest.cost > best.cost:
        # The minimum is between them: near the best point, or halfway to that of the parabola.
        cubic = cubic_minimum(latest, best)
        drop = (best.cost - latest.cost) / (latest.step - best.step) + best.slope
        parabola = best.step - way * best.slope / drop / 2
        is_near = abs(cubic - best.step) < abs(parabola - best.step)
        return cubic if is_near else cubic + (parabola - cubic) / 2
    if latest.slope * best.slope < 0:
        # It is between them, too, as the slope has changed its sign.
        cubic = cubic_minimum(best, latest)
        secant = latest.step + way * latest.slope / (latest.slope - best.slope)
        return cubic if abs(cubic - latest.step) > abs(secant - latest.step) else secant
    if abs(latest.slope) < abs(best.slope):
        return _step_ahead(best, other, latest, is_bracketed, bounds)
    return cubic_minimum(other, latest) if is_bracketed else _farthest(best, latest, bounds)


def _farthest(best: Trial, latest: Trial, bounds: tuple[float, float]) -> float:
    """Return the bound that lies beyond the latest trial."""
    return bounds[1] if latest.step > best.step else bounds[0]


def _step_ahead(
    best: Trial, other: Trial, latest: Trial, is_bracketed: bool, bounds: tuple[float, float]
) -> float:
    """Return a step beyond the latest trial, where the slope has become flatter."""
    beyond = _farthest(best, latest, bounds)
    cubic = cubic_minimum(best, latest, if_none=beyond)
    if (cubic - latest.step) * (latest.step - best.step) <= 0:
        cubic = beyond
    way = best.step - latest.step
    secant = latest.step + way * latest.slope / (latest.slope - best.slope)
    nearer, farther = sorted((cubic, secant), key=lambda step: abs(step - latest.step))
    if not is_bracketed:
        return min(max(farther, bounds[0]), bounds[1])
    limit = latest.step + INWARD * (other.step - latest.step)
    return min(limit, nearer) if latest.step > best.step else max(limit, nearer)


def cubic_minimum(start: Trial, end: Trial, if_none: float | None = None) -> float:
    """Return where the cubic through two trials with their slopes is least.

    One without a minimum has `if_none`, where that is given, or else its point of inflection; a
    straight line has its end.
    """
    way = start.step - end.step
    bend = 3 * (start.cost - end.cost) / (end.step - start.step) + start.slope + end.slope
    scale = max(abs(bend), abs(start.slope), abs(end.slope))
    square = (bend / scale) ** 2 - (start.slope / scale) * (end.slope / scale)
    root = scale * sqrt(max(0.0, square))
    if if_none is not None and root == 0:
        return if_none
    root = root if way > 0 else -root
    whole = root - end.slope + root + start.slope
    return end.step + way * (root - end.slope + bend) / whole if whole else end.step
