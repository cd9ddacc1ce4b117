"""The usual classifier of hyperdimensional computing: one mean per class."""

from typing import Self

import numpy as np

from hyperlvq.batched.single import class_totals
from hyperlvq.kernels.distances import class_sums
from hyperlvq.readouts.base import PrototypeReadout
from hyperlvq.readouts.ranges import check_range
from hyperlvq.registry import PARTS
from hyperlvq.tensors import is_tensor


class CentroidClassifier(PrototypeReadout):
    """Classify by the nearest class mean, in squared Euclidean distance.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    prototypes_ : ndarray of shape (n_classes, n_features_in_)
        The weighted mean of each class.
    prototype_classes_ : ndarray of shape (n_classes,)
        The class of each prototype, as an index into `classes_`.
    class_weights_ : ndarray of shape (n_classes,)
        The total weight of each class's samples.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had names that are all strings.

    See Also
    --------
    PerceptronClassifier : Refines the means by the samples they misclassify.
    GLVQClassifier : Learns prototypes that separate the classes.

    Examples
    --------
    >>> from hyperlvq import CentroidClassifier
    >>> readout = CentroidClassifier().fit([[0, 0], [0, 2], [5, 5]], ["low", "low", "high"])
    >>> readout.prototypes_
    array([[5., 5.],
           [0., 1.]])
    >>> readout.predict([[1, 1]])
    array(['low'], dtype='<U4')
    """

    _record = PARTS["CentroidClassifier"]

    def fit(self, X, y, sample_weight=None) -> Self:
        """Compute the class means.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Activations or features; int8, int16 and float32 are taken as they are.
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts.

        Returns
        -------
        self : CentroidClassifier
        """
        if is_tensor(X):
            self._fit_tensors(X, y, sample_weight)
            return self
        X, y, weights, classes = self._start_fit(X, y, sample_weight)
        check_range(X)
        self.classes_ = classes
        self._reset()
        self._add(X, y, weights)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Add one batch to the class means: after all batches they are those of `fit`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : CentroidClassifier
        """
        X, y, weights, self.classes_ = self._start_partial_fit(X, y, classes, sample_weight)
        if not hasattr(self, "class_weights_"):
            self._reset()
        self._add(X, y, weights)
        return self

    def _fit_tensors(self, X, y, sample_weight):
        samples, classes = self._start_fit_tensors(X, y, sample_weight)
        check_range(samples.X)
        sums, totals = class_totals(samples, len(classes))
        self.classes_, self._class_sums, self.class_weights_ = classes, sums, totals
        self.prototypes_ = sums / totals[:, None]
        self.prototype_classes_ = samples.backend.range(len(classes))

    def _reset(self):
        self.class_weights_ = np.zeros(len(self.classes_))
        self._class_sums = np.zeros((len(self.classes_), self.n_features_in_))

    def _add(self, X, y, weights):
        n_classes = len(self.classes_)
        self._class_sums += class_sums(X, y, weights, n_classes)
        self.class_weights_ += np.bincount(y, weights, minlength=n_classes)
        self.prototype_classes_ = np.flatnonzero(self.class_weights_)
        seen = self.prototype_classes_
        self.prototypes_ = self._class_sums[seen] / self.class_weights_[seen, np.newaxis]
