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
    """Generalized learning vector quantization (GLVQ).

    Each class has one or several prototypes, and a sample gets the class of the closest one.
    Training minimises the weighted mean of g(μ) over the samples, a smooth version of the error
    rate, with g(μ) = 1/(1 + exp(-βμ)) and μ = (d⁺ - d⁻)/(d⁺ + d⁻). Here d⁺ is the squared distance
    from a sample to the closest prototype of its own class, and d⁻ to the closest prototype of
    another class.

    Parameters
    ----------
    prototypes_per_class : int, dict or sequence, default=1
        Number of prototypes P of each class. One number for all classes, a dict of labels, or a
        sequence in the order of `classes_`.
    slope : float or "auto", default="auto"
        Slope β of the sigmoid. A larger slope gives more influence to samples close to the class
        boundary. "auto" uses 12·√(T/300), bounded by 6 and 200, where T is the sum of the sample
        weights without class weights. `partial_fit` uses the sum of the first batch.
    solver : {"lbfgs", "sgd"}, default="lbfgs"
        "lbfgs" minimises the cost over all samples. "sgd" updates the prototypes after each
        sample, as `partial_fit` does.
    max_iter : int, default=2500
        Maximum number of iterations ("lbfgs") or passes ("sgd").
    tol : float or "auto", default="auto"
        Tolerance for stopping.

        - "lbfgs" stops when no component of the gradient exceeds `tol`, or with "auto" when ten
          iterations lower the cost by less than 0.1 %.
        - "sgd" stops when five passes together lower the best cost by less than `tol`, which is
          1e-5 for "auto".
    learning_rate : float or "auto", default="auto"
        Learning rate α of the online rule. "auto" uses 0.02/β times the mean of d⁺ + d⁻ over the
        training samples. `partial_fit` uses the mean over the first batch.
    init_noise : float, default=1.0
        Prototypes start at the class mean plus noise drawn uniformly from
        [-init_noise, init_noise].
    shuffle : bool, default=True
        Whether "sgd" shuffles the samples in each pass.
    warm_start : bool, default=False
        Whether `fit` starts from the prototypes of the previous fit. In a pipeline from
        `make_classifier`, set `random_state` to an integer to keep the hidden layer.
    class_weight : dict, "balanced" or None, default=None
        Class weights, multiplied with the sample weights. Classes missing from the dict have
        weight 1. "balanced" gives every class the same total weight and is not supported by
        `partial_fit`.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing the initial noise and the order of the samples.
    verbose : int, default=0
        If positive, print the loss and the time every ten iterations. No effect on torch tensors.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    prototypes_ : ndarray of shape (n_prototypes, `n_features_in_`)
        Learnt prototypes.
    prototype_classes_ : ndarray of shape (n_prototypes,)
        Class of each prototype, as an index into `classes_`.
    loss_curve_ : list of float
        Cost after each iteration, or mean cost during each pass.
    n_iter_ : int
        Number of iterations or passes.
    slope_ : float
        Slope β used in training.
    learning_rate_ : float
        Learning rate α used by the online rule.
    distance_scale_ : float
        Mean of d⁺ + d⁻ over the training samples. Here d⁺ is the squared distance to the closest
        prototype of the same class, and d⁻ to the closest prototype of another class.
        `predict_proba` divides distances by it.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen in `fit`, defined if all of them are strings.

    See Also
    --------
    KGLVQClassifier : GLVQ in the feature space of a kernel.

    Notes
    -----
    The derivative of the sigmoid is ∂g/∂μ = β g (1 - g). The paper omits the factor β in its
    learning rules (6) and (7). For "sgd" this only changes the scale of the learning rate: the
    paper's rule with rate βα equals the rule used here with rate α.

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
                f"warm_start needs the prototypes_per_class of the last fit, "
                f"{earlier_counts.tolist()}, got {counts.tolist()}"
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
