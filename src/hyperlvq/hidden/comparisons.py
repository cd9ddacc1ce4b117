"""An integer hidden layer whose units compare a few features with thresholds of their own."""

import numpy as np

from hyperlvq.engines import on_host
from hyperlvq.hidden.base import HiddenLayer
from hyperlvq.kernels.comparisons import cuts_of, draw_units
from hyperlvq.kernels.units import Units, constant_unit
from hyperlvq.registry import PARTS


class ComparisonLayer(HiddenLayer):
    """Map features to small integers: units count which of a few comparisons hold.

    A unit compares a few features, drawn at random, with thresholds between the values seen in
    training, and its activation depends on how many of the comparisons hold. Each has a key: +1 if
    it holds where the feature reaches the threshold, -1 if it holds where it does not. Features
    need no scaling; thresholds of every other unit are spread over ranks, those of the rest over
    values. A missing value (NaN) lies below every threshold. Activations are int8.

    The last unit is always 1, an intercept for readouts that have none.

    Parameters
    ----------
    n_units : int, default=4000
        Number of hidden units, the constant one included.
    kinds : {"conjunction", "majority", "parity"} or a tuple of them, default="conjunction"
        What units make of their comparisons. A "conjunction" is 2 if all four of them hold, 1 if
        three do, else 0; a "majority" is 1 if at least three of five hold, else -1; a "parity"
        is 1 if an even number of four holds, else -1. Several kinds get equally many units.
    n_jobs : int or None, default=None
        Number of threads that share the samples in `transform`; None for as many as BLAS has. The
        result is the same for any.
    random_state : int, RandomState instance or None, default=None
        Where features, thresholds and keys come from.

    Attributes
    ----------
    features_ : ndarray of shape (n_comparisons,), of int32
        The feature of each comparison, unit after unit.
    thresholds_ : ndarray of shape (n_comparisons,)
        What it is compared with.
    keys_ : ndarray of shape (n_comparisons,), of int8
        +1 where a comparison holds from its threshold on, -1 where it holds below.
    kinds_ : ndarray of shape (n_units,), of int32
        The kind of each unit, as an index into conjunction, majority, parity, constant.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where X had names that are all strings.

    See Also
    --------
    IntRVFLLayer : Units that read all features, with thresholds that features share.

    Examples
    --------
    >>> from hyperlvq import ComparisonLayer
    >>> layer = ComparisonLayer(n_units=7, random_state=0)
    >>> layer.fit_transform([[0.0, 10.0], [0.5, 5.0], [1.0, 0.0]])
    array([[0, 0, 0, 0, 0, 0, 1],
           [0, 0, 0, 0, 0, 2, 1],
           [0, 1, 0, 0, 0, 2, 1]], dtype=int8)
    """

    _record = PARTS["ComparisonLayer"]
    features_: np.ndarray
    thresholds_: np.ndarray
    keys_: np.ndarray
    kinds_: np.ndarray

    def __init__(
        self,
        n_units: int = 4000,
        kinds: str | list[str] = "conjunction",
        *,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_units = n_units
        self.kinds = kinds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _draw(self, engine, X, rng):
        X = on_host(X)
        cuts = [cuts_of(column, np.ones(len(X))) for column in X.T]
        kinds = [self.kinds] if isinstance(self.kinds, str) else self.kinds
        bounds = np.arange(len(kinds) + 1) * (self.n_units - 1) // len(kinds)
        drawn = [
            draw_units(kind, n_units, cuts, rng)
            for kind, n_units in zip(kinds, np.diff(bounds), strict=True)
        ]
        units = Units.joined([*drawn, constant_unit()])
        self.features_, self.thresholds_, self.keys_, self.kinds_ = map(engine.array, units)

    def _activations(self, engine, X):
        units = Units(self.features_, self.thresholds_, self.keys_, self.kinds_)
        return engine.compare(X, units, self.n_jobs)

    @property
    def _n_features_out(self):
        return len(self.kinds_)
