"""Generalized learning vector quantization."""

from copy import deepcopy
from typing import Any

import numpy as np

from hyperlvq.engines import engine_of_fitted, on_host
from hyperlvq.kernels.online import glvq_pass, mean_winner_sum
from hyperlvq.readouts.base import MinimisedReadout
from hyperlvq.readouts.online import OnlineReadout
from hyperlvq.registry import AUTO_STEP, PARTS


class GLVQClassifier(MinimisedReadout, OnlineReadout):
    """Learn prototypes that minimise Σ g(μ), a smooth count of misclassified samples.

    μ = (d⁺ - d⁻)/(d⁺ + d⁻), where d⁺ (d⁻) is the squared distance from a sample to its closest
    prototype of the own (of any other) class, and g(μ) = 1/(1 + exp(-βμ)). The cost that is
    minimised, and noted in `loss_curve_`, is the weighted mean of g(μ).

    For integer activations, matrix products are computed in float32 and summed in float64, and
    activations are widened block by block, never as a whole (torch tensors are); all else is in
    float64.

    Parameters
    ----------
    prototypes_per_class : int, mapping of labels or sequence in the order of `classes_`, default=1
        Number of prototypes P of every class, or of each one.
    slope : float or "auto", default="auto"
        The steepness β of the sigmoid. "auto" takes 12·√(T/300) for T samples, at least 6 and at
        most 200: the more samples, the more those close to the boundary count. T is the sum of
        their weights, whatever `class_weight` is; `partial_fit` takes that of its first batch.
    solver : {"lbfgs", "sgd"}, default="lbfgs"
        "lbfgs" minimises the cost over all samples; "sgd" takes one sample at a time by the
        online rule, as `partial_fit` does.
    max_iter : int, default=2500
        Largest number of iterations, or of passes for "sgd".
    tol : float or "auto", default="auto"
        "lbfgs" stops where no component of the gradient exceeds it, or for "auto" where ten
        iterations lower the cost by less than a thousandth of it; "sgd" stops after five passes in
        a row that together lower the best cost by less than this, 1e-5 for "auto".
    learning_rate : float or "auto", default="auto"
        The step α of the online rule. Steps of a given α shrink as distances grow; "auto"
        takes 0.02/β times the mean of d⁺ + d⁻ over the first samples.
    init_noise : float, default=1.0
        Prototypes start at their class mean plus uniform noise of up to this size.
    shuffle : bool, default=True
        Whether each pass of "sgd" takes the samples in a new random order.
    warm_start : bool, default=False
        Whether `fit` starts from the prototypes of the last one. In a recipe the hidden layer must
        stay the same, so give it an integer `random_state`.
    class_weight : dict, "balanced" or None, default=None
        How much the samples of each class count, times their own weights; those of a class that
        the dict leaves out count 1. "balanced" makes all classes count the same, which
        `partial_fit` cannot know.
    random_state : int, RandomState instance or None, default=None
        Where the noise and the orders come from.
    verbose : int, default=0
        Whether to print the loss and the time once in ten iterations; tensors are trained without a
        word.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    prototypes_ : ndarray of shape (n_prototypes, `n_features_in_`)
        The prototypes.
    prototype_classes_ : ndarray of shape (n_prototypes,)
        The class of each prototype, as an index into `classes_`.
    loss_curve_ : list of float
        The cost after each iteration, or the mean cost during each pass.
    n_iter_ : int
        Number of iterations or passes.
    slope_ : float
        The steepness β in use.
    learning_rate_ : float
        The step α in use, where the online rule was.
    distance_scale_ : float
        The mean of the samples' squared distances to their own and to the closest other class,
        added up: what is near and far in `predict_proba`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where X had names that are all strings.

    See Also
    --------
    KGLVQClassifier : The same in the feature space of a kernel.

    Notes
    -----
    The derivative of the sigmoid is ∂g/∂μ = β g (1 - g), which is used by both solvers. The paper
    writes g (1 - g) in its rules of learning, equations (6) and (7), without the factor β. For
    "sgd" the difference is one of the learning rate: the paper's rule with the rate βα is the rule
    here with the rate α. "lbfgs" needs the gradient of the cost that it evaluates, so the factor
    must not be left out there.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import GLVQClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> readout = GLVQClassifier(prototypes_per_class=2, random_state=0).fit(X, y)
    >>> round(readout.score(X, y), 2)
    0.99
    """

    _record = PARTS["GLVQClassifier"]
    _tensor_solvers = ("lbfgs",)
    slope_: float
    learning_rate_: Any

    def __init__(
        self,
        prototypes_per_class: Any = 1,
        slope: float | str = "auto",
        *,
        solver: str = "lbfgs",
        max_iter: int = 2500,
        tol: float | str = "auto",
        learning_rate: float | str = "auto",
        init_noise: float = 1.0,
        shuffle: bool = True,
        warm_start: bool = False,
        class_weight: dict[Any, float] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.slope = slope
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.init_noise = init_noise
        self.shuffle = shuffle
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def _starting_prototypes(self, engine, samples, classes, counts, rng):
        if not (self.warm_start and hasattr(self, "prototypes_")):
            return super()._starting_prototypes(engine, samples, classes, counts, rng)
        self._check_warm_start(samples[0], classes, counts)
        return deepcopy(self.prototypes_), self.prototype_classes_

    def _check_warm_start(self, X, classes, counts):
        """Raise if the prototypes of the last fit are no start for this one."""
        engine_of_fitted(self, X)
        earlier_classes = on_host(self.classes_)
        if not np.array_equal(classes, earlier_classes):
            raise ValueError(
                f"warm_start needs the classes {earlier_classes.tolist()!r}, "
                f"got {classes.tolist()!r}"
            )
        earlier_counts = np.bincount(on_host(self.prototype_classes_), minlength=len(counts))
        if not np.array_equal(earlier_counts, counts) or len(self.prototypes_) != counts.sum():
            raise ValueError(
                f"warm_start needs prototypes per class {counts.tolist()}, "
                f"those of the last fit are {earlier_counts.tolist()}"
            )
        if X.shape[1] != self.prototypes_.shape[1]:
            raise ValueError(
                f"warm_start needs {self.prototypes_.shape[1]} features, got {X.shape[1]}"
            )

    def _learn(self, engine, samples, classes, start, rng):
        slope = self._slope_for(engine, samples, classes)
        if self.solver == "lbfgs":
            self.prototypes_ = self._minimise(engine.minimise_glvq, start, samples, slope)
            self.prototype_classes_, self.classes_ = start[1], engine.labels(classes)
            self._carried_weight = 0.0  # what `partial_fit` goes on from
        self.slope_ = slope
        self.__dict__.pop("learning_rate_", None)  # that of an earlier fit
        if self.solver == "sgd":
            super()._learn(engine, samples, classes, start, rng)

    def _learn_batch(self, engine, samples, classes):
        if not (hasattr(self, "prototypes_") and isinstance(self.slope, str)):
            self.slope_ = self._slope_for(engine, samples, classes)
        super()._learn_batch(engine, samples, classes)

    @property
    def _keeps_order(self):
        return self.solver == "sgd" and super()._keeps_order

    def _rate(self, X, y, weights):
        if not isinstance(self.learning_rate, str):
            self.learning_rate_ = self.learning_rate
        elif not getattr(self, "learning_rate_", 0) > 0:
            mean_sum = mean_winner_sum(X, y, weights, self.prototypes_, self.prototype_classes_)
            self.learning_rate_ = AUTO_STEP * mean_sum / self.slope_
        return self.learning_rate_

    def _learn_pass(self, X, y, visits, rate):
        return glvq_pass(X, y, visits, self.prototypes_, self.prototype_classes_, self.slope_, rate)
