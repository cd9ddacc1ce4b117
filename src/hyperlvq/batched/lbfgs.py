"""L-BFGS over many problems at once, each with its own step length.

All problems advance in ticks of one evaluation each. In a tick a problem either accepts the point
it tried, and takes a new direction, or changes its step: nobody waits for another's line search,
and every decision is made where the arrays are.

Every problem goes the way of `kernels.lbfgs`, which is that of scipy's L-BFGS-B: memory,
tolerances and steps are the same. A cost of several prototypes has many minima, some percents
apart, and which one is found hangs on the first few steps; so the line search is the same, too, but
for rare cases that `line_search` names.

The direction is -Hg in the compact form of Byrd, Nocedal and Schnabel (1994): with the steps S and
the changes of gradient Y of the last iterations as columns, R the upper triangle of SᵀY, D its
diagonal and γ = sᵀy/yᵀy of the latest pair,

    Hg = γg + Su - γYa,    a = R⁻¹Sᵀg,    u = R⁻ᵀ(Da + γYᵀYa - γYᵀg).
"""

from dataclasses import dataclass, fields
from functools import partial
from typing import NamedTuple, Protocol, Self

import numpy as np

from hyperlvq.batched.backend import Array, Backend, name_of
from hyperlvq.batched.line_search import begin_line, change_step
from hyperlvq.kernels.lbfgs import MEMORY, MOST_TRIALS, SMALLEST_DECREASE
from hyperlvq.kernels.line_search import CURVATURE, SUFFICIENT_DECREASE

# Curves are of fixed size and must fit in memory, however many iterations are allowed.
LONGEST_CURVE = 100_000
# What was left of a batch when it last shrank, times this, is when it shrinks again.
SHRINK_AT = 0.8


class Objective(Protocol):
    """The costs of problems in groups of equal size, all with the same number of unknowns."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return the number of groups and of problems of each."""

    def __call__(self, positions: Array) -> tuple[Array, Array]:
        """Return costs (problems, float64) and gradients (problems × unknowns)."""

    def select(self, members: np.ndarray) -> Self:
        """Return the objective of some problems of each group (groups × members)."""


class Solution(NamedTuple):
    """The end of every problem, in the order of the start."""

    positions: Array  # problems × unknowns
    costs: Array
    n_iter: Array
    curves: Array | None  # problems × iterations: the cost after each one, then NaN


@dataclass
class State:
    """Where every problem stands; the first axis of each array counts the problems."""

    position: Array
    cost: Array
    gradient: Array
    direction: Array
    slope: Array  # of the cost along the direction
    step: Array
    best: Array  # problems × (step, cost, slope): the best point of the line so far
    other: Array  # likewise: the other end of the bracket, once there is one
    is_bracketed: Array
    is_last: Array  # whether the bracket leaves nothing to try, and the step is its better end
    n_trials: Array
    n_iter: Array
    is_active: Array
    history: Array  # problems × pieces × 2 MEMORY × unknowns: the steps s, then the changes y
    s_dot_y: Array  # problems × MEMORY × MEMORY
    y_dot_y: Array
    born: Array  # the iteration of each pair, -1 for none
    scale: Array  # γ
    curve: Array  # problems × (1 + LONGEST_CURVE at most): the cost after 0, 1, … iterations

    def select(self, index: Array) -> "State":
        """Return the state of some problems."""
        return State(*(getattr(self, item.name)[index] for item in fields(self)))


@dataclass(frozen=True)
class Rule:
    """When to stop, and whether costs on the way are kept."""

    max_iter: int
    tol: float
    keep_curve: bool


def minimise(
    objective: Objective,
    start: Array,
    max_iter: int,
    tol: float,
    backend: Backend,
    *,
    keep_curve: bool = False,
) -> Solution:
    """Minimise every problem from its start (problems × unknowns).

    A problem ends where no component of its gradient exceeds `tol`, where its cost stops falling,
    or after `max_iter` iterations, and then leaves the batch. With `keep_curve` the solution has
    the cost after each iteration; the last of a curve that is longer than LONGEST_CURVE is final.
    """
    rule = Rule(max_iter, tol, keep_curve)
    state = begin(objective, start, rule, backend)
    curves = 1 * state.curve[:, 1:] if keep_curve else None
    solution = Solution(1 * state.position, 1 * state.cost, 1 * state.n_iter, curves)
    origin = np.arange(len(start)).reshape(objective.shape)
    while True:
        members = advance(objective, state, rule, backend)
        note(state, solution, backend.array(origin.ravel()))
        if members.shape[1] == 0:
            return solution
        places = members + objective.shape[1] * np.arange(len(members))[:, np.newaxis]
        state = state.select(backend.array(places.ravel()))
        objective = objective.select(members)
        origin = np.take_along_axis(origin, members, axis=1)


def note(state: State, solution: Solution, index: Array) -> None:
    """Write where the problems of a state stand to their places in the solution."""
    solution.positions[index] = state.position
    solution.costs[index] = state.cost
    solution.n_iter[index] = state.n_iter
    if solution.curves is not None:
        solution.curves[index] = state.curve[:, 1:]


def advance(objective: Objective, state: State, rule: Rule, backend: Backend) -> np.ndarray:
    """Tick until the batch is worth shrinking; return the members to keep of each group.

    Groups stay equal in size: one with fewer active problems keeps some that have ended.
    """
    n_problems = objective.shape[1]
    tick_once = backend.replayed(partial(tick, objective, state, rule, backend))
    while True:
        is_active = backend.numpy(state.is_active).reshape(objective.shape)
        n_active = int(is_active.sum(axis=1).max())
        if n_active == 0 or n_active <= SHRINK_AT * n_problems:
            return np.argsort(~is_active, axis=1, kind="stable")[:, :n_active]
        for _ in range(backend.ticks_per_check):
            tick_once()


def begin(objective: Objective, start: Array, rule: Rule, backend: Backend) -> State:
    """Return the state before the first tick: steepest descent by a step of length 1."""
    n_problems, n_unknowns = start.shape
    dtype = name_of(start)
    cost, gradient = objective(start)
    norm = length(gradient, backend)
    of_problems = partial(backend.full, (n_problems,), dtype="float64")
    pairs = n_problems, MEMORY, MEMORY
    n_costs = 1 + min(rule.max_iter, LONGEST_CURVE) if rule.keep_curve else 0
    pieces = n_pieces(n_unknowns, backend.shortest_piece)
    state = State(
        position=1 * start,
        cost=cost,
        gradient=gradient,
        direction=-gradient,
        slope=-(norm**2),
        step=1 / backend.xp.where(norm > 0, norm, 1.0),
        best=backend.zeros((n_problems, 3), "float64"),
        other=backend.zeros((n_problems, 3), "float64"),
        is_bracketed=backend.zeros((n_problems,), "bool"),
        is_last=backend.zeros((n_problems,), "bool"),
        n_trials=backend.zeros((n_problems,), "int64"),
        n_iter=backend.zeros((n_problems,), "int64"),
        is_active=largest(gradient, backend) > rule.tol,
        history=backend.zeros((n_problems, pieces, 2 * MEMORY, n_unknowns // pieces), dtype),
        s_dot_y=backend.zeros(pairs, "float64"),
        y_dot_y=backend.zeros(pairs, "float64"),
        born=backend.full(pairs[:2], -1, "int64"),
        scale=of_problems(1),
        curve=backend.full((n_problems, n_costs), np.nan, "float64"),
    )
    begin_line(state, state.n_iter == 0, backend)
    return state


def tick(objective: Objective, state: State, rule: Rule, backend: Backend) -> None:
    """Evaluate every problem at its present step; accept the point or change the step."""
    xp = backend.xp
    trial = state.position + as_column(state.step, state.position) * state.direction
    cost, gradient = objective(trial)
    slope = dot(gradient, state.direction, backend)
    falls = cost <= state.cost + SUFFICIENT_DECREASE * state.step * state.slope
    is_flat = xp.abs(slope) <= -CURVATURE * state.slope
    state.n_trials += 1
    accepted = state.is_active & ((falls & is_flat) | state.is_last)
    exhausted = state.is_active & ~accepted & (state.n_trials >= MOST_TRIALS)
    change_step(state, cost, slope, backend)

    has_memory = xp.any(state.born >= 0, axis=1)
    decrease = state.cost - cost
    ended = accepted & (
        (largest(gradient, backend) <= rule.tol)
        | (decrease <= SMALLEST_DECREASE)  # costs are below 1, so this is scipy's rule
        | (state.n_iter + 1 >= rule.max_iter)
    )
    state.is_active &= ~(ended | (exhausted & ~has_memory))

    gradient_products = remember(state, trial, gradient, accepted, backend)
    move(state, accepted, trial, cost, gradient, backend)
    turn(state, accepted, exhausted, gradient_products, backend)


def remember(
    state: State, trial: Array, gradient: Array, accepted: Array, backend: Backend
) -> Array:
    """Put new pairs in the place of the oldest; return [S Y]ᵀg (problems × 2 MEMORY).

    A pair without curvature, by the cost or by roundings, leaves its place empty.
    """
    where = backend.xp.where
    rows, place = backend.range(len(accepted)), state.n_iter % MEMORY
    change = gradient - state.gradient
    mask = accepted[:, None]
    in_pieces = len(accepted), state.history.shape[1], -1
    for values, slot in ((trial - state.position, place), (change, place + MEMORY)):
        kept = state.history[rows, :, slot]
        state.history[rows, :, slot] = where(mask[:, None], values.reshape(in_pieces), kept)
    pair = [vector.reshape(in_pieces) for vector in (change, gradient)]
    sums = state.history @ backend.xp.stack(pair, axis=3)
    products = backend.cast(sums, "float64").sum(axis=1)
    of_steps, of_changes = products[:, :MEMORY, 0], products[:, MEMORY:, 0]
    state.s_dot_y[rows, :, place] = where(mask, of_steps, state.s_dot_y[rows, :, place])
    state.y_dot_y[rows, :, place] = where(mask, of_changes, state.y_dot_y[rows, :, place])
    state.y_dot_y[rows, place] = where(mask, of_changes, state.y_dot_y[rows, place])
    curvature = of_steps[rows, place]
    is_pair = accepted & (curvature > 0)
    born = where(is_pair, state.n_iter, where(accepted, -1, state.born[rows, place]))
    state.born[rows, place] = born
    ratio = curvature / where(is_pair, of_changes[rows, place], 1)
    state.scale[...] = where(is_pair, ratio, state.scale)
    return products[:, :, 1]


def move(
    state: State, accepted: Array, trial: Array, cost: Array, gradient: Array, backend: Backend
) -> None:
    """Take the accepted points."""
    where = backend.xp.where
    state.position[...] = where(accepted[:, None], trial, state.position)
    state.gradient[...] = where(accepted[:, None], gradient, state.gradient)
    state.cost[...] = where(accepted, cost, state.cost)
    state.n_iter += backend.cast(accepted, "int64")
    if state.curve.shape[1] > 0:
        latest = backend.xp.clip(state.n_iter, 0, state.curve.shape[1] - 1)
        state.curve[backend.range(len(accepted)), latest] = state.cost


def turn(
    state: State, accepted: Array, exhausted: Array, gradient_products: Array, backend: Backend
) -> None:
    """Give new directions to those who moved, and steepest descent to those who found no step."""
    where = backend.xp.where
    direction = newton_direction(state, gradient_products, backend)
    slope = dot(direction, state.gradient, backend)
    is_lost = exhausted | (accepted & ~(slope < 0))
    is_new = accepted | is_lost
    state.born[...] = where(is_lost[:, None], -1, state.born)
    state.scale[...] = where(is_lost, 1.0, state.scale)
    direction = where(is_lost[:, None], -state.gradient, direction)
    state.direction[...] = where(is_new[:, None], direction, state.direction)
    steepest = -dot(state.gradient, state.gradient, backend)
    state.slope[...] = where(is_lost, steepest, where(accepted, slope, state.slope))
    state.step[...] = where(is_new, 1.0, state.step)
    begin_line(state, is_new, backend)


def newton_direction(state: State, gradient_products: Array, backend: Backend) -> Array:
    """Return -Hg from [S Y]ᵀg; in double precision but for the sums over unknowns."""
    xp, where = backend.xp, backend.xp.where
    is_there = state.born >= 0
    is_before = (state.born[:, :, None] < state.born[:, None, :]) & is_there[:, :, None]
    diagonal = where(is_there, xp.diagonal(state.s_dot_y, 0, 1, 2), 1.0)
    root = xp.sqrt(diagonal)
    above = where(is_before, state.s_dot_y / (root[:, :, None] * root[:, None, :]), 0.0)
    on_steps = where(is_there, gradient_products[:, :MEMORY], 0.0)
    on_changes = gradient_products[:, MEMORY:]
    scale = state.scale[:, None]

    powers = powers_of(above)
    a = solve_unit_triangle(powers, on_steps / root) / root
    curvature = (state.y_dot_y @ a[:, :, None])[:, :, 0]
    right = where(is_there, diagonal * a + scale * (curvature - on_changes), 0.0)
    transposed = [xp.swapaxes(power, 1, 2) for power in powers]
    u = solve_unit_triangle(transposed, right / root) / root
    weights = backend.cast(xp.concat([u, -scale * a], axis=1), name_of(state.history))
    combined = (weights[:, None, None, :] @ state.history).reshape(state.gradient.shape)
    return -(as_column(state.scale, combined) * state.gradient + combined)


def solve_unit_triangle(powers: list[Array], right: Array) -> Array:
    """Return (I + U)⁻¹ right from U, U², U⁴, U⁸, for U strictly triangular in some order of rows.

    U to the 16th power is 0, so the inverse is (I - U)(I + U²)(I + U⁴)(I + U⁸): a few products of
    small matrices, and none has to be sorted. Scaled by D^½, no entry is much above 1.
    """
    solved = right[:, :, None]
    solved = solved - powers[0] @ solved
    for power in powers[1:]:
        solved = solved + power @ solved
    return solved[:, :, 0]


def powers_of(above: Array) -> list[Array]:
    """Return U, U², U⁴, U⁸."""
    powers = [above]
    for _ in range(3):
        powers.append(powers[-1] @ powers[-1])
    return powers


def n_pieces(n_unknowns: int, shortest: int | None) -> int:
    """Return into how many equal pieces vectors are cut: a sum over few long ones is slow on a GPU.

    The more the better, none of them shorter than `shortest`; one without that.
    """
    most = 1 if shortest is None else max(1, n_unknowns // shortest)
    return next(number for number in range(most, 0, -1) if n_unknowns % number == 0)


def dot(left: Array, right: Array, backend: Backend) -> Array:
    """Return the scalar product of every problem's vectors."""
    if backend.shortest_piece is not None:
        return backend.cast((left * right).sum(axis=1), "float64")
    return backend.cast(backend.xp.einsum("qd,qd->q", left, right), "float64")


def length(vectors: Array, backend: Backend) -> Array:
    """Return the norm of every problem's vector."""
    return backend.xp.sqrt(dot(vectors, vectors, backend))


def largest(vectors: Array, backend: Backend) -> Array:
    """Return the largest component of every problem's vector, without its sign."""
    return backend.xp.amax(backend.xp.abs(vectors), axis=1)


def as_column(values: Array, like: Array) -> Array:
    """Return one value a problem as a column of the dtype of its vectors."""
    return (values.to(like.dtype) if hasattr(values, "to") else values.astype(like.dtype))[:, None]
