"""Scaler for features of any magnitude."""

from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from hyperlvq.checks import warn_caller
from hyperlvq.engines import engine_of, on_host
from hyperlvq.fitting import fitting
from hyperlvq.inputs import check_no_dates, warn_of_lost_integers
from hyperlvq.registry import PARTS
from hyperlvq.version import DocumentedMixin

#: scikit-learn treats a range below this number of epsilons as constant.
ROUNDINGS = 10


class RangeScaler(DocumentedMixin, MinMaxScaler):
    """Scale each feature to a given range, whatever its magnitude.

    `sklearn.preprocessing.MinMaxScaler` treats a range below 10 eps as zero, where eps is the
    machine epsilon (10 eps is 1e-6 for float32). This scaler also requires the range to be below
    10 eps times the largest absolute value. All other features are scaled as by `MinMaxScaler`.

    Parameters
    ----------
    feature_range : tuple (min, max), default=(0, 1)
        Desired range of the scaled features.
    copy : bool, default=True
        Whether to copy the data instead of scaling in place.
    clip : bool, default=False
        Whether to clip values outside the range seen in `fit`.

    Attributes
    ----------
    scale_ : ndarray of shape (`n_features_in_`,)
        Scaling factor of each feature.
    min_ : ndarray of shape (`n_features_in_`,)
        Offset added to each scaled feature.
    data_min_, data_max_, data_range_ : ndarray of shape (`n_features_in_`,)
        Minimum, maximum and range of each feature.
    n_samples_seen_ : int
        Number of training samples.
    clip_, feature_range_ : bool, tuple (min, max)
        Values of the parameters in `fit`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen in `fit`, defined if all of them are strings.

    See Also
    --------
    make_classifier : Create a pipeline that begins with this scaler.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperlvq import RangeScaler
    >>> RangeScaler().fit_transform(np.array([[2e-9], [3e-9], [4e-9]], dtype=np.float32))
    array([[0. ],
           [0.5],
           [1. ]], dtype=float32)
    """

    _record = PARTS["RangeScaler"]
    scale_: Any
    min_: Any
    clip_: bool
    feature_range_: tuple[float, float]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the range of each feature.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        self : object
            Fitted scaler.
        """
        with fitting(self):
            super().fit(X)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Update the ranges with a batch of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples of the batch.
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        self : object
            Fitted scaler.
        """
        with fitting(self):
            check_no_dates(X)
            warn_of_lost_integers(X)
            super().partial_fit(X)
            self._scale_small_features()
        return self

    def transform(self, X: Any) -> Any:
        """Scale the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scaled : ndarray of shape (n_samples, n_features)
            Scaled samples.
        """
        check_no_dates(X)
        fitted = copy(self)  # with the parameters of fit
        fitted.clip = getattr(self, "clip_", self.clip)
        fitted.feature_range = getattr(self, "feature_range_", self.feature_range)
        return MinMaxScaler.transform(fitted, X)

    def _scale_small_features(self):
        """Scale small features, which scikit-learn treats as constant."""
        learnt = self.data_min_, self.data_max_, self.data_range_, self.scale_, self.min_
        smallest, largest, extent, scale, shift = map(on_host, learnt)
        rounding = ROUNDINGS * np.finfo(extent.dtype).eps
        size = np.maximum(np.abs(smallest), np.abs(largest))
        is_small = (extent > 0) & (extent < rounding) & (extent >= rounding * size)
        if not is_small.any():
            return
        low, high = self.feature_range
        with np.errstate(over="ignore"):
            factors = (high - low) / extent[is_small]
        is_held = np.isfinite(factors)
        if not is_held.all():
            self._warn_of_tiny(np.flatnonzero(is_small)[~is_held])
        scale, shift = scale.copy(), shift.copy()
        scale[is_small] = np.where(is_held, factors, high - low)
        shift[is_small] = low - smallest[is_small] * scale[is_small]
        engine = engine_of(self.scale_)
        self.scale_, self.min_ = engine.array(scale), engine.array(shift)

    def _warn_of_tiny(self, places):
        """Warn about features whose scaling factor overflows."""
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        listed = ", ".join(map(repr, names[places].tolist()))
        warn_caller(
            f"the features {listed} are treated as constant because their range is too small: "
            "multiply them by a constant",
            UserWarning,
        )
