"""The integer hidden layer of hyperdimensional computing."""

from typing import Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state, gen_even_slices
from sklearn.utils.validation import check_is_fitted

from hyperlvq.batched.backend import backend_of
from hyperlvq.batched.encoding import encode_integers
from hyperlvq.kernels.encoding import encode_rows
from hyperlvq.kernels.scores import activation_dtype
from hyperlvq.learnt import check_usable
from hyperlvq.registry import PARTS, check_parameters
from hyperlvq.tensors import beside, check_same_place, is_tensor, validate

INPUT_DTYPES = [np.float64, np.float32]


class IntRVFLLayer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Map features of [0, 1] to small integers: thermometer codes bound to random keys.

    A feature x becomes a thermometer code of N entries, the first round(x N) of them -1 and the
    rest +1 (halves round to even); the code is multiplied by the feature's random key of -1
    and +1, the products of all features are summed, and the sum is clipped to [-κ, κ].

    A value below 0 acts as 0, an empty thermometer, and one above 1 as 1, a full one. Scale
    features to [0, 1] first, as `make_classifier` does. A missing value (NaN) leaves its feature
    out of the sum.

    Parameters
    ----------
    n_units : int, default=1000
        Number of hidden units N.
    clip : int, default=3
        Largest activation κ.
    n_jobs : int or None, default=None
        Number of threads that share the samples in `transform`. The result is the same for any.
    random_state : int, RandomState instance or None, default=None
        Where the keys come from.

    Attributes
    ----------
    keys_ : ndarray of shape (n_features_in_, n_units), of int8
        The key of each feature, of -1 and +1.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had names that are all strings.

    See Also
    --------
    RVFLLayer : The conventional hidden layer, with real weights.

    Examples
    --------
    >>> from hyperlvq import IntRVFLLayer
    >>> layer = IntRVFLLayer(n_units=6, clip=1, random_state=0)
    >>> layer.fit_transform([[0.0, 1.0], [0.5, 0.5]])
    array([[ 0, -1,  0,  0,  1, -1],
           [ 1,  0, -1, -1,  0,  0]], dtype=int8)
    """

    _record = PARTS["IntRVFLLayer"]

    def __init__(self, n_units=1000, clip=3, *, n_jobs=None, random_state=None):
        self.n_units = n_units
        self.clip = clip
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y=None) -> Self:
        """Draw the keys for as many features as X has.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its number of columns matters.
        y : ignored

        Returns
        -------
        self : IntRVFLLayer
        """
        check_parameters(self._record, vars(self))
        X = self._validate(X, reset=True)
        rng = check_random_state(self.random_state)
        bits = rng.randint(2, size=(X.shape[1], self.n_units), dtype=np.int8)
        self.keys_ = beside(X, 2 * bits - 1)
        return self

    def transform(self, X):
        """Return the activations of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features in [0, 1]; NaN marks a missing value.

        Returns
        -------
        activations : ndarray of shape (n_samples, n_units)
            In int8, or in int16 where `clip` is above 127.
        """
        check_is_fitted(self)
        check_same_place(self, "keys_", X)
        check_parameters(self._record, vars(self))
        check_usable(self._record, vars(self))
        clip = int(self.clip)
        X = self._validate(X, reset=False)
        if is_tensor(X):
            return self._encode_tensor(X, clip)
        activations = np.empty((len(X), self.keys_.shape[1]), dtype=activation_dtype(clip))
        n_threads = min(effective_n_jobs(self.n_jobs), len(X))
        Parallel(n_jobs=n_threads, prefer="threads", require="sharedmem")(
            delayed(encode_rows)(X[rows], self.keys_, clip, activations[rows])
            for rows in gen_even_slices(len(X), n_threads)
        )
        return activations

    def _encode_tensor(self, X, clip):
        dtype = np.dtype(activation_dtype(clip)).name
        return encode_integers(X, [self.keys_], [clip], dtype, backend_of(X))[0]

    def _validate(self, X, reset):
        return validate(self, X, INPUT_DTYPES, ensure_all_finite="allow-nan", reset=reset)

    @property
    def _n_features_out(self):
        return self.keys_.shape[1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags
