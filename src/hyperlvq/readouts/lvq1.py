"""Kohonen's original learning vector quantization."""

from typing import Any

import numpy as np

from hyperlvq.kernels.online import lvq1_pass
from hyperlvq.readouts.online import OnlineReadout
from hyperlvq.registry import PARTS


class LVQ1Classifier(OnlineReadout):
    """Move the closest prototype towards each sample of its class, away from any other.

    The winner w becomes w ± α(x - w). In `fit` the rate falls linearly from `learning_rate` in
    the first pass towards 0; `partial_fit` keeps it.

    Parameters
    ----------
    prototypes_per_class : int, mapping of labels or sequence in the order of `classes_`, default=1
        Number of prototypes P of every class, or of each one.
    learning_rate : float, default=0.05
        The step α of the first pass.
    max_iter : int, default=30
        Number of passes over the samples in `fit`.
    init_noise : float, default=0.1
        Prototypes start at their class mean plus uniform noise of up to this size.
    shuffle : bool, default=True
        Whether each pass of `fit` takes the samples in a new random order.
    class_weight : dict, "balanced" or None, default=None
        How much the samples of each class count, times their own weights; those of a class that
        the dict leaves out count 1. "balanced" makes all classes count the same, which
        `partial_fit` cannot know.
    random_state : int, RandomState instance or None, default=None
        Where the noise and the orders come from.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    prototypes_ : ndarray of shape (n_prototypes, `n_features_in_`)
        The prototypes.
    prototype_classes_ : ndarray of shape (n_prototypes,)
        The class of each prototype, as an index into `classes_`.
    loss_curve_ : list of float
        The share of mistakes in each pass.
    n_iter_ : int
        Number of passes.
    distance_scale_ : float
        The mean of the samples' squared distances to their own and to the closest other class,
        added up: what is near and far in `predict_proba`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where X had names that are all strings.

    See Also
    --------
    GLVQClassifier : Minimises a cost, and so does not drift.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import LVQ1Classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> readout = LVQ1Classifier(prototypes_per_class=2, random_state=0).fit(X, y)
    >>> round(readout.score(X, y), 2)
    0.94
    """

    _record = PARTS["LVQ1Classifier"]

    def __init__(
        self,
        prototypes_per_class: Any = 1,
        *,
        learning_rate: float = 0.05,
        max_iter: int = 30,
        init_noise: float = 0.1,
        shuffle: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.init_noise = init_noise
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.random_state = random_state

    def _decay(self, finished):
        return 1 - finished / self.max_iter

    def _learn_pass(self, X, y, visits, rate):
        return lvq1_pass(X, y, visits, self.prototypes_, self.prototype_classes_, rate)

    def _has_converged(self):
        return len(self.loss_curve_) == self.max_iter  # where the rate has fallen to 0
