"""What all readouts share: labels, weights, and from scores to predictions."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from hyperlvq.checks import check_integer
from hyperlvq.kernels.distances import class_means, closest_per_class, squared_distances
from hyperlvq.kernels.samples import canonical_samples, visits_of_pass

#: Kept as they are; anything else becomes float64.
INPUT_DTYPES = [np.float64, np.float32, np.int8, np.int16]


class Readout(ClassifierMixin, BaseEstimator, ABC):
    """A classifier that gives every class a score; the highest one wins."""

    @abstractmethod
    def _scores(self, X):
        """Return one score per sample and class (validated X)."""

    def decision_function(self, X):
        """Return how strongly each sample belongs to each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            For two classes the second one's score less the first one's.
        """
        check_is_fitted(self)
        scores = self._scores(validate_data(self, X, dtype=INPUT_DTYPES, order="C", reset=False))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X):
        """Return the class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        winners = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[winners]

    def _start_fit(self, X, y, sample_weight):
        """Validate, set `classes_`, and return X, class indices and weights without zeros."""
        X, y = validate_data(self, X, y, dtype=INPUT_DTYPES, order="C")
        check_classification_targets(y)
        X, y, weights = drop_weightless(X, y, sample_weight)
        self.classes_, class_index = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least two classes, "
                f"got one class: {self.classes_.tolist()[0]!r}"
            )
        return X, class_index, weights

    def _start_partial_fit(self, X, y, classes, sample_weight):
        """Validate one batch; the first call sets `classes_`."""
        is_first = not hasattr(self, "classes_")
        X, y = validate_data(self, X, y, dtype=INPUT_DTYPES, order="C", reset=is_first)
        check_classification_targets(y)
        X, y, weights = drop_weightless(X, y, sample_weight)
        if is_first and classes is None:
            raise ValueError("the first call of partial_fit needs all labels in classes")
        if classes is not None:
            classes = np.unique(classes)
            if not is_first and not np.array_equal(classes, self.classes_):
                raise ValueError(
                    f"classes must stay what the first call gave, {self.classes_.tolist()!r}, "
                    f"got {classes.tolist()!r}"
                )
            if len(classes) < 2:
                raise ValueError(f"classes must list at least two labels, got {classes.tolist()!r}")
            self.classes_ = classes
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y has labels that are not in classes: {', '.join(map(repr, unknown.tolist()))}"
            )
        return X, np.searchsorted(self.classes_, y), weights


class PrototypeReadout(Readout):
    """A readout whose score of a class is minus the squared distance to its closest prototype."""

    def _scores(self, X):
        distances = squared_distances(X, self.prototypes_)
        return -closest_per_class(distances, self.prototype_classes_, len(self.classes_))


class OnlineReadout(PrototypeReadout):
    """A prototype readout that can learn from one sample at a time.

    Subclasses have the parameters `max_iter`, `shuffle` and `random_state`, and say how many
    prototypes a class has, how one pass changes them, and when to stop.
    """

    @abstractmethod
    def _check_parameters(self):
        """Raise if a constructor parameter is wrong."""

    @abstractmethod
    def _learn_pass(self, X, y, visits, rate):
        """Change `prototypes_` by one pass over X[visits]; return its loss per visit."""

    def _starting_rate(self, X, y, weights):
        """Return the learning rate of a first pass."""
        return self.learning_rate

    def _continued_rate(self, X, y, weights):
        """Return the learning rate of one more `partial_fit`."""
        return self.learning_rate

    def _prototype_counts(self):
        """Return the number of prototypes of each class."""
        return np.ones(len(self.classes_), dtype=np.intp)

    def _noise(self):
        """Return the largest noise added to the class means at the start."""
        return 0.0

    def _keeps_order(self):
        """Say whether `fit` learns from the samples in the order given."""
        return not self.shuffle

    def _decay(self, finished):
        """Return the factor of the learning rate after a number of finished passes."""
        return 1.0

    def _has_converged(self):
        """Say, after a pass, whether more of them would change little."""
        return False

    def fit(self, X, y, sample_weight=None):
        """Learn the prototypes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Activations or features; int8, int16 and float32 are taken as they are.
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts; a whole number counts as that many equal samples.

        Returns
        -------
        self : object
        """
        self._check_parameters()
        X, y, weights = self._start_fit(X, y, sample_weight)
        if not self._keeps_order():
            X, y, weights = canonical_samples(X, y, weights)
        rng = check_random_state(self.random_state)
        self._place_prototypes(X, y, weights, rng)
        self._learn(X, y, weights, rng)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from one batch: a single pass over its samples in the order given.

        A class gets its prototypes from the first batch that has samples of it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        self._check_parameters()
        X, y, weights = self._start_partial_fit(X, y, classes, sample_weight)
        rng = check_random_state(self.random_state)
        if not hasattr(self, "prototypes_"):
            self.prototypes_ = np.empty((0, X.shape[1]))
            self.prototype_classes_ = np.empty(0, dtype=np.intp)
            self.loss_curve_ = []
            self.n_iter_ = 0
        self._place_new_prototypes(X, y, weights, rng)
        rate = self._continued_rate(X, y, weights)
        visits = visits_of_pass(weights, rng, shuffle=False)
        self.loss_curve_.append(self._learn_pass(X, y, visits, rate))
        self.n_iter_ += 1
        return self

    def _place_prototypes(self, X, y, weights, rng):
        self.prototypes_, self.prototype_classes_ = starting_prototypes(
            X, y, weights, self._prototype_counts(), self._noise(), rng
        )

    def _place_new_prototypes(self, X, y, weights, rng):
        """Give prototypes to the classes that this batch is the first to have samples of."""
        counts = self._prototype_counts()
        counts[self.prototype_classes_] = 0
        counts[np.setdiff1d(np.arange(len(counts)), y)] = 0
        added, added_classes = starting_prototypes(X, y, weights, counts, self._noise(), rng)
        self.prototypes_ = np.concatenate([self.prototypes_, added])
        self.prototype_classes_ = np.concatenate([self.prototype_classes_, added_classes])

    def _learn(self, X, y, weights, rng):
        """Pass over the samples until converged, or `max_iter` times."""
        rate = self._starting_rate(X, y, weights)
        self.loss_curve_ = []
        for finished in range(self.max_iter):
            visits = visits_of_pass(weights, rng, self.shuffle)
            self.loss_curve_.append(self._learn_pass(X, y, visits, rate * self._decay(finished)))
            if self._has_converged():
                break
        self.n_iter_ = len(self.loss_curve_)


def drop_weightless(X, y, sample_weight):
    """Return X, y and float64 weights, without the samples of weight zero."""
    if sample_weight is None:
        return X, y, np.ones(len(X))
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must have one dimension, got {weights.ndim}")
    check_consistent_length(X, weights)
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, got {weights.min():g}")
    counts = weights > 0
    if not counts.any():
        raise ValueError("sample_weight is zero for all samples")
    return (X, y, weights) if counts.all() else (X[counts], y[counts], weights[counts])


def starting_prototypes(X, y, weights, counts, noise, rng):
    """Return prototypes at the class means plus U(-noise, noise), and their classes.

    `counts` says how many each class gets; a class without samples must get none.
    """
    prototype_classes = np.repeat(np.arange(len(counts)), counts)
    means = class_means(X, y, weights, len(counts))
    prototypes = means[prototype_classes]
    if noise > 0:
        prototypes += rng.uniform(-noise, noise, size=prototypes.shape)
    return prototypes, prototype_classes


def check_prototype_counts(prototypes_per_class, classes):
    """Return the number of prototypes of each class from one number, a mapping or a sequence."""
    name = "prototypes_per_class"
    if isinstance(prototypes_per_class, Mapping):
        unknown = [label for label in prototypes_per_class if label not in classes.tolist()]
        if unknown:
            raise ValueError(f"{name} has an entry for {unknown[0]!r}, which is no class")
        missing = [label for label in classes.tolist() if label not in prototypes_per_class]
        if missing:
            raise ValueError(f"{name} has no entry for class {missing[0]!r}")
        counts = [prototypes_per_class[label] for label in classes.tolist()]
    elif isinstance(prototypes_per_class, list | tuple | np.ndarray):
        counts = list(prototypes_per_class)
    else:
        counts = [prototypes_per_class] * len(classes)
    if len(counts) != len(classes):
        raise ValueError(f"{name} has {len(counts)} entries for {len(classes)} classes")
    return np.array([check_integer(name, count, minimum=1) for count in counts], dtype=np.intp)
