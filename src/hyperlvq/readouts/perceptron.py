"""The perceptron refinement of class means, common in hyperdimensional computing."""

import numpy as np

from hyperlvq.kernels.online import perceptron_pass
from hyperlvq.readouts.online import OnlineReadout, has_settled
from hyperlvq.registry import PARTS, USUAL_RATE


class PerceptronClassifier(OnlineReadout):
    """Refine class means by the samples they misclassify.

    For each misclassified sample x the prototype of its class becomes w + αx and the one that
    won becomes w - αx. Training ends with a pass without mistakes, or when mistakes get no fewer,
    and goes back to the prototypes before the pass that had the fewest.

    Parameters
    ----------
    learning_rate : float, default=0.0005
        The step α, small beside the means: a prototype that grows long is far from everything.
    max_iter : int, default=1000
        Largest number of passes over the samples in `fit`.
    tol : float, default=1e-3
        `fit` stops after five passes in a row that lower the best share of mistakes by less.
    shuffle : bool, default=True
        Whether each pass of `fit` takes the samples in a new random order.
    random_state : int, RandomState instance or None, default=None
        Where the orders come from.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    prototypes_ : ndarray of shape (n_classes, `n_features_in_`)
        One prototype per class.
    prototype_classes_ : ndarray of shape (n_classes,)
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
    CentroidClassifier : The means alone.
    LVQ1Classifier : Moves winners towards or away from samples.

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
        return self.loss_curve_[-1] == 0 or has_settled(self.loss_curve_, self.tol)
