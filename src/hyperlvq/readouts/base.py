"""What all readouts share: labels, weights, and from scores to predictions."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from hyperlvq.batched import single
from hyperlvq.batched.backend import backend_of
from hyperlvq.checks import check_integer
from hyperlvq.kernels.distances import class_means, squared_norms
from hyperlvq.kernels.scores import compared, prototype_scores, winners_of
from hyperlvq.learnt import SAMPLE_DTYPES, check_usable
from hyperlvq.registry import Record, check_parameters
from hyperlvq.tensors import check_same_place, is_tensor, on_host, refuse_tensor, validate

#: Kept as they are; anything else becomes float64.
INPUT_DTYPES = [np.dtype(name).type for name in SAMPLE_DTYPES]

#: Sums of weights that may be multiplied with features and divided by.
WEIGHTS_BETWEEN = 1e-200, 1e200


class Readout(ClassifierMixin, BaseEstimator, ABC):
    """A classifier that gives every class a score; the highest one wins.

    Subclasses have their `_record` of `hyperlvq.registry`. Those that take torch tensors define
    `_fit_tensors`, and `_tensor_scores` as `_scores`.
    """

    _record: ClassVar[Record]

    @abstractmethod
    def _scores(self, X):
        """Return one score per sample and class (validated X)."""

    def _fit_tensors(self, X, y, sample_weight):
        """Fit to a tensor X, whatever y and weights are."""
        refuse_tensor(type(self).__name__, X)

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
        check_is_fitted(self, "classes_")
        check_same_place(self, self._first_learnt, X)
        self._check_usable()
        X = validate(self, X, INPUT_DTYPES, order="C", reset=False)
        scores = self._tensor_scores(X) if is_tensor(X) else self._scores(X)
        return compared(scores)

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
        if is_tensor(scores):
            winners = (scores > 0).long() if scores.ndim == 1 else scores.argmax(axis=1)
            return single.labels_of(winners, self.classes_)
        return self.classes_[winners_of(scores)]

    @property
    def _first_learnt(self):
        """The name of an array that tells where `fit` was: numpy, or a device of torch."""
        return next(iter(self._record.learnt))

    def _check_parameters(self):
        """Raise if a constructor parameter is wrong."""
        check_parameters(self._record, vars(self))

    def _check_usable(self):
        """Raise if compiled code could read beyond what `fit` has set, as someone changed it."""
        check_usable(self._record, vars(self))

    def _start_fit(self, X, y, sample_weight):
        """Validate and return X, class indices and weights without zeros, and the classes."""
        refuse_tensor(type(self).__name__, X)
        X, y = validate_data(self, X, y, dtype=INPUT_DTYPES, order="C")
        check_classification_targets(y)
        X, y, weights = drop_weightless(X, y, sample_weight)
        class_index, classes = self._class_index(y)
        return X, class_index, self._class_weighted(weights, class_index, classes), classes

    def _start_fit_tensors(self, X, y, sample_weight):
        """Return samples and classes as `_start_fit` does; X stays on its device."""
        X = validate(self, X, INPUT_DTYPES)
        y = single.labels_on_host(X, y)
        check_classification_targets(y)
        backend = backend_of(X)
        kept, y, weights = drop_weightless(np.arange(len(X)), y, sample_weight)
        if len(kept) < len(X):
            X = X[backend.array(kept)]
        class_index, classes = self._class_index(y)
        weights = self._class_weighted(weights, class_index, classes)
        samples = single.TensorSamples(X, class_index, weights, backend)
        return samples, single.classes_beside(classes, backend)

    def _class_index(self, y):
        """Return class indices and classes."""
        classes, class_index = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least two classes, "
                f"got one class: {classes.tolist()[0]!r}"
            )
        return class_index, classes

    def _start_partial_fit(self, X, y, classes, sample_weight):
        """Validate and return one batch as `_start_fit` does."""
        refuse_tensor("partial_fit", X)
        if hasattr(self, self._first_learnt):
            check_same_place(self, self._first_learnt, X)
            self._check_usable()
        known = getattr(self, "classes_", None)
        X, y = validate_data(self, X, y, dtype=INPUT_DTYPES, order="C", reset=known is None)
        check_classification_targets(y)
        X, y, weights = drop_weightless(X, y, sample_weight)
        classes = check_announced_classes(classes, known)
        unknown = np.setdiff1d(y, classes)
        if len(unknown):
            raise ValueError(
                f"y has labels that are not in classes: {', '.join(map(repr, unknown.tolist()))}"
            )
        if getattr(self, "class_weight", None) == "balanced":
            raise ValueError("class_weight='balanced' needs all samples: give partial_fit a dict")
        class_index = np.searchsorted(classes, y)
        return X, class_index, self._class_weighted(weights, class_index, classes), classes

    def _class_weighted(self, weights, class_index, classes):
        """Return weights times those of the classes, where the readout has any."""
        class_weight = getattr(self, "class_weight", None)
        if class_weight is None:
            return weights
        of_classes = weights_of_classes(class_weight, class_index, classes, weights)
        return weights * of_classes[class_index]


class PrototypeReadout(Readout):
    """A readout whose score of a class is minus the squared distance to its closest prototype."""

    def _scores(self, X):
        prototypes = self.prototypes_, self.prototype_classes_
        return prototype_scores(X, *prototypes, len(self.classes_), squared_norms(X))

    def _tensor_scores(self, X):
        return single.closest_scores(
            X, self.prototypes_, self.prototype_classes_, len(self.classes_)
        )


def check_announced_classes(classes, known):
    """Return the classes of `partial_fit`: those given, which must be those known if any are."""
    if classes is None:
        if known is None:
            raise ValueError("the first call of partial_fit needs all labels in classes")
        return known
    classes = np.unique(classes)
    if known is not None and not np.array_equal(classes, known):
        raise ValueError(
            f"classes must stay what the first call gave, {known.tolist()!r}, "
            f"got {classes.tolist()!r}"
        )
    if len(classes) < 2:
        raise ValueError(f"classes must list at least two labels, got {classes.tolist()!r}")
    return classes


def drop_weightless(X, y, sample_weight):
    """Return X, y and float64 weights, without the samples of weight zero."""
    if sample_weight is None:
        return X, y, np.ones(len(X))
    weights = check_array(
        on_host(sample_weight), ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must have one dimension, got {weights.ndim}")
    check_consistent_length(X, weights)
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, got {weights.min():g}")
    counts = weights > 0
    if not counts.any():
        raise ValueError("sample_weight is zero for all samples")
    smallest, largest = WEIGHTS_BETWEEN
    if weights.max() < smallest or weights.max() > largest / len(weights):
        raise ValueError(
            f"sample_weight must add up to between {smallest} and {largest}, "
            f"got weights of up to {weights.max():g}"
        )
    return (X, y, weights) if counts.all() else (X[counts], y[counts], weights[counts])


def weights_of_classes(class_weight, class_index, classes, weights):
    """Return how much each class counts, from "balanced" or a mapping."""
    if isinstance(class_weight, str):  # "balanced"
        totals = np.bincount(class_index, weights, minlength=len(classes))
        return totals.sum() / (len(classes) * totals)
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown:
        raise ValueError(f"class_weight has an entry for {unknown[0]!r}, which is no class")
    return np.array([float(class_weight.get(label, 1)) for label in labels])


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
    if isinstance(prototypes_per_class, np.ndarray):
        prototypes_per_class = prototypes_per_class.tolist()
    if isinstance(prototypes_per_class, Mapping):
        unknown = [label for label in prototypes_per_class if label not in classes.tolist()]
        if unknown:
            raise ValueError(f"{name} has an entry for {unknown[0]!r}, which is no class")
        missing = [label for label in classes.tolist() if label not in prototypes_per_class]
        if missing:
            raise ValueError(f"{name} has no entry for class {missing[0]!r}")
        counts = [prototypes_per_class[label] for label in classes.tolist()]
    elif isinstance(prototypes_per_class, list | tuple):
        counts = list(prototypes_per_class)
    else:
        counts = [prototypes_per_class] * len(classes)
    if len(counts) != len(classes):
        raise ValueError(f"{name} has {len(counts)} entries for {len(classes)} classes")
    return np.array([check_integer(name, count, minimum=1) for count in counts], dtype=np.intp)
