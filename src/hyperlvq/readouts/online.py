"""Readouts that learn from one sample at a time: what they share, the perceptron rule and LVQ1."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from hyperlvq.kernels.distances import squared_norms
from hyperlvq.kernels.online import lvq1_pass, perceptron_pass
from hyperlvq.kernels.samples import MOST_VISITS, visits_of_pass, weights_as_visits
from hyperlvq.readouts.base import (
    BatchReadout,
    check_prototype_counts,
    progress_printer,
    warn_not_converged,
)
from hyperlvq.registry import PARTS, USUAL_RATE

PATIENCE = 5
#: With tol="auto".
USUAL_TOLERANCE = 1e-5


class OnlineReadout(BatchReadout):
    """A prototype readout that can learn from one sample at a time.

    Subclasses have the parameters `learning_rate`, `max_iter`, `shuffle` and `random_state`, and
    may have `prototypes_per_class` and `init_noise`.
    """

    #: Whether `fit` goes back to the prototypes before the pass of the smallest loss.
    _keeps_best = False
    loss_curve_: list[float]
    n_iter_: int

    @abstractmethod
    def _learn_pass(self, X, y, visits, rate):
        """Change `prototypes_` by one pass over X[visits]; return the sum of its losses."""

    def _has_converged(self):
        """Return whether the last five passes lowered the best loss by less than `tol`."""
        tol = USUAL_TOLERANCE if isinstance(self.tol, str) else self.tol
        earlier, recent = self.loss_curve_[:-PATIENCE], self.loss_curve_[-PATIENCE:]
        return bool(earlier) and min(earlier) - min(recent) < tol

    def _rate(self, X, y, weights):
        """Return the learning rate of the first pass, or of one more `partial_fit`."""
        return self.learning_rate

    def _decay(self, finished):
        """Return the factor of the learning rate after a number of finished passes."""
        return 1.0

    @property
    def _keeps_order(self):
        """Whether the order of samples matters in `fit`."""
        return not self.shuffle

    def _fit_samples(self, engine, samples, classes):
        counts = self._prototype_counts(classes)
        if not self._keeps_order:
            samples = engine.canonical_samples(samples)
        rng = check_random_state(self.random_state)
        start = self._starting_prototypes(engine, samples, classes, counts, rng)
        self._learn(engine, samples, classes, start, rng)

    def _learn_batch(self, engine, samples, classes):
        X, y, weights = samples
        most = max(MOST_VISITS, len(weights))
        if weights.sum() > most:  # more than anyone would wait for
            raise ValueError(
                f"sample_weight of one partial_fit must have a sum of at most {most}, "
                f"got {weights.sum():g}"
            )
        counts = self._prototype_counts(classes)
        self.classes_ = classes
        if not hasattr(self, "prototypes_"):
            self.prototypes_, self.prototype_classes_ = (
                np.empty((0, X.shape[1])),
                np.empty(0, np.intp),
            )
            self.loss_curve_, self.n_iter_, self._carried_weight = [], 0, 0.0
        self._add_prototypes(engine, samples, counts)
        rate = self._rate(X, y, weights)
        visits, self._carried_weight = visits_of_pass(weights, self._carried_weight)
        if len(visits):
            self._pass(X, y, visits, rate)
        self.n_iter_ += 1

    def _pass(self, X, y, visits, rate):
        """Learn from one pass, note its mean loss, and return the prototypes before it.

        Raises if the prototypes leave all bounds, and goes back to those before.
        """
        before = self.prototypes_.copy()
        loss = self._learn_pass(X, y, visits, rate)
        if not np.isfinite(squared_norms(self.prototypes_)).all():
            self.prototypes_ = before
            raise ValueError(
                f"the prototypes diverge: learning_rate={self.learning_rate!r} or the features "
                "are too large"
            )
        self.loss_curve_.append(loss / len(visits))
        return before

    def _prototype_counts(self, classes):
        return check_prototype_counts(getattr(self, "prototypes_per_class", 1), classes)

    def _starting_prototypes(self, engine, samples, classes, counts, rng):
        """Return the prototypes that `fit` starts from, and their classes."""
        return self._noisy_means(engine, samples, counts, rng)

    def _noisy_means(self, engine, samples, counts, rng):
        """Return prototypes at the class means plus U(-noise, noise), and their classes.

        `counts` says how many each class gets; a class without samples must get none.
        """
        sums, weights = engine.class_totals(samples, len(counts))
        noise = getattr(self, "init_noise", 0)
        prototype_classes = engine.array(np.repeat(np.arange(len(counts)), counts))
        prototypes = sums[prototype_classes] / weights[prototype_classes][:, None]
        if noise > 0:
            prototypes += engine.array(rng.uniform(-noise, noise, size=prototypes.shape))
        return prototypes, prototype_classes

    def _add_prototypes(self, engine, samples, counts):
        """Give prototypes to the classes that this batch is the first to have samples of."""
        counts[self.prototype_classes_] = 0
        counts[np.setdiff1d(np.arange(len(counts)), samples[1])] = 0
        rng = check_random_state(self.random_state)
        added, added_classes = self._noisy_means(engine, samples, counts, rng)
        self.prototypes_ = np.concatenate([self.prototypes_, added])
        self.prototype_classes_ = np.concatenate([self.prototype_classes_, added_classes])

    def _learn(self, engine, samples, classes, start, rng):
        """Pass over the samples until converged, or `max_iter` times."""
        X, y, weights = samples
        self.classes_, self._carried_weight = classes, 0.0
        self.prototypes_, self.prototype_classes_ = start
        rate = self._rate(X, y, weights)
        visit_weights = weights_as_visits(weights)
        self.loss_curve_ = []
        best = self.prototypes_
        report = progress_printer(getattr(self, "verbose", 0), self.max_iter)
        for finished in range(self.max_iter):
            visits, _ = visits_of_pass(visit_weights, rng.uniform())
            if self.shuffle:
                visits = rng.permutation(visits)
            before = self._pass(X, y, visits, rate * self._decay(finished))
            if report is not None:
                report(self.loss_curve_)
            if self.loss_curve_[-1] == min(self.loss_curve_):
                best = before
            if self._has_converged():
                break
        else:
            warn_not_converged(f"stopped after max_iter={self.max_iter} passes without converging")
        self.n_iter_ = len(self.loss_curve_)
        if self._keeps_best:
            self.prototypes_ = best


class PerceptronClassifier(OnlineReadout):
    """Perceptron rule on class means.

    Each class has one prototype w, initially its mean. A misclassified sample x changes the
    prototype of its class to w + αx and the closest prototype to w - αx. Training stops after a
    pass without mistakes, or when the number of mistakes no longer falls. The prototypes with the
    fewest mistakes are kept.

    Parameters
    ----------
    learning_rate : float, default=0.0005
        Learning rate α, at most 1. It should be small (see Notes).
    max_iter : int, default=1000
        Maximum number of passes over the training samples.
    tol : float, default=1e-3
        Tolerance for stopping. `fit` stops when five passes lower the smallest fraction of mistakes
        by less than `tol`.
    shuffle : bool, default=True
        Whether `fit` shuffles the samples in each pass.
    random_state : int, RandomState instance or None, default=None
        Seed for shuffling the samples.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    prototypes_ : ndarray of shape (n_classes, `n_features_in_`)
        Learnt prototypes, one per class.
    prototype_classes_ : ndarray of shape (n_classes,)
        Class of each prototype, as an index into `classes_`.
    loss_curve_ : list of float
        Fraction of misclassified samples in each pass.
    n_iter_ : int
        Number of passes.
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
    CentroidClassifier : Class means without correction.
    LVQ1Classifier : Move the closest prototype instead of two prototypes.

    Notes
    -----
    In a perceptron that starts at 0 and compares dot products, α only scales the weights. Here
    prototypes start at class means and distances are compared, so α weighs mistakes against means.
    With α = 1, one mistake changes a prototype by a whole sample. Prototypes that grow long are far
    from all samples, so α should be much smaller than 1. The scale of the features does not matter.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import PerceptronClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> readout = PerceptronClassifier(random_state=0).fit(X, y)
    >>> round(readout.score(X, y), 2)
    0.93
    """

    _record = PARTS["PerceptronClassifier"]
    _keeps_best = True

    def __init__(
        self,
        learning_rate: float = USUAL_RATE,
        *,
        max_iter: int = 1000,
        tol: float = 1e-3,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state

    def _learn_pass(self, X, y, visits, rate):
        return perceptron_pass(X, y, visits, self.prototypes_, self.prototype_classes_, rate)

    def _has_converged(self):
        return self.loss_curve_[-1] == 0 or super()._has_converged()


class LVQ1Classifier(OnlineReadout):
    """Kohonen's learning vector quantization (LVQ1).

    The closest prototype w of each sample x moves to w + α(x - w) if it has the class of x, else to
    w - α(x - w). In `fit` the learning rate α falls linearly to 0. In `partial_fit` it is constant.

    Parameters
    ----------
    prototypes_per_class : int, dict or sequence, default=1
        Number of prototypes P of each class. One number for all classes, a dict of labels, or a
        sequence in the order of `classes_`.
    learning_rate : float, default=0.05
        Learning rate α of the first pass.
    max_iter : int, default=30
        Number of passes over the training samples.
    init_noise : float, default=0.1
        Prototypes start at the class mean plus noise drawn uniformly from
        [-init_noise, init_noise].
    shuffle : bool, default=True
        Whether `fit` shuffles the samples in each pass.
    class_weight : dict, "balanced" or None, default=None
        Class weights, multiplied with the sample weights. Classes missing from the dict have
        weight 1. "balanced" gives every class the same total weight and is not supported by
        `partial_fit`.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing the initial noise and the order of the samples.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    prototypes_ : ndarray of shape (n_prototypes, `n_features_in_`)
        Learnt prototypes.
    prototype_classes_ : ndarray of shape (n_prototypes,)
        Class of each prototype, as an index into `classes_`.
    loss_curve_ : list of float
        Fraction of misclassified samples in each pass.
    n_iter_ : int
        Number of passes.
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
    GLVQClassifier : Minimise a cost instead of following a heuristic.

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
