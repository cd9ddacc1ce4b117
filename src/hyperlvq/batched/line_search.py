"""How far to go along a direction: the line search of Moré and Thuente (1994), many at once.

It is the one that scipy's L-BFGS-B has from MINPACK-2, dcsrch and dcstep, without three of its
safeguards, which on the costs of GLVQ were hardly ever seen to act: a bracket that shrinks slowly
is not halved, a step outward may be shorter than a tenth of the last one, and there is no first
stage with a modified function.

Of every line the state keeps its best point and the other end of the bracket, once there is one.
"""

from typing import TYPE_CHECKING

import numpy as np

from hyperlvq.batched.backend import Array, Backend
from hyperlvq.kernels.line_search import INWARD, NARROW, OUTWARD

if TYPE_CHECKING:
    from hyperlvq.batched.lbfgs import State


def begin_line(state: "State", is_new: Array, backend: Backend) -> None:
    """Begin the search along new directions; those who have ended stay where they are."""
    xp, where = backend.xp, backend.xp.where
    origin = xp.stack([xp.zeros_like(state.cost), state.cost, state.slope], axis=1)
    state.best[...] = where(is_new[:, None], origin, state.best)
    state.other[...] = where(is_new[:, None], origin, state.other)
    state.is_bracketed &= ~is_new
    state.is_last &= ~is_new
    state.n_trials[...] = where(is_new, 0, state.n_trials)
    state.step[...] = where(state.is_active, state.step, 0.0)


def change_step(state: "State", cost: Array, slope: Array, backend: Backend) -> None:
    """Narrow the bracket by the point that was tried, and choose the next step."""
    xp, where = backend.xp, backend.xp.where
    latest = xp.stack([state.step, cost, slope], axis=1)
    is_higher = cost > state.best[:, 1]
    is_past = slope * state.best[:, 2] < 0
    step = next_step(state, latest, is_higher, is_past, backend)
    end = where(is_past[:, None], state.best, state.other)
    state.other[...] = where(is_higher[:, None], latest, end)
    state.best[...] = where(is_higher[:, None], state.best, latest)
    state.is_bracketed |= is_higher | is_past
    start, end = state.best[:, 0], state.other[:, 0]
    is_inside = (step - start) * (end - step) > 0
    is_wide = xp.abs(end - start) > NARROW * xp.maximum(start, end)
    state.is_last[...] = state.is_bracketed & ~(is_inside & is_wide)
    state.step[...] = where(state.is_last, start, step)


@np.errstate(divide="ignore", invalid="ignore")
def next_step(
    state: "State", latest: Array, is_higher: Array, is_past: Array, backend: Backend
) -> Array:
    """Return where the minimum of a line should be, by its best and its latest point.

    It is before the latest if that is higher or past it, else beyond. Minima of the cubic and the
    parabola of both points, and the zero of their secant of slopes, are counted from the latest in
    units of the way to it from the best; `inner` is the minimum of the cubic into the bracket.
    """
    xp, where = backend.xp, backend.xp.where
    step, reach = latest[:, 0], latest[:, 0] - state.best[:, 0]
    rise, room = latest[:, 1] - state.best[:, 1], (state.other[:, 0] - step) / reach
    start_slope, slope = reach * state.best[:, 2], reach * latest[:, 2]
    points = xp.stack([state.best, latest, state.other])
    cubic, inner = (cubic_minimum(points[:-1], points[1:], backend) - step) / reach
    parabola = start_slope / (start_slope - rise) / 2 - 1
    secant = slope / (start_slope - slope)

    before = xp.minimum(cubic, (cubic + parabola) / 2)
    between = xp.minimum(cubic, secant)
    ahead = where(cubic > 0, cubic, np.inf)
    shorter, longer = xp.minimum(ahead, secant), xp.maximum(ahead, secant)
    is_flatter = xp.abs(slope) < xp.abs(start_slope)
    inward = where(is_flatter, xp.minimum(shorter, INWARD * room), inner)
    outward = where(is_flatter, xp.clip(longer, None, OUTWARD), OUTWARD)
    beyond = where(state.is_bracketed, inward, outward)
    return step + reach * where(is_higher, before, where(is_past, between, beyond))


def cubic_minimum(left: Array, right: Array, backend: Backend) -> Array:
    """Return the step where the cubic of two points of a line is least, not a number if nowhere."""
    reach, rise = right[..., 0] - left[..., 0], right[..., 1] - left[..., 1]
    start_slope, slope = reach * left[..., 2], reach * right[..., 2]
    bend = start_slope + slope - 3 * rise
    root = backend.xp.sqrt(bend**2 - start_slope * slope)
    return right[..., 0] + reach * (bend - slope - root) / (slope - start_slope + 2 * root)
