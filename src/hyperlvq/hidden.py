"""Random hidden layers: transformers from scaled features to activations."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hyperlvq.engines import engine_of, engine_of_fitted, on_host
from hyperlvq.fitting import fitting
from hyperlvq.kernels.comparisons import cuts_of, draw_units
from hyperlvq.kernels.missing import weighted_medians
from hyperlvq.kernels.units import CONSTANT_UNIT, Units
from hyperlvq.learnt import FLOATS, check_usable
from hyperlvq.registry import PARTS, PartRecord
from hyperlvq.version import DocumentedMixin

BIAS_RANGE = 0.1


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
        with fitting(self):
            engine = engine_of(X)
            X = self._validated(engine, X)
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
        check_usable(self._record, vars(self))
        return self._activations(engine, self._validated(engine, X, reset=False))

    @abstractmethod
    def _draw(self, engine, X, rng):
        """Set what is learnt."""

    @abstractmethod
    def _activations(self, engine, X):
        """Return the activations of validated features."""

    def _validated(self, engine, X, **options):
        options["ensure_all_finite"] = "allow-nan" if self._record.takes_missing else True
        return engine.validate(self, X, FLOATS, **options)

    @property
    def _n_features_out(self):
        try:
            return check_usable(self._record, vars(self))["units"]
        except ValueError as error:  # of a missing attribute scikit-learn concludes: not fitted
            raise AttributeError(str(error)) from None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._record.takes_missing
        tags.transformer_tags.preserves_dtype = [*self._kept_dtypes]
        return tags


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
    clip_ : int
        The largest activation κ that `fit` was given.
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
    clip_: int

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
        return engine.encode(X, self.keys_, int(self.clip_), self.n_jobs)


class ComparisonLayer(HiddenLayer):
    """Map features to small integers: units count which of a few comparisons hold.

    A unit compares a few features, drawn at random, with thresholds between the values seen in
    training, and its activation depends on how many of the comparisons hold. Each has a key: +1 if
    it holds where the feature reaches the threshold, -1 if it holds where it does not. Features
    need no scaling; thresholds of every other unit are spread over ranks, those of the rest over
    values. Activations are int8.

    Missing values (NaN) of a feature that had some in training lie below all its thresholds. Where
    training had none, `transform` uses the feature's median and warns.

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
    medians_ : ndarray of shape (`n_features_in_`,)
        Median of each feature in training, NaN where training had missing values.
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
    medians_: np.ndarray

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
        X, weights = on_host(X), np.ones(len(X))
        cuts = [cuts_of(column, weights) for column in X.T]
        kinds = [self.kinds] if isinstance(self.kinds, str) else self.kinds
        bounds = np.arange(len(kinds) + 1) * (self.n_units - 1) // len(kinds)
        drawn = [
            draw_units(kind, n_units, cuts, rng)
            for kind, n_units in zip(kinds, np.diff(bounds), strict=True)
        ]
        units = Units.joined([*drawn, CONSTANT_UNIT])
        self.features_, self.thresholds_, self.keys_, self.kinds_ = map(engine.array, units)
        self.medians_ = engine.array(weighted_medians(X, weights))

    def _activations(self, engine, X):
        units = Units(self.features_, self.thresholds_, self.keys_, self.kinds_)
        X, _ = engine.fill_missing(self, X)
        return engine.compare(X, units, self.n_jobs)
