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
    """Fit the one-hot labels by least squares with a quadratic penalty; the largest output wins.

    W minimises ‖HWᵀ - Y‖² + λ Σ_n r_n ‖W_n‖² over the activations H and one-hot labels Y, without
    an intercept. r_n is 1 (ridge regression, as the paper prints it) or the population
    variance of column n (as its figures were made).

    Parameters
    ----------
    alpha : float or "loo", default=1.0
        The strength λ of the penalty. With 0, the solution of least norm. "loo" takes the power of
        two, of 2⁻¹⁰ to 2¹⁵, with which most samples are predicted right without them (of equals,
        that of the smallest squared error): leave-one-out, from one decomposition.
    penalty : {"variance", "identity"}, default="variance"
        What r_n is. Columns without variance have no "variance" penalty: they act as an
        intercept.
    solver : {"auto", "cholesky", "qr", "eigen", "pinv", "fista", "lms"}, default="auto"
        "cholesky" solves the normal equations, in their dual form where there are fewer samples
        than columns; "qr" factors the activations themselves; "eigen" also serves an alpha of 0;
        "auto" is "cholesky", or "eigen" where alpha is too small for it. "pinv" takes the
        pseudo-inverse as single precision would, and so the paper's figures: directions whose
        eigenvalue is below `n_features_in_` · 2⁻²³ of the largest are left out, a penalty that
        depends on the data and helps where alpha is small. "fista" (accelerated gradients) and
        "lms" (one sample at a time) never factor a matrix of all columns (see Notes).
    max_iter : int, default=1000
        Maximum number of iterations ("fista") or passes ("lms").
    tol : float, default=1e-6
        "fista" and "lms" stop when the preconditioned gradient, relative to that of the first
        iteration, is at most this. Otherwise a `ConvergenceWarning` states the gradient reached.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray of shape (n_classes, `n_features_in_`)
        The readout matrix W.
    alpha_ : float
        The alpha that "loo" found.
    n_iter_ : int
        Number of iterations or passes; 1 for the direct solvers.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where X had names that are all strings.

    See Also
    --------
    rls_path : The solutions for many alphas at the price of one.
    GLVQClassifier : A readout that needs no matrix to be factored.

    Notes
    -----
    The activations of a random layer have few dominant directions, above all their mean, and the
    eigenvalues of the Gram matrix beyond these fall over several orders of magnitude. "fista" and
    "lms" therefore estimate up to 20 dominant directions (at most a quarter of the columns or
    samples) by block power iteration, and scale gradients down along these. "lms" updates the
    coefficients after each sample by the least-mean-squares rule, minus the update that this sample
    would have made at the start of the pass, plus the mean of these (SVRG). Both use Nesterov's
    momentum, restarted whenever it points uphill.

    With the default `max_iter` and `tol` and alpha ≥ 1, the coefficients of `IntRVFLLayer` on iris,
    wine, breast cancer and digits (50 to 1000 units, clip 1 to 7, both penalties) come within
    1 % of the closed form ("lms" was not measured on digits beyond 200 units). Smaller penalties
    are too small where there are about as many columns as samples, or more: the gradient hardly
    decreases along the directions of the smallest eigenvalues, and coefficients remained up to 3 %
    away with alpha=0.1 and 63 % with 0.001. "auto" solves such problems.

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
                    f"alpha='loo' takes the solvers auto and eigen, got {self.solver!r}"
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
                f"{self.solver} stopped at the limit of {self.max_iter} iterations (max_iter): "
                f"the gradient is {remaining:.2g} of the first, more than tol={self.tol:g}"
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
    """Return the readout matrices of `RLSClassifier` for many alphas from one decomposition.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Activations or features.
    y : array-like of shape (n_samples,)
        Labels of any kind.
    alphas : sequence of float
        Strengths of the penalty, each at least 0.
    penalty : {"variance", "identity"}, default="variance"
        As for `RLSClassifier`.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts.

    Returns
    -------
    coefs : ndarray of shape (n_alphas, n_classes, n_features)
        For every alpha, what `coef_` would be; classes in sorted order.

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
