"""L-BFGS over many problems at once, each with its own step length.

All problems advance in ticks of one evaluation each. In a tick a problem either accepts the point
it tried, and takes a new direction, or changes its step: nobody waits for another's line search,
and every decision is made where the arrays are.

Every problem goes the way of `kernels.lbfgs`, with its formulas, memory, tolerances and line
search. A cost of several prototypes has many minima, some percents apart, and which one is found
hangs on the first few steps.
"""

from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from hyperlvq.batched.backend import Array, Backend, name_of
from hyperlvq.kernels.lbfgs import (
    LEVEL_ITERATIONS,
    LEVEL_SHARE,
    MEMORY,
    MOST_TRIALS,
    SMALLEST_DECREASE,
)
from hyperlvq.kernels.line_search import Line, begin_line, is_accepted, next_line

# Curves are of fixed size and must fit in memory, however many iterations are allowed.
LONGEST_CURVE = 100_000
# What was left of a batch when it last shrank, times this, is when it shrinks again.
SHRINK_AT = 0.8


class Solution(NamedTuple):
    """The end of every problem, in the order of the start."""

    positions: Array  # problems × unknowns
    costs: Array
    n_iter: Array
    curves: Array  # problems × (1 + iterations): the cost after 0, 1, … iterations, then NaN


def minimise(
    objective: Any, start: Array, max_iter: int, tol: float | None, backend: Backend
) -> Solution:
    """Minimise every problem from its start (problems × unknowns).

    A problem ends where `kernels.lbfgs.minimise` does, and then leaves the batch. The `objective`
    gives costs (float64) and gradients of positions; its `shape` says how many groups and problems
    of each there are, its `select(members)` is that of some of each group (groups × members). The
    last of a curve that is longer than LONGEST_CURVE is final.
    """
    state = _begin(objective, start, max_iter, tol, backend)
    solution = Solution(*(1 * part for part in _solution_of(state)))
    origin = np.arange(len(start)).reshape(objective.shape)
    while True:
        members = _advance(objective, state, max_iter, tol, backend)
        index = backend.array(origin.ravel())
        for whole, part in zip(solution, _solution_of(state), strict=True):
            whole[index] = part
        if members.shape[1] == 0:
            return solution
        places = members + objective.shape[1] * np.arange(len(members))[:, np.newaxis]
        chosen = backend.array(places.ravel())
        state = SimpleNamespace(**{name: part[chosen] for name, part in vars(state).items()})
        objective = objective.select(members)
        origin = np.take_along_axis(origin, members, axis=1)


def _solution_of(state):
    costs = _unpacked(state.line).start_cost
    return Solution(state.position, costs, state.n_iter, state.curve)


def _advance(objective, state, max_iter, tol, backend):
    """Tick until the batch is worth shrinking; return the members to keep of each group.

    Groups stay equal in size: one with fewer active problems keeps some that have ended.
    """
    n_problems = objective.shape[1]
    tick = backend.replayed(partial(_tick, objective, state, max_iter, tol, backend))
    while True:
        is_active = backend.numpy(state.is_active).reshape(objective.shape)
        n_active = int(is_active.sum(axis=1).max())
        if n_active == 0 or n_active <= SHRINK_AT * n_problems:
            return np.argsort(~is_active, axis=1, kind="stable")[:, :n_active]
        for _ in range(backend.ticks_per_check):
            tick()


def _begin(objective, start, max_iter, tol, backend):
    """Return the state before the first tick: steepest descent by a step of length 1.

    The first axis of each of its arrays counts the problems.
    """
    xp, zeros, (n_problems, n_unknowns) = backend.xp, backend.zeros, start.shape
    cost, gradient = objective(start)
    steepness = _dot(gradient, gradient, backend)
    first_step = 1 / xp.sqrt(xp.where(steepness > 0, steepness, 1.0))
    is_active = _largest(gradient, xp) > (tol or 0.0)
    line = begin_line(cost, -steepness, first_step, xp)
    curve = backend.full((n_problems, 1 + min(max_iter, LONGEST_CURVE)), np.nan, "float64")
    curve[:, 0] = cost
    pieces = n_pieces(n_unknowns, backend.shortest_piece)
    return SimpleNamespace(
        position=1 * start,
        gradient=gradient,
        direction=-gradient,
        line=_packed(line, is_active, backend) * 1,  # problems × the numbers of a `Line`
        n_trials=zeros((n_problems,), "int64"),
        n_iter=zeros((n_problems,), "int64"),
        is_active=is_active,
        # problems × pieces × 2 MEMORY × unknowns: the steps s, then the changes y
        history=zeros((n_problems, pieces, 2 * MEMORY, n_unknowns // pieces), name_of(start)),
        s_dot_y=zeros((n_problems, MEMORY, MEMORY), "float64"),
        y_dot_y=zeros((n_problems, MEMORY, MEMORY), "float64"),
        # the iteration of each pair, -1 for none
        learnt_at=backend.full((n_problems, MEMORY), -1, "int64"),
        scale=backend.full((n_problems,), 1, "float64"),  # γ
        level_cost=1 * cost,  # at the latest multiple of LEVEL_ITERATIONS
        curve=curve,
    )


def _packed(line, is_active, backend):
    """Return the lines of all problems (problems × numbers); those that have ended stay put."""
    step, *numbers, _ = line
    rows = (backend.xp.where(is_active, step, 0.0), *numbers)
    parts = [backend.cast(row if row.ndim == 2 else row[None], "float64") for row in rows]
    return backend.xp.concat(parts, axis=0).T


def _unpacked(numbers):
    rows = numbers.T
    ends = rows[3:6], rows[6:9]
    return Line(rows[0], rows[1], rows[2], *ends, rows[9], rows[10], rows[11] != 0, guards=None)


def _tick(objective, state, max_iter, tol, backend):
    """Evaluate every problem at its present step; accept the point or change the step."""
    xp, put_where, line = backend.xp, backend.put_where, _unpacked(state.line)
    trial = state.position + _column(line.step, state.position, backend) * state.direction
    cost, gradient = objective(trial)
    slope = _dot(gradient, state.direction, backend)
    state.n_trials += 1
    accepted = state.is_active & is_accepted(line, cost, slope)
    exhausted = state.is_active & ~accepted & (state.n_trials >= MOST_TRIALS)
    has_memory = xp.any(state.learnt_at >= 0, axis=1)
    is_due = accepted & ((state.n_iter + 1) % LEVEL_ITERATIONS == 0)
    is_level = is_due & (state.level_cost - cost < LEVEL_SHARE * state.level_cost)
    ended = accepted & (
        (_largest(gradient, xp) <= (tol or 0.0))
        | (is_level if tol is None else False)
        | (line.start_cost - cost <= SMALLEST_DECREASE)  # costs are below 1: this is scipy's rule
        | (state.n_iter + 1 >= max_iter)
    )
    state.is_active &= ~(ended | (exhausted & ~has_memory))

    gradient_products = _remember(state, trial, gradient, accepted, backend)
    put_where(state.position, accepted[:, None], trial)
    put_where(state.gradient, accepted[:, None], gradient)
    put_where(state.level_cost, is_due, cost)
    state.n_iter += accepted
    reached = xp.where(accepted, cost, line.start_cost)
    slope_ahead = _choose_directions(state, accepted, exhausted, gradient_products, backend)
    is_new = accepted | exhausted
    fresh = begin_line(reached, slope_ahead, xp.ones_like(reached), xp)
    state.line[...] = _packed(next_line(line, cost, slope, xp), state.is_active, backend)
    put_where(state.line, is_new[:, None], _packed(fresh, state.is_active, backend))
    put_where(state.n_trials, is_new, 0)
    latest = xp.clip(state.n_iter, 0, state.curve.shape[1] - 1)
    state.curve[backend.range(len(accepted)), latest] = reached


def _remember(state, trial, gradient, accepted, backend):
    """Put new pairs in the place of the oldest; return [S Y]ᵀg (problems × 2 MEMORY).

    A pair without curvature, by the cost or by roundings, leaves its place empty. So does a point
    that is not accepted; the next one that is will take the place before a direction is chosen.
    """
    where = backend.xp.where
    rows, place = backend.range(len(accepted)), state.n_iter % MEMORY
    in_pieces = len(accepted), state.history.shape[1], -1
    step, change, gradient = (
        vector.reshape(in_pieces)
        for vector in (trial - state.position, gradient - state.gradient, gradient)
    )
    state.history[rows, :, place] = step
    state.history[rows, :, place + MEMORY] = change
    sums = state.history @ backend.xp.stack([change, gradient], axis=3)
    products = backend.cast(sums, "float64").sum(axis=1)
    of_steps, of_changes = products[:, :MEMORY, 0], products[:, MEMORY:, 0]
    state.s_dot_y[rows, :, place] = of_steps
    state.y_dot_y[rows, :, place] = of_changes
    state.y_dot_y[rows, place] = of_changes
    curvature = of_steps[rows, place]
    is_pair = accepted & (curvature > 0)
    state.learnt_at[rows, place] = where(is_pair, state.n_iter, -1)
    ratio = curvature / where(is_pair, of_changes[rows, place], 1)
    backend.put_where(state.scale, is_pair, ratio)
    return products[:, :, 1]


def _choose_directions(state, accepted, exhausted, gradient_products, backend):
    """Give new directions to those that moved, and steepest descent to those without a step.

    Return the slopes of the costs along them.
    """
    direction = _newton_direction(state, gradient_products, backend)
    slope = _dot(direction, state.gradient, backend)
    is_lost = exhausted | (accepted & ~(slope < 0))
    backend.put_where(state.learnt_at, is_lost[:, None], -1)
    backend.put_where(state.scale, is_lost, 1.0)
    backend.put_where(state.direction, accepted[:, None], direction)
    backend.put_where(state.direction, is_lost[:, None], -state.gradient)
    return backend.xp.where(is_lost, -_dot(state.gradient, state.gradient, backend), slope)


def _newton_direction(state, gradient_products, backend):
    """Return -Hg of `kernels.lbfgs._direction_weights`, from [S Y]ᵀg.

    All is in double precision but for the sums over unknowns.
    """
    xp, where = backend.xp, backend.xp.where
    is_there = state.learnt_at >= 0
    is_before = (state.learnt_at[:, :, None] < state.learnt_at[:, None, :]) & is_there[:, :, None]
    diagonal = where(is_there, xp.diagonal(state.s_dot_y, 0, 1, 2), 1.0)
    root = xp.sqrt(diagonal)
    above = where(is_before, state.s_dot_y / (root[:, :, None] * root[:, None, :]), 0.0)
    on_steps = where(is_there, gradient_products[:, :MEMORY], 0.0)
    on_changes = gradient_products[:, MEMORY:]
    scale = state.scale[:, None]

    powers = [above]
    for _ in range(3):
        powers.append(powers[-1] @ powers[-1])
    a = _solve_unit_triangle(powers, on_steps / root) / root
    curvature = (state.y_dot_y @ a[:, :, None])[:, :, 0]
    right = where(is_there, diagonal * a + scale * (curvature - on_changes), 0.0)
    u = _solve_unit_triangle([power.mT for power in powers], right / root) / root
    weights = backend.cast(xp.concat([u, -scale * a], axis=1), name_of(state.history))
    combined = (weights[:, None, None, :] @ state.history).reshape(state.gradient.shape)
    return -(_column(state.scale, combined, backend) * state.gradient + combined)


def _solve_unit_triangle(powers, right):
    """Return (I + U)⁻¹ right from U, U², U⁴, U⁸, for U strictly triangular in some order of rows.

    U to the 16th power is 0, so the inverse is (I - U)(I + U²)(I + U⁴)(I + U⁸): a few products of
    small matrices, and none has to be sorted. Scaled by D^½, no entry is much above 1.
    """
    solved = right[:, :, None]
    solved = solved - powers[0] @ solved
    for power in powers[1:]:
        solved = solved + power @ solved
    return solved[:, :, 0]


def n_pieces(n_unknowns: int, shortest: int | None) -> int:
    """Return into how many equal pieces vectors are cut: a sum over few long ones is slow on a GPU.

    The more the better, none of them shorter than `shortest`; one without that.
    """
    most = 1 if shortest is None else max(1, n_unknowns // shortest)
    return next(number for number in range(most, 0, -1) if n_unknowns % number == 0)


def _dot(left, right, backend):
    """Return the scalar product of every problem's vectors."""
    if backend.shortest_piece is not None:
        return backend.cast((left * right).sum(axis=1), "float64")
    return backend.cast(backend.xp.einsum("qd,qd->q", left, right), "float64")


def _largest(vectors, xp):
    """Return the largest component of every problem's vector, without its sign."""
    return xp.amax(xp.abs(vectors), axis=1)


def _column(values, like, backend):
    """Return one value per problem as a column of the dtype of its vectors."""
    return backend.cast(values, name_of(like))[:, None]
