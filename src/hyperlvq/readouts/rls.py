"""Regularised least squares, the usual readout of random networks."""

from typing import Any

import numpy as np

from hyperlvq.checks import check_real
from hyperlvq.engines import refuse_tensor
from hyperlvq.kernels.rls import Method
from hyperlvq.readouts.base import Readout, check_range, check_solution, warn_not_converged
from hyperlvq.registry import PARTS

#: What alpha="loo" chooses from.
LOO_ALPHAS = tuple(2.0**exponent for exponent in range(-10, 16))


class RLSClassifier(Readout):
    """Regularised least squares (RLS) on one-hot labels.

    The coefficients W minimise ‖HWᵀ - Y‖² + λ Σ_n r_n ‖W_n‖² for activations H and one-hot labels
    Y, without an intercept. The class with the largest output is predicted. The penalty r_n is 1 or
    the population variance of column n.

    Parameters
    ----------
    alpha : float or "loo", default=1.0
        Strength λ of the penalty. 0 gives the least-norm solution. "loo" selects the power of two
        from 2⁻¹⁰ to 2¹⁵ with the best leave-one-out accuracy, and among equals the one with the
        smallest squared error. It needs only one matrix decomposition.
    penalty : {"variance", "identity"}, default="variance"
        Penalty r_n of each column. "identity" is ridge regression, as in the paper's formula.
        "variance" is needed to reproduce the paper's accuracies. With "variance", constant columns
        are not penalised and act as an intercept.
    solver : {"auto", "cholesky", "qr", "eigen", "pinv", "fista", "lms"}, default="auto"
        - "auto" is "cholesky", or "eigen" if `alpha` is too small for it.
        - "cholesky" solves the normal equations, in their dual form if there are fewer samples than
          columns.
        - "qr" factors the activations.
        - "eigen" decomposes the Gram matrix and supports `alpha=0`.
        - "pinv" uses a pseudo-inverse with the cutoff of single precision: eigenvalues
          smaller than `n_features_in_` · 2⁻²³ times the largest one are dropped. Together with the
          penalty "variance" it reproduces the paper's accuracies.
        - "fista" (accelerated gradient descent) and "lms" (one sample at a time) are iterative and
          need no n_features × n_features matrix decomposition (see Notes).
    max_iter : int, default=1000
        Maximum number of iterations ("fista") or passes ("lms").
    tol : float, default=1e-6
        Tolerance of "fista" and "lms". They stop when the preconditioned gradient is at most `tol`
        times the initial one. Otherwise a `ConvergenceWarning` states the gradient reached.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    coef_ : ndarray of shape (n_classes, `n_features_in_`)
        Coefficients W.
    alpha_ : float
        Penalty selected by `alpha="loo"`.
    n_iter_ : int
        Number of iterations or passes. 1 for direct solvers.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen in `fit`, defined if all of them are strings.

    See Also
    --------
    rls_path : Compute the solutions for many penalties at once.
    GLVQClassifier : Prototype readout without matrix decompositions.

    Notes
    -----
    The Gram matrix of a random layer is badly conditioned, and its largest eigenvalue belongs to
    the mean activation. "fista" and "lms" therefore estimate up to 20 dominant directions by block
    power iteration and scale gradients down along them. Both use Nesterov momentum with restarts.
    "lms" corrects each update with the mean gradient at the start of the pass (SVRG), which reduces
    the variance. It is slower than "fista" and included because the paper mentions it.

    With `alpha` ≥ 1 the coefficients of both come within 1 % of the exact solution on the
    activations of `IntRVFLLayer`. If `alpha` is below 1 and n_features is close to n_samples or
    larger, they can stop far from it. Use "auto" for such problems.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import RLSClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> readout = RLSClassifier(alpha=0.1).fit(X, y)
    >>> round(readout.score(X, y), 2)
    0.82
    """

    _record = PARTS["RLSClassifier"]
    _tensor_solvers = ("auto", "cholesky", "eigen")
    coef_: np.ndarray
    alpha_: float
    n_iter_: int

    def __init__(
        self,
        alpha: float | str = 1.0,
        *,
        penalty: str = "variance",
        solver: str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
    ) -> None:
        self.alpha = alpha
        self.penalty = penalty
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol

    def _fit_samples(self, engine, samples, classes):
        if isinstance(self.alpha, str):
            if self.solver not in ("auto", "eigen"):
                raise ValueError(
                    f"solver must be 'auto' or 'eigen' for alpha='loo', got {self.solver!r}"
                )
            coef, alpha = self._solve(engine.choose_penalty, samples, classes, LOO_ALPHAS)
            self.coef_, self.alpha_, self.n_iter_, remaining = coef, alpha, 1, 0.0
        else:
            alphas, solve = [float(self.alpha)], engine.solve_least_squares
            coefs, self.n_iter_, remaining = self._solve(solve, samples, classes, alphas)
            self.coef_ = coefs[0]
            self.__dict__.pop("alpha_", None)  # that of an earlier fit
        self.classes_ = engine.labels(classes)
        if remaining > self.tol:
            warn_not_converged(
                f"{self.solver} stopped after max_iter={self.max_iter} iterations without "
                f"converging: the gradient is still {remaining:.2g} of the first (tol={self.tol:g})"
            )

    def _solve(self, solve, samples, classes, alphas):
        """Return what a function of the engine does: readout matrices, and what came of them."""
        check_range(samples[0])
        method = Method(self.penalty, self.solver, self.max_iter, self.tol)
        with np.errstate(all="ignore"):  # what comes of it is checked
            coefs, *outcome = solve(samples, len(classes), alphas, method)
        return check_solution(coefs), *outcome

    def _scores(self, engine, X):
        return engine.linear_scores(X, self.coef_)


def rls_path(
    X: Any,
    y: Any,
    alphas: Any,
    *,
    penalty: str = "variance",
    sample_weight: Any = None,
) -> np.ndarray:
    """Compute the coefficients of `RLSClassifier` for many penalties.

    All solutions share one matrix decomposition.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Activations or features.
    y : array-like of shape (n_samples,)
        Class labels.
    alphas : sequence of float
        Strengths of the penalty, at least 0.
    penalty : {"variance", "identity"}, default="variance"
        As for `RLSClassifier`.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    coefs : ndarray of shape (n_alphas, n_classes, n_features)
        `coef_` for each alpha, with classes in sorted order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import rls_path
    >>> rls_path(*load_iris(return_X_y=True), alphas=[0.1, 1, 10]).shape
    (3, 3, 4)
    """
    alphas = [check_real("alphas", alpha) for alpha in alphas]
    if not alphas:
        raise ValueError("alphas must hold at least one number")
    readout = RLSClassifier(penalty=penalty, solver="eigen")
    readout._check_parameters()
    refuse_tensor("rls_path", X)
    engine, samples, classes = readout._start_fit(X, y, sample_weight)
    return readout._solve(engine.solve_least_squares, samples, classes, alphas)[0]
