"""The usual classifier of hyperdimensional computing: one mean per class."""

import numpy as np

from hyperlvq.readouts.base import BatchReadout, check_range
from hyperlvq.registry import PARTS


class CentroidClassifier(BatchReadout):
    """Classify by the nearest class mean.

    Distances are squared Euclidean. This is the usual classifier of hyperdimensional computing.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    prototypes_ : ndarray of shape (n_classes, `n_features_in_`)
        Weighted mean of each class.
    prototype_classes_ : ndarray of shape (n_classes,)
        Class of each prototype, as an index into `classes_`.
    class_weights_ : ndarray of shape (n_classes,)
        Total sample weight of each class.
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
    PerceptronClassifier : Move the means by the perceptron rule.
    GLVQClassifier : Learn prototypes that separate the classes.

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
    class_weights_: np.ndarray

    def _fit_samples(self, engine, samples, classes):
        check_range(samples[0])
        sums, totals = engine.class_totals(samples, len(classes))
        self.classes_ = engine.labels(classes)
        self._set_means(sums, totals, engine.array(np.arange(len(classes))))

    def _learn_batch(self, engine, samples, classes):
        sums, totals = engine.class_totals(samples, len(classes))
        if hasattr(self, "class_weights_"):
            sums, totals = self._class_sums + sums, self.class_weights_ + totals
        self.classes_ = classes
        self._set_means(sums, totals, np.flatnonzero(totals))

    def _set_means(self, sums, totals, seen):
        """Set the means of the classes that were seen."""
        self._class_sums, self.class_weights_ = sums, totals
        self.prototype_classes_ = seen
        self.prototypes_ = sums[seen] / totals[seen][:, None]
