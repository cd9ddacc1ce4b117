"""L-BFGS as the paper uses it: memory 10, scipy's tolerances, cost and gradient in one call."""

import warnings

from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

MEMORY = 10
LIMIT_REACHED = 1
NO_LIMIT = 2**31 - 1


def warn_of_limit(max_iter, stacklevel):
    """Warn that more iterations might have helped."""
    warnings.warn(
        f"L-BFGS stopped at the limit of {max_iter} iterations (max_iter); "
        "the cost may fall further",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )


def minimise(cost_and_gradient, start, max_iter, tol):
    """Return the minimiser, the number of iterations and the cost after each one.

    Ends where no component of the gradient exceeds `tol`, where the cost stops falling, or,
    with a ConvergenceWarning, after `max_iter` iterations.
    """
    costs = []

    def note_cost(intermediate_result):
        costs.append(float(intermediate_result.fun))

    result = minimize(
        cost_and_gradient,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=note_cost,
        options={"maxcor": MEMORY, "maxiter": max_iter, "maxfun": NO_LIMIT, "gtol": tol},
    )
    if result.status == LIMIT_REACHED:
        warn_of_limit(max_iter, stacklevel=5)
    # A start that is a minimum takes no iteration; finding that out counts as one.
    return result.x, max(result.nit, 1), costs or [float(result.fun)]
