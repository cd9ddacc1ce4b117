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
    """Base class of the random hidden layers."""

    _record: PartRecord
    #: The types of activations, where they are those of the features.
    _kept_dtypes: tuple[str, ...] = ()
    random_state: int | np.random.RandomState | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the layer at random.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        self : object
            Fitted transformer.
        """
        with fitting(self):
            engine = engine_of(X)
            X = self._validated(engine, X)
            self._draw(engine, X, check_random_state(self.random_state))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Compute the activations of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. `IntRVFLLayer` and `ComparisonLayer` accept missing values (NaN).

        Returns
        -------
        activations : ndarray of shape (n_samples, n_units)
            Activations of the hidden units.
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
    """Hidden layer of a random vector functional link network (RVFL).

    The activations are h = 1/(1 + exp(-(Wx + b))). The weights W are drawn uniformly from (-1, 1)
    and the biases b from (-0.1, 0.1). They are never trained, and `fit` uses only the number of
    features. Activations are float32 for float32 features, else float64.

    Parameters
    ----------
    n_units : int, default=1000
        Number of hidden units N.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing the weights and biases.

    Attributes
    ----------
    weights_ : ndarray of shape (n_units, `n_features_in_`)
        Weights W.
    biases_ : ndarray of shape (n_units,)
        Biases b.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen in `fit`, defined if all of them are strings.

    See Also
    --------
    IntRVFLLayer : Hidden layer with small integers.

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
    """Integer hidden layer of hyperdimensional computing (intRVFL).

    A feature x in [0, 1] becomes a thermometer code of N entries. The first round(x N) entries are
    -1 and the others +1 (halves round to even). The code is multiplied elementwise by the random
    key of the feature, with entries -1 and +1. The products of all features are summed and clipped
    to [-κ, κ].

    Features must be scaled to [0, 1], as `make_classifier` does. Smaller values act as 0 and larger
    values as 1. Features with missing values (NaN) are left out of the sum. `fit` uses only the
    number of features. Activations are int8, or int16 if `clip` exceeds 127.

    Parameters
    ----------
    n_units : int, default=1000
        Number of hidden units N.
    clip : int, default=3
        Maximum absolute activation κ.
    n_jobs : int or None, default=None
        Number of threads for `transform`. None uses as many threads as BLAS. The result does not
        depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing the keys.

    Attributes
    ----------
    keys_ : ndarray of shape (`n_features_in_`, n_units), of int8
        Key of each feature, with entries -1 and +1.
    clip_ : int
        Value of `clip` in `fit`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen in `fit`, defined if all of them are strings.

    See Also
    --------
    RVFLLayer : Conventional hidden layer with real weights.

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
    """Hidden layer of random threshold comparisons.

    A unit compares a few random features with random thresholds between the training values. Its
    activation depends on the number of comparisons that hold. A comparison with key +1 holds if the
    feature reaches the threshold, and one with key -1 if it does not. Features need no scaling.
    Half of the units draw thresholds from the quantiles of the training values, the others between
    their minimum and maximum. Activations are int8.

    A missing value (NaN) is below all thresholds. If the feature had no missing values in training,
    `transform` replaces it by the training median and warns.

    The last unit is always 1 and serves as an intercept.

    Parameters
    ----------
    n_units : int, default=4000
        Number of hidden units, including the constant one.
    kinds : {"conjunction", "majority", "parity"} or a tuple of them, default="conjunction"
        Kinds of units. A "conjunction" of four comparisons is 2 if all hold, 1 if three hold, else
        0. A "majority" of five is 1 if at least three hold, else -1. A "parity" of four is 1 if an
        even number holds, else -1. Several kinds share the units equally.
    n_jobs : int or None, default=None
        Number of threads for `transform`. None uses as many threads as BLAS. The result does not
        depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing features, thresholds and keys.

    Attributes
    ----------
    features_ : ndarray of shape (n_comparisons,), of int32
        Feature of each comparison, unit by unit.
    thresholds_ : ndarray of shape (n_comparisons,)
        Threshold of each comparison.
    keys_ : ndarray of shape (n_comparisons,), of int8
        +1 if the comparison holds at or above the threshold, -1 if it holds below.
    kinds_ : ndarray of shape (n_units,), of int32
        Kind of each unit: 0 conjunction, 1 majority, 2 parity, 3 constant.
    medians_ : ndarray of shape (`n_features_in_`,)
        Median of each feature in training, NaN where training had missing values.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen in `fit`, defined if all of them are strings.

    See Also
    --------
    IntRVFLLayer : Integer units that read all features.

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
        X = engine.fill_missing(self, X)
        return engine.compare(X, units, self.n_jobs)
