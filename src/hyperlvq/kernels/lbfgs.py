"""L-BFGS as the paper uses it: memory 10, scipy's tolerances, cost and gradient in one call.

It takes the steps of scipy's L-BFGS-B. There are no bounds here, so a direction is three products
with what is remembered; what scipy does for the sake of bounds takes more than twice as long, and
where samples are few longer than cost and gradient.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from hyperlvq.checks import check_cost
from hyperlvq.kernels.compiled import compiled
from hyperlvq.kernels.line_search import GUARDS, SCALARS, begin_line, is_accepted, next_line

MEMORY = 10
#: Points tried along one line.
MOST_TRIALS = 20
#: A cost that falls by no more than this share has settled.
SMALLEST_DECREASE = 2.220446049250313e-09
#: Without a tolerance, it has settled where so many iterations lower it by less than this share.
LEVEL_ITERATIONS, LEVEL_SHARE = 10, 1e-3

EPSILON = np.finfo(float).eps


class Point(NamedTuple):
    """Where a search is, with cost and gradient."""

    position: np.ndarray
    cost: float
    gradient: np.ndarray


class Minimum(NamedTuple):
    """Where a minimisation ended, and how."""

    position: Any
    n_iter: int  # at least 1: finding that the start is a minimum counts as one
    costs: list[float]  # after each iteration, or at a start that is a minimum
    has_converged: bool  # whether it ended before the limit of iterations


def minimise(
    cost_and_gradient: Any, start: np.ndarray, max_iter: int, tol: float | None, report: Any = None
) -> Minimum:
    """Minimise a cost from a start.

    Ends where no component of the gradient exceeds `tol` or, if that is None, where ten iterations
    lower the cost by less than a thousandth; where the cost stops falling; or after `max_iter`
    iterations. `cost_and_gradient` takes positions of the shape of the start, and must return a
    new gradient each time. `report` is called with all costs so far after each iteration.
    """

    def evaluate(position):
        cost, gradient = cost_and_gradient(position.reshape(start.shape))
        return Point(position, float(cost), gradient.ravel())

    point = evaluate(np.array(start, dtype=float).ravel())
    check_cost(point.cost)
    memory = Memory(len(point.position))
    costs, start_cost = list[float](), point.cost
    has_ended = _is_flat(point.gradient, tol)
    while not has_ended and len(costs) < max_iter:
        direction = memory.direction(point.gradient)
        start_slope = float(direction @ point.gradient)
        found = None
        if start_slope < 0:
            # The first direction of all is as steep as the gradient: a way of length 1 is tried.
            first_step = 1.0 if costs else 1 / sqrt(-start_slope)
            found = _search_line(evaluate, point, direction, start_slope, first_step)
        if found is None:
            # No step along this direction: forget what led to it, and go down the steepest way.
            has_ended = not memory.n_learnt
            memory.n_learnt = 0
            continue
        step, slope, end = found
        costs.append(end.cost)
        if report is not None:
            report(costs)
        has_ended = _is_flat(end.gradient, tol) or _has_settled(point, end)
        if tol is None and len(costs) % LEVEL_ITERATIONS == 0:
            earlier = [start_cost, *costs][-1 - LEVEL_ITERATIONS]
            has_ended |= earlier - end.cost < LEVEL_SHARE * earlier
        if not has_ended:
            change = end.gradient - point.gradient
            memory.learn(direction, step, change, (start_slope, slope))
        point = end
    position, n_iter = point.position.reshape(start.shape), max(len(costs), 1)
    return Minimum(position, n_iter, costs or [point.cost], has_ended)


def _search_line(evaluate, start, direction, slope, first_step):
    """Return a good step along a direction, the slope there and the point; None if there is none.

    `slope` is that of the cost at the start.
    """
    origin = np.float64(start.cost), np.float64(slope)
    line = begin_line(*origin, np.float64(first_step), SCALARS, GUARDS)
    step, end = 0.0, start
    for _ in range(MOST_TRIALS):
        if line.step != step:  # a search that ends at its latest point tries it once more
            step = float(line.step)
            end = evaluate(start.position + step * direction)
            slope = float(end.gradient @ direction)
        if is_accepted(line, end.cost, slope):
            return step, slope, end
        line = next_line(line, end.cost, slope, SCALARS)
    return None


def _is_flat(gradient, tol):
    """Return whether no component exceeds the tolerance, 0 if there is none."""
    return max(gradient.max(), -gradient.min()) <= (tol or 0.0)


def _has_settled(before, after):
    """Return whether the cost has stopped falling."""
    scale = max(abs(before.cost), abs(after.cost), 1)
    return before.cost - after.cost <= SMALLEST_DECREASE * scale


class Memory:
    """The last steps and changes of gradient, from which a direction is made."""

    def __init__(self, n_unknowns: int) -> None:
        self._history = np.zeros((2 * MEMORY, n_unknowns))  # the steps, then the changes
        self._s_dot_y = np.zeros((MEMORY, MEMORY))
        self._y_dot_y = np.zeros((MEMORY, MEMORY))
        self._scale = 1.0
        self.n_learnt = 0

    def learn(
        self, direction: np.ndarray, step: float, change: np.ndarray, slopes: tuple[float, float]
    ) -> None:
        """Keep the pair of a step, in the place of the oldest, if the slope has risen along it.

        `change` is that of the gradient, `slopes` are those at both ends.
        """
        start_slope, slope = slopes
        curvature = step * (slope - start_slope)
        if not curvature > EPSILON * step * -start_slope:
            return
        place = self.n_learnt % MEMORY
        np.multiply(direction, step, out=self._history[place])
        self._history[MEMORY + place] = change
        products = self._history @ change
        self._s_dot_y[:, place] = products[:MEMORY]
        self._s_dot_y[place, place] = curvature
        self._y_dot_y[:, place] = self._y_dot_y[place] = products[MEMORY:]
        self._scale = curvature / products[MEMORY + place]
        self.n_learnt += 1

    def direction(self, gradient: np.ndarray) -> np.ndarray:
        """Return the direction down from a point by its gradient."""
        if not self.n_learnt:
            return -gradient
        pairs = max(0, self.n_learnt - MEMORY) % MEMORY, min(self.n_learnt, MEMORY)
        products = self._history @ gradient
        weights = _direction_weights(self._s_dot_y, self._y_dot_y, products, self._scale, *pairs)
        direction = weights @ self._history
        direction -= self._scale * gradient
        return direction


@compiled
def _direction_weights(s_dot_y, y_dot_y, products, scale, oldest, n_pairs):
    """Return the weights of steps and changes in -Hg, less the share of the gradient itself.

    With the steps S and the changes of gradient Y as columns, R the upper triangle of SᵀY, D its
    diagonal and γ = sᵀy/yᵀy of the latest pair (Byrd, Nocedal and Schnabel, 1994),

        Hg = γg + Su - γYa,    a = R⁻¹Sᵀg,    u = R⁻ᵀ(Da + γYᵀYa - γYᵀg).

    Pairs lie in a ring; `oldest` is the place of the first. `products` are Sᵀg, then Yᵀg; `scale`
    is γ. Places without a pair have weight 0.
    """
    memory = len(s_dot_y)
    places = (oldest + np.arange(n_pairs)) % memory
    weights = np.zeros(2 * memory)
    a, u = weights[memory:], weights[:memory]
    for age in range(n_pairs - 1, -1, -1):
        place = places[age]
        rest = products[place]
        for later in places[age + 1 :]:
            rest -= s_dot_y[place, later] * a[later]
        a[place] = rest / s_dot_y[place, place]
    for age in range(n_pairs):
        place = places[age]
        rest = s_dot_y[place, place] * a[place] - scale * products[memory + place]
        for other in places:
            rest += scale * y_dot_y[place, other] * a[other]
        for earlier in places[:age]:
            rest -= s_dot_y[earlier, place] * u[earlier]
        u[place] = rest / s_dot_y[place, place]
    weights[:memory] *= -1
    weights[memory:] *= scale
    return weights
