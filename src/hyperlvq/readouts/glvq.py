"""Generalized learning vector quantization."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from hyperlvq.checks import check_choice, check_integer, check_real
from hyperlvq.kernels.distances import squared_norms
from hyperlvq.kernels.glvq import cost_and_gradient
from hyperlvq.kernels.online import glvq_pass, mean_winner_sum
from hyperlvq.readouts.base import OnlineReadout, check_prototype_counts
from hyperlvq.readouts.lbfgs import minimise
from hyperlvq.readouts.threads import block_threads

SOLVERS = ("lbfgs", "sgd")
#: With learning_rate="auto", how far a sample on the boundary moves its winners, twice.
AUTO_STEP = 0.02
PATIENCE = 5


class GLVQClassifier(OnlineReadout):
    """Learn prototypes that minimise Σ g(μ), a smooth count of misclassified samples.

    μ = (d⁺ - d⁻)/(d⁺ + d⁻), where d⁺ (d⁻) is the squared distance from a sample to its closest
    prototype of the own (of any other) class, and g(μ) = 1/(1 + exp(-βμ)). The cost that is
    minimised, and noted in `loss_curve_`, is the weighted mean of g(μ).

    Matrix products are computed in float32 (float64 for float64 input) and summed in float64;
    integer activations are widened block by block, never as a whole.

    Parameters
    ----------
    prototypes_per_class : int, mapping of labels or sequence in the order of classes_, default=1
        Number of prototypes P of every class, or of each one.
    slope : float, default=10.0
        The steepness β of the sigmoid.
    solver : {"lbfgs", "sgd"}, default="lbfgs"
        "lbfgs" minimises the cost over all samples; "sgd" takes one sample at a time by the
        online rule, as `partial_fit` does.
    max_iter : int, default=2500
        Largest number of iterations, or of passes for "sgd".
    tol : float, default=1e-5
        "lbfgs" stops where no component of the gradient exceeds it; "sgd" after five passes
        in a row that each lower the best cost by less.
    learning_rate : float or "auto", default="auto"
        The step α of the online rule. Steps of a given α shrink as distances grow; "auto"
        takes 0.02/β times the mean of d⁺ + d⁻ over the first samples.
    init_noise : float, default=1.0
        Prototypes start at their class mean plus uniform noise of up to this size.
    shuffle : bool, default=True
        Whether each pass of "sgd" takes the samples in a new random order.
    warm_start : bool, default=False
        Whether `fit` starts from the prototypes of the last one.
    random_state : int, RandomState instance or None, default=None
        Where the noise and the orders come from.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    prototypes_ : ndarray of shape (n_prototypes, n_features_in_)
        The prototypes.
    prototype_classes_ : ndarray of shape (n_prototypes,)
        The class of each prototype, as an index into `classes_`.
    loss_curve_ : list of float
        The cost after each iteration, or the mean cost during each pass.
    n_iter_ : int
        Number of iterations or passes.
    learning_rate_ : float
        The step α in use, where the online rule was.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had names that are all strings.

    See Also
    --------
    KGLVQClassifier : The same in the feature space of a kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import GLVQClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> readout = GLVQClassifier(prototypes_per_class=2, random_state=0).fit(X, y)
    >>> round(readout.score(X, y), 2)
    0.99
    """

    def __init__(
        self,
        prototypes_per_class=1,
        slope=10.0,
        *,
        solver="lbfgs",
        max_iter=2500,
        tol=1e-5,
        learning_rate="auto",
        init_noise=1.0,
        shuffle=True,
        warm_start=False,
        random_state=None,
    ):
        self.prototypes_per_class = prototypes_per_class
        self.slope = slope
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.init_noise = init_noise
        self.shuffle = shuffle
        self.warm_start = warm_start
        self.random_state = random_state

    def _check_parameters(self):
        check_real("slope", self.slope, positive=True)
        check_choice("solver", self.solver, SOLVERS)
        check_integer("max_iter", self.max_iter, minimum=1)
        check_real("tol", self.tol)
        check_real("init_noise", self.init_noise)
        if self.learning_rate != "auto":
            check_real("learning_rate", self.learning_rate, positive=True)

    def _prototype_counts(self):
        return check_prototype_counts(self.prototypes_per_class, self.classes_)

    def _noise(self):
        return self.init_noise

    def _keeps_order(self):
        return self.solver == "sgd" and not self.shuffle

    def _start_fit(self, X, y, sample_weight):
        earlier = getattr(self, "classes_", None) if self.warm_start else None
        samples = super()._start_fit(X, y, sample_weight)
        if earlier is not None and not np.array_equal(earlier, self.classes_):
            found, self.classes_ = self.classes_, earlier
            raise ValueError(
                f"warm_start needs the classes {earlier.tolist()!r}, got {found.tolist()!r}"
            )
        return samples

    def _place_prototypes(self, X, y, weights, rng):
        earlier = getattr(self, "prototypes_", None) if self.warm_start else None
        super()._place_prototypes(X, y, weights, rng)
        if earlier is not None:
            started, self.prototypes_ = self.prototypes_, earlier
            if started.shape != earlier.shape:
                raise ValueError(
                    f"warm_start needs prototypes of shape {started.shape}, "
                    f"those of the last fit have {earlier.shape}"
                )

    def _learn(self, X, y, weights, rng):
        if self.solver == "lbfgs":
            self._minimise(X, y, weights)
        else:
            super()._learn(X, y, weights, rng)
            if not self._has_converged():
                warnings.warn(
                    f"the cost still falls after {self.max_iter} passes (max_iter)",
                    ConvergenceWarning,
                    stacklevel=3,
                )

    def _minimise(self, X, y, weights):
        sample_norms = squared_norms(X)
        shares = weights / weights.sum()
        shape = self.prototypes_.shape

        def evaluate(flat_prototypes):
            cost, gradient = cost_and_gradient(
                flat_prototypes.reshape(shape),
                self.prototype_classes_,
                X,
                y,
                self.slope,
                shares,
                sample_norms,
                map_blocks,
            )
            return cost, gradient.ravel()

        with block_threads() as map_blocks:
            flat_prototypes, self.n_iter_, self.loss_curve_ = minimise(
                evaluate, self.prototypes_.ravel(), self.max_iter, self.tol
            )
        self.prototypes_ = flat_prototypes.reshape(shape)

    def _starting_rate(self, X, y, weights):
        self.learning_rate_ = self.learning_rate
        if self.learning_rate == "auto":
            mean_sum = mean_winner_sum(X, y, weights, self.prototypes_, self.prototype_classes_)
            self.learning_rate_ = AUTO_STEP * mean_sum / self.slope
        return self.learning_rate_

    def _continued_rate(self, X, y, weights):
        if self.learning_rate == "auto" and getattr(self, "learning_rate_", 0) > 0:
            return self.learning_rate_
        return self._starting_rate(X, y, weights)

    def _learn_pass(self, X, y, visits, rate):
        cost = glvq_pass(X, y, visits, self.prototypes_, self.prototype_classes_, self.slope, rate)
        return cost / len(visits)

    def _has_converged(self):
        earlier, recent = self.loss_curve_[:-PATIENCE], self.loss_curve_[-PATIENCE:]
        return bool(earlier) and min(earlier) - min(recent) < self.tol
