"""The conventional RVFL hidden layer."""

import numpy as np

from hyperlvq.hidden.base import HiddenLayer
from hyperlvq.learnt import FLOATS
from hyperlvq.registry import PARTS

BIAS_RANGE = 0.1


class RVFLLayer(HiddenLayer):
    """Map features to the sigmoids of random projections.

    h = 1/(1 + exp(-(Wx + b))) with W uniform in (-1, 1) and b uniform in (-0.1, 0.1), drawn in
    `fit` and never trained: the hidden layer of a random vector functional link network. Of the
    features that `fit` gets only the number matters. Activations are float32 where features are,
    else float64.

    Parameters
    ----------
    n_units : int, default=1000
        Number of hidden units N.
    random_state : int, RandomState instance or None, default=None
        Where the weights and biases come from.

    Attributes
    ----------
    weights_ : ndarray of shape (n_units, `n_features_in_`)
        The projections W.
    biases_ : ndarray of shape (n_units,)
        The biases b.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where X had names that are all strings.

    See Also
    --------
    IntRVFLLayer : The integer hidden layer of hyperdimensional computing.

    Examples
    --------
    >>> from hyperlvq import RVFLLayer
    >>> layer = RVFLLayer(n_units=4, random_state=0)
    >>> layer.fit_transform([[0.0, 1.0], [0.5, 0.5]]).shape
    (2, 4)
    """

    _record = PARTS["RVFLLayer"]
    _kept_dtypes = FLOATS
    weights_: np.ndarray
    biases_: np.ndarray

    def __init__(
        self, n_units: int = 1000, *, random_state: int | np.random.RandomState | None = None
    ) -> None:
        self.n_units = n_units
        self.random_state = random_state

    def _draw(self, engine, X, rng):
        self.weights_ = engine.array(rng.uniform(-1, 1, size=(self.n_units, X.shape[1])))
        self.biases_ = engine.array(rng.uniform(-BIAS_RANGE, BIAS_RANGE, size=self.n_units))

    def _activations(self, engine, X):
        return engine.project(X, self.weights_, self.biases_)

    @property
    def _n_features_out(self):
        return len(self.weights_)
