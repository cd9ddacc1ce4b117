"""The integer hidden layer of hyperdimensional computing."""

import numpy as np

from hyperlvq.hidden.base import HiddenLayer
from hyperlvq.registry import PARTS


class IntRVFLLayer(HiddenLayer):
    """Map features of [0, 1] to small integers: thermometer codes bound to random keys.

    A feature x becomes a thermometer code of N entries, the first round(x N) of them -1 and the
    rest +1 (halves round to even); the code is multiplied by the feature's random key of -1
    and +1, the products of all features are summed, and the sum is clipped to [-κ, κ].

    A value below 0 acts as 0, an empty thermometer, and one above 1 as 1, a full one. Scale
    features to [0, 1] first, as `make_classifier` does. A missing value (NaN) leaves its feature
    out of the sum. Of the features that `fit` gets only the number matters. Activations are int8,
    or int16 where `clip` is above 127.

    Parameters
    ----------
    n_units : int, default=1000
        Number of hidden units N.
    clip : int, default=3
        Largest activation κ.
    n_jobs : int or None, default=None
        Number of threads that share the samples in `transform`; None for as many as BLAS has. The
        result is the same for any.
    random_state : int, RandomState instance or None, default=None
        Where the keys come from.

    Attributes
    ----------
    keys_ : ndarray of shape (`n_features_in_`, n_units), of int8
        The key of each feature, of -1 and +1.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
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
    keys_: np.ndarray

    def __init__(
        self,
        n_units: int = 1000,
        clip: int = 3,
        *,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_units = n_units
        self.clip = clip
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _draw(self, engine, X, rng):
        bits = rng.randint(2, size=(X.shape[1], self.n_units), dtype=np.int8)
        self.keys_ = engine.array(2 * bits - 1)

    def _activations(self, engine, X):
        return engine.encode(X, self.keys_, int(self.clip), self.n_jobs)

    @property
    def _n_features_out(self):
        return self.keys_.shape[1]
