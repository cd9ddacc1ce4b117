"""Base classes of the readouts: labels, weights, scores and predictions."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import isfinite, sqrt
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from hyperlvq.checks import warn_caller
from hyperlvq.engines import engine_of, engine_of_fitted, on_host, refuse_tensor
from hyperlvq.fitting import fitting
from hyperlvq.inputs import check_labels
from hyperlvq.kernels.scores import compared, prototype_probabilities, winners_of
from hyperlvq.learnt import SAMPLE_DTYPES, check_usable
from hyperlvq.registry import LARGEST_FEATURE, USUAL_SLOPE, PartRecord, check_parameters
from hyperlvq.version import DocumentedMixin

#: Sums of weights that may be multiplied with features and divided by.
WEIGHTS_BETWEEN = 1e-200, 1e200
#: Of the largest feature, so that sums of squares over all samples, and their inverse, are finite.
FEATURES_BETWEEN = 1e-140, LARGEST_FEATURE
#: With slope="auto", the slope of GLVQ for one sample, which grows with the root of their number,
#: and its bounds.
AUTO_SLOPE, AUTO_SLOPES_BETWEEN = 12 / sqrt(300), (6.0, 200.0)
#: With verbose, a line is printed once in so many iterations.
REPORTED_ITERATIONS = 10


class Readout(ClassifierMixin, DocumentedMixin, BaseEstimator, ABC):
    """A classifier that gives every class a score; the highest one wins.

    Subclasses have their `_record` of `hyperlvq.registry`.
    """

    _record: ClassVar[PartRecord]
    #: The types of features that are taken as they are, and what else is asked of them.
    _dtypes: ClassVar[tuple[str, ...]] = SAMPLE_DTYPES
    _validation: ClassVar[Mapping[str, str]] = {}
    #: The solvers that take torch tensors, where the readout has several.
    _tensor_solvers: ClassVar[tuple[str, ...]] = ()
    classes_: np.ndarray

    @abstractmethod
    def _fit_samples(self, engine, samples, classes):
        """Learn from what `_start_fit` returns."""

    @abstractmethod
    def _scores(self, engine, X):
        """Return one score per sample and class (validated X)."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples: activations or features.
        y : array-like of shape (n_samples,)
            Class labels: numbers, text or Boolean values.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights. If all weights are whole numbers with a sum of at most 2**20, online
            rules repeat each sample as often as its weight says. Otherwise they scale the weights
            to a mean of 1.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        with fitting(self):
            engine, samples, classes = self._start_fit(X, y, sample_weight)
            self._fit_samples(engine, samples, classes)
            self._measure(engine, samples)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Compute one score per sample and class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, as in `fit`.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Scores in the order of `classes_`. With two classes, the score of the second class minus
            that of the first.
        """
        return compared(self._scores(*self._start_predict(X)))

    def predict(self, X: Any) -> np.ndarray:
        """Predict class labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, as in `fit`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Predicted class labels.
        """
        scores = self.decision_function(X)
        return engine_of(scores).winning_labels(scores, self.classes_)

    def _check_parameters(self):
        check_parameters(self._record, vars(self))

    def _measure(self, engine, samples):
        """Note what there is to note about the samples of a fit that has ended."""

    def _start_predict(self, X):
        """Return the engine of X, and X, validated."""
        check_is_fitted(self, "classes_")
        engine = engine_of_fitted(self, X)
        check_usable(self._record, vars(self))
        options = {"order": "C", "reset": False, **self._validation}
        return engine, engine.validate(self, X, self._dtypes, **options)

    def _start_fit(self, X, y, sample_weight):
        """Return the engine of X, samples without those of weight zero, and the classes.

        Samples are X, validated, class indices and weights. All but X are on the host.
        """
        engine = engine_of(X)
        engine.check_can_fit(self)
        X, y = engine.validate_samples(self, X, y, self._dtypes, **self._validation)
        check_labels(y)
        check_classification_targets(y)
        X, y, weights = drop_weightless(X, y, sample_weight)
        classes, y = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least two classes, "
                f"got one class: {classes.tolist()[0]!r}"
            )
        return engine, (X, y, self._class_weighted(weights, y, classes)), classes

    def _class_weighted(self, weights, class_index, classes):
        """Return weights times those of the classes, where the readout has any."""
        class_weight = getattr(self, "class_weight", None)
        if class_weight is None:
            return weights
        if isinstance(class_weight, str):  # "balanced"
            totals = np.bincount(class_index, weights, minlength=len(classes))
            of_classes = totals.sum() / (len(classes) * totals)
        else:
            labels = classes.tolist()
            check_known("class_weight", class_weight, labels)
            of_classes = np.array([float(class_weight.get(label, 1)) for label in labels])
        return weights * of_classes[class_index]


class PrototypeReadout(Readout):
    """A readout whose score of a class is minus the squared distance to its closest prototype."""

    prototypes_: np.ndarray
    prototype_classes_: np.ndarray
    distance_scale_: float

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict class probabilities.

        The probability of class c is proportional to 1/(1 + exp(β(d - d')/s)). Here d is the
        squared distance to the closest prototype of c, d' to the closest prototype of another
        class, s is `distance_scale_`, and β is the slope of GLVQ, or 10 for other readouts.

        These probabilities rank samples by confidence, but they are not calibrated. Use
        `sklearn.calibration.CalibratedClassifierCV` for calibrated probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, as in `fit`.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of `classes_`. Classes without prototypes have probability 0.
        """
        engine, X = self._start_predict(X)
        scores = on_host(self._scores(engine, X))
        slope = getattr(self, "slope_", USUAL_SLOPE)
        given = winners_of(compared(scores)), slope, self.distance_scale_
        return engine.array(prototype_probabilities(-scores, *given))

    def prototype_distances(self, X: Any) -> np.ndarray:
        """Compute the squared distances to all prototypes.

        Distances are Euclidean, or for `KGLVQClassifier` those in the feature space of the kernel.
        In a pipeline, use ``model[-1].prototype_distances(model[:-1].transform(X))``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, as in `fit`.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_prototypes)
            Squared distances, with columns in the order of `prototype_classes_`.

        Examples
        --------
        >>> from hyperlvq import CentroidClassifier
        >>> readout = CentroidClassifier().fit([[0, 0], [0, 2], [5, 5]], ["low", "low", "high"])
        >>> readout.prototype_distances([[1, 1]])
        array([[32.,  1.]])
        >>> readout.classes_[readout.prototype_classes_]
        array(['high', 'low'], dtype='<U4')
        """
        return self._distances(*self._start_predict(X))

    def _distances(self, engine, X):
        n_prototypes = len(self.prototypes_)
        each = engine.array(np.arange(n_prototypes))  # as if each was the only one of a class
        return -engine.prototype_scores(X, self.prototypes_, each, n_prototypes)

    def _measure(self, engine, samples):
        prototypes = self.prototypes_, self.prototype_classes_
        self.distance_scale_ = engine.distance_scale(samples, *prototypes, len(self.classes_))

    def _scores(self, engine, X):
        prototypes = self.prototypes_, self.prototype_classes_
        return engine.prototype_scores(X, *prototypes, len(self.classes_))


class MinimisedReadout(PrototypeReadout):
    """Prototypes where the cost of GLVQ is least; `slope`, `tol` and `max_iter` are parameters."""

    def _slope_for(self, engine, samples, classes):
        """Return the slope β as a number; "auto" is one for the samples' total weight.

        That is the sum of their own weights, without those of their classes.
        """
        if not isinstance(self.slope, str):
            return float(self.slope)
        total = engine.total_weight(samples)
        if isinstance(self.class_weight, Mapping):  # "balanced" keeps the sum
            _, y, weights = samples
            total = float((weights / self._class_weighted(np.ones(len(y)), y, classes)).sum())
        smallest, largest = AUTO_SLOPES_BETWEEN
        return min(max(AUTO_SLOPE * sqrt(total), smallest), largest)

    def _minimise(self, minimise, *given):
        """Note what L-BFGS comes to from what is given, and return the position of the minimum."""
        report = progress_printer(self.verbose, self.max_iter)
        limits = self.max_iter, lbfgs_tolerance(self.tol)
        position, n_iter, losses, has_converged = minimise(*given, *limits, report)
        if not has_converged:
            warn_not_converged(
                f"L-BFGS stopped after max_iter={self.max_iter} iterations without converging"
            )
        self.n_iter_, self.loss_curve_ = n_iter, losses
        return position


class BatchReadout(PrototypeReadout):
    """A prototype readout that can learn from one batch of samples after the other."""

    @abstractmethod
    def _learn_batch(self, engine, samples, classes):
        """Learn from what `_start_partial_fit` returns."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model to a batch of samples.

        A class gets its prototypes from the first batch that contains it. After all batches,
        `CentroidClassifier` equals the result of `fit`. Other classifiers make one pass over each
        batch in the given order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples of the batch.
        y : array-like of shape (n_samples,)
            Class labels of the batch.
        classes : array-like of shape (n_classes,), default=None
            All class labels of all batches. Required in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights. Online rules use a sample of weight 2 twice. Fractional weights
            accumulate until they make up a whole sample.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        with fitting(self):
            engine, samples, classes = self._start_partial_fit(X, y, classes, sample_weight)
            self._learn_batch(engine, samples, classes)
            if not getattr(self, "distance_scale_", 0):  # known once there are two classes
                self._measure(engine, samples)
        return self

    def _start_partial_fit(self, X, y, classes, sample_weight):
        """Return the engine, samples and classes of one batch, as `_start_fit` does."""
        refuse_tensor("partial_fit", X)
        known = getattr(self, "classes_", None)
        engine = engine_of(X) if known is None else engine_of_fitted(self, X)
        if known is not None:
            check_usable(self._record, vars(self))
        X, y = engine.validate_samples(self, X, y, SAMPLE_DTYPES, reset=known is None)
        check_labels(y)
        check_classification_targets(y)
        X, y, weights = drop_weightless(X, y, sample_weight)
        classes = check_announced_classes(classes, known)
        unknown = np.setdiff1d(y, classes)
        if len(unknown):
            listed = ", ".join(map(repr, unknown.tolist()))
            raise ValueError(f"y has labels that are missing in classes: {listed}")
        if getattr(self, "class_weight", None) == "balanced":
            raise ValueError("class_weight='balanced' is not supported by partial_fit: use a dict")
        y = np.searchsorted(classes, y)
        return engine, (X, y, self._class_weighted(weights, y, classes)), classes


def check_announced_classes(classes: Any, known: np.ndarray | None) -> np.ndarray:
    """Return the classes of `partial_fit`: those given, which must be those known if any are."""
    if classes is None:
        if known is None:
            raise ValueError("classes must be given in the first call of partial_fit")
        return known
    classes = np.unique(classes)
    if known is not None and not np.array_equal(classes, known):
        raise ValueError(
            f"classes must equal those of the first call, {known.tolist()!r}, "
            f"got {classes.tolist()!r}"
        )
    if len(classes) < 2:
        raise ValueError(f"classes must list at least two labels, got {classes.tolist()!r}")
    return classes


def drop_weightless(X: Any, y: np.ndarray, sample_weight: Any) -> tuple[Any, ...]:
    """Return X, y and float64 weights, without the samples of weight zero."""
    if sample_weight is None:
        return X, y, np.ones(len(X))
    weights = check_array(
        on_host(sample_weight), ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must have one dimension, got {weights.ndim} dimensions")
    check_consistent_length(X, weights)
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, got {weights.min():g}")
    counts = weights > 0
    if not counts.any():
        raise ValueError("sample_weight must be positive for some sample, got only zeros")
    smallest, largest = WEIGHTS_BETWEEN
    if weights.max() < smallest or weights.max() > largest / len(weights):
        raise ValueError(
            f"sample_weight must have a sum from {smallest} to {largest}, "
            f"got weights of up to {weights.max():g}"
        )
    if counts.all():
        return X, y, weights
    kept = np.flatnonzero(counts)
    return X[kept], y[kept], weights[kept]


def check_known(name: str, mapping: Mapping[Any, Any], labels: list[Any]) -> None:
    """Raise if a mapping has an entry for what is no class."""
    unknown = [label for label in mapping if label not in labels]
    if unknown:
        raise ValueError(f"{name} has an entry for {unknown[0]!r}, which is not a class")


def check_prototype_counts(prototypes_per_class: Any, classes: np.ndarray) -> np.ndarray:
    """Return the number of prototypes of each class from one number, a mapping or a sequence."""
    name, labels, counts = "prototypes_per_class", classes.tolist(), prototypes_per_class
    if isinstance(counts, Mapping):
        check_known(name, counts, labels)
        missing = [label for label in labels if label not in counts]
        if missing:
            raise ValueError(f"{name} has no entry for class {missing[0]!r}")
        counts = [counts[label] for label in labels]
    if np.ndim(counts) and len(counts) != len(labels):
        raise ValueError(f"{name} has {len(counts)} entries for {len(labels)} classes")
    return np.full(len(labels), counts, dtype=np.intp)


def check_range(X: Any) -> None:
    """Raise if squares of the features would become 0 or infinite."""
    largest = max(float(X.max()), -float(X.min()))
    smallest_allowed, largest_allowed = FEATURES_BETWEEN
    if largest and not smallest_allowed <= largest <= largest_allowed:
        raise ValueError(
            f"the largest absolute feature must be from {smallest_allowed} to {largest_allowed}, "
            f"got {largest:g}: scale the features"
        )


def check_solution(numbers: Any) -> Any:
    """Return what was learnt; raise if it is not finite, as where one column is out of range."""
    if not isfinite(abs(numbers).max()):
        raise ValueError(
            "the model has infinite numbers because features differ too much in size: scale them"
        )
    return numbers


def warn_not_converged(message: str) -> None:
    """Warn that an iterative method stopped early."""
    warn_caller(message, ConvergenceWarning)


def progress_printer(verbose: Any, max_iter: Any) -> Any:
    """Return what prints a line after some iterations, given their losses; None if not verbose."""
    if not verbose:
        return None
    started = perf_counter()

    def report(losses):
        if len(losses) % REPORTED_ITERATIONS == 0:
            print(
                f"iteration {len(losses)} of at most {max_iter}: loss {losses[-1]:.6f}, "
                f"{perf_counter() - started:.1f} s elapsed",
                flush=True,
            )

    return report


def lbfgs_tolerance(tol: Any) -> float | None:
    """Return the tolerance of the gradient, None for "auto"."""
    return None if isinstance(tol, str) else float(tol)
