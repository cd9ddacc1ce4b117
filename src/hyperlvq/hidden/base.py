"""What all hidden layers share."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hyperlvq.engines import engine_of, engine_of_fitted
from hyperlvq.learnt import FLOATS, check_usable
from hyperlvq.registry import PartRecord, check_parameters
from hyperlvq.version import DocumentedMixin


class HiddenLayer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, DocumentedMixin, BaseEstimator
):
    """A transformer that draws what it needs in `fit` and never trains it."""

    _record: PartRecord
    #: The types of activations, where they are those of the features.
    _kept_dtypes: tuple[str, ...] = ()
    random_state: int | np.random.RandomState | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the layer at random.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features as those that `transform` takes.
        y : ignored

        Returns
        -------
        self : estimator
        """
        check_parameters(self._record, vars(self))
        engine = engine_of(X)
        X = engine.validate(self, X, FLOATS, ensure_all_finite=self._finiteness)
        self._draw(engine, X, check_random_state(self.random_state))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the activations of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features; integer layers take NaN as the mark of a missing value.

        Returns
        -------
        activations : ndarray of shape (n_samples, n_units)
        """
        check_is_fitted(self)
        engine = engine_of_fitted(self, X)
        self._check_usable()
        X = engine.validate(self, X, FLOATS, ensure_all_finite=self._finiteness, reset=False)
        return self._activations(engine, X)

    @abstractmethod
    def _draw(self, engine, X, rng):
        """Set what is learnt."""

    @abstractmethod
    def _activations(self, engine, X):
        """Return the activations of features that have been validated."""

    def _check_usable(self):
        """Raise if parameters, or what was learnt, cannot be used."""
        check_parameters(self._record, vars(self))
        check_usable(self._record, vars(self))

    @property
    def _finiteness(self):
        return "allow-nan" if self._record.takes_missing else True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._record.takes_missing
        tags.transformer_tags.preserves_dtype = [*self._kept_dtypes]
        return tags
