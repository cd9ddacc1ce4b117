"""The conventional RVFL hidden layer."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hyperlvq.engines import engine_of, engine_of_fitted
from hyperlvq.learnt import FLOATS, check_usable
from hyperlvq.registry import PARTS, check_parameters
from hyperlvq.version import DocumentedMixin

BIAS_RANGE = 0.1


class RVFLLayer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DocumentedMixin, BaseEstimator):
    """Map features to the sigmoids of random projections.

    h = 1/(1 + exp(-(Wx + b))) with W uniform in (-1, 1) and b uniform in (-0.1, 0.1), drawn in
    `fit` and never trained: the hidden layer of a random vector functional link network.

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
    weights_: np.ndarray
    biases_: np.ndarray

    def __init__(
        self, n_units: int = 1000, *, random_state: int | np.random.RandomState | None = None
    ) -> None:
        self.n_units = n_units
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the weights for as many features as X has.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its number of columns matters.
        y : ignored

        Returns
        -------
        self : RVFLLayer
        """
        check_parameters(self._record, vars(self))
        engine = engine_of(X)
        X = engine.validate(self, X, FLOATS)
        rng = check_random_state(self.random_state)
        self.weights_ = engine.array(rng.uniform(-1, 1, size=(self.n_units, X.shape[1])))
        self.biases_ = engine.array(rng.uniform(-BIAS_RANGE, BIAS_RANGE, size=self.n_units))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the activations of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, usually scaled to [0, 1].

        Returns
        -------
        activations : ndarray of shape (n_samples, n_units)
            In float32 if X is, else in float64.
        """
        check_is_fitted(self)
        engine = engine_of_fitted(self, X)
        check_usable(self._record, vars(self))
        X = engine.validate(self, X, FLOATS, reset=False)
        return engine.project(X, self.weights_, self.biases_)

    @property
    def _n_features_out(self):
        return len(self.weights_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
