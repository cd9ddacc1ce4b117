"""The usual classifier of hyperdimensional computing: one mean per class."""

import numpy as np

from hyperlvq.readouts.base import BatchReadout, check_range
from hyperlvq.registry import PARTS


class CentroidClassifier(BatchReadout):
    """Classify by the nearest class mean, in squared Euclidean distance.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    prototypes_ : ndarray of shape (n_classes, `n_features_in_`)
        The weighted mean of each class.
    prototype_classes_ : ndarray of shape (n_classes,)
        The class of each prototype, as an index into `classes_`.
    class_weights_ : ndarray of shape (n_classes,)
        The total weight of each class's samples.
    distance_scale_ : float
        The mean of the samples' squared distances to their own and to the closest other class,
        added up: what is near and far in `predict_proba`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
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
