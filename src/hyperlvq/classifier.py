"""The classifier with nothing to tune: a few networks of comparisons that vote."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from hyperlvq.kernels.leave_one_out import WeightedSamples
from hyperlvq.kernels.missing import score_empty_rows, weighted_medians
from hyperlvq.kernels.samples import are_counts, canonical_samples, have_twins
from hyperlvq.kernels.scores import softmax_probabilities
from hyperlvq.kernels.units import CONSTANT_UNIT, Units
from hyperlvq.learnt import FLOATS
from hyperlvq.networks import (
    Trainer,
    left_out_outcome,
    search_table,
    settings_table,
    vote_weights,
)
from hyperlvq.readouts.base import Readout
from hyperlvq.registry import PARTS


class HyperLVQClassifier(Readout):
    """Classify by a vote of a few integer networks; there is nothing to tune.

    Each network has units that compare a few features with thresholds of their own (see
    `ComparisonLayer`), of another kind than its neighbours, and a readout of least squares. What
    would have to be tuned is chosen by the scores that samples get without themselves in training
    (leave-one-out): the penalty of each network, which features units read most, the weight of each
    network in the vote, and how sure it may be. So probabilities are calibrated, and no samples
    are kept apart. The trained networks are one wide network: scores are sums.

    Missing values (NaN) of a feature that had some in training lie below all its thresholds. Where
    training had none, predictions use the feature's median and warn. A row without any value gets
    the class frequencies of training.

    A row given without a weight weighs 1, and whole weights are counts: weight 2 is two copies. One
    copy is left out at a time, so copies made by hand, as by oversampling, make left-out figures
    too good and networks too sure. Use `class_weight`. Other weights count relative to each other.

    With an int as `random_state`, `fit` gives identical arrays for equal BLAS thread counts and
    library versions. Other thread counts change coefficients by rounding errors (up to 1e-5 on
    digits), and labels are equal. Model files (`hyperlvq.save`) do not hold `settings_`,
    `search_results_` and the left-out figures.

    Parameters
    ----------
    n_networks : int, default=4
        Number of networks that vote; 1 for a small model.
    n_units : int or "auto", default="auto"
        Number of units of each network. "auto" is 8000 for 911 to 4000 distinct samples, else 4000.
    time_limit : float or None, default=None
        Seconds for training: no network is begun that would probably end later, but for the first.
        The model then depends on how busy the machine is.
    class_weight : dict, "balanced" or None, default=None
        How much each class counts; "balanced" for all the same.
    n_jobs : int or None, default=None
        Number of threads that share the samples of a prediction; None for as many as BLAS has.
    random_state : int, RandomState instance or None, default=None
        Where the units come from.
    verbose : int, default=0
        Whether to print a line about each network: what it is worth, and how long training has
        taken and will take.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray of shape (n_classes, n_networks * n_units + 1)
        The readout of the units of all networks, and of one more that is always 1.
    features_, thresholds_, keys_, kinds_ : ndarray
        The units of all networks, as those of `ComparisonLayer`.
    medians_ : ndarray of shape (`n_features_in_`,)
        Weighted median of each feature in training, NaN where training had missing values.
    class_prior_ : ndarray of shape (n_classes,)
        Weighted frequency of each class in training.
    uniform_share_ : float
        The share of probabilities that all classes get, whatever the scores.
    relevances_ : ndarray of shape (`n_features_in_`,)
        How much the scores of the first network (of a smaller one for `n_networks=1`) change when
        a feature's values are permuted, among at most 1000 training samples, as a share of all
        features. It tells what the model looks at; how much accuracy depends on a feature is what
        `sklearn.inspection.permutation_importance` tells, of any model. Selectors take it as
        `importance_getter="relevances_"`.
    settings_ : dict of str to list
        A table of the networks: kind, number of units, penalty, what came of it, weight in the
        vote, and seconds.
    search_results_ : dict of str to list
        A table of all penalties that were tried.
    left_out_accuracy_, left_out_log_loss_ : float
        How good the vote is at samples that are left out of training in turn (of many, 4096 of
        them), each weighted as in training. The settings were chosen by these samples, so expect a
        little less of new ones.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where X had names that are all strings.

    See Also
    --------
    make_classifier : One network of the kind and with the settings you choose.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import HyperLVQClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HyperLVQClassifier(random_state=0).fit(X, y)
    >>> model.predict(X[:1])
    array([0])
    """

    _record = PARTS["HyperLVQClassifier"]
    _dtypes = FLOATS
    _validation: ClassVar = {"ensure_all_finite": "allow-nan"}
    #: What `fit` tells how many networks are trained, and of how many.
    _on_network: Callable[[int, int], None] | None = None
    uniform_share_: float
    relevances_: np.ndarray
    left_out_accuracy_: float
    left_out_log_loss_: float
    settings_: dict[str, list[Any]]
    search_results_: dict[str, list[Any]]
    features_: np.ndarray
    thresholds_: np.ndarray
    keys_: np.ndarray
    kinds_: np.ndarray
    coef_: np.ndarray
    medians_: np.ndarray
    class_prior_: np.ndarray

    def __init__(
        self,
        n_networks: int = 4,
        *,
        n_units: int | str = "auto",
        time_limit: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_networks = n_networks
        self.n_units = n_units
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features; NaN marks a missing value.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        return softmax_probabilities(self.decision_function(X), self.uniform_share_)

    def _fit_samples(self, engine, samples, classes):
        rng = check_random_state(self.random_state)
        samples = self._prepared(samples, classes)
        trainer = Trainer(samples, self.n_units, rng, self.verbose)
        networks = trainer.train(self.n_networks, self.time_limit, self._on_network)
        weights = vote_weights(networks, trainer.checked)
        self._join(networks, weights)
        self.medians_ = weighted_medians(samples.X, samples.weights)
        totals = np.bincount(samples.y, samples.weights, samples.n_classes)
        self.class_prior_ = totals / totals.sum()
        self.uniform_share_ = 1 / (samples.weights.sum() + 2)
        self.relevances_ = trainer.relevances
        self.left_out_accuracy_, self.left_out_log_loss_ = left_out_outcome(
            networks, weights, trainer.checked, self.uniform_share_
        )
        self.settings_ = settings_table(networks, weights)
        self.search_results_ = search_table(networks)
        self.classes_ = classes

    def _prepared(self, samples, classes):
        """Merge equal samples, and decide which part of each weight is left out at once.

        One copy of a row is left out at a time. Whole weights are numbers of copies. Other weights
        are scaled to a mean of 1. If the same features occur with several classes, at most a weight
        of 1 is left out. Otherwise all of these rows would seem to be wrong.
        """
        X, y, weights = samples
        X = np.where(np.isnan(X), np.nan, X + 0.0)  # one NaN, and no -0.0
        is_repetition = are_counts(weights)
        total = weights.sum() if is_repetition else float(len(y))
        rows, weights = (X, y), weights * (total / weights.sum())
        X, y, weights = canonical_samples(*rows, weights)
        n_copies = weights if is_repetition else canonical_samples(*rows, np.ones(len(rows[1])))[2]
        portions = weights / n_copies
        portions = np.where(have_twins(X), np.minimum(portions, 1), portions)
        factors = super()._class_weighted(weights, y, classes) / weights
        factors *= total / (weights @ factors)
        return WeightedSamples(X, y, weights * factors, portions * factors, len(classes))

    def _class_weighted(self, weights, class_index, classes):
        return weights  # `_prepared` has them, once equal samples are one

    def _join(self, networks, weights):
        """Make one wide network, whose scores are the weighted sum of those of all networks."""
        units = [network.units for network in networks]
        self.features_, self.thresholds_, self.keys_, self.kinds_ = Units.joined(
            [*units, CONSTANT_UNIT]
        )
        factors = weights * [network.chosen.temperature for network in networks]
        pairs = list(zip(factors, networks, strict=True))
        intercepts = sum(factor * network.intercepts for factor, network in pairs)
        coefficients = [factor * network.coefficients for factor, network in pairs]
        self.coef_ = np.column_stack([*coefficients, intercepts])

    def _scores(self, engine, X):
        units = Units(self.features_, self.thresholds_, self.keys_, self.kinds_)
        X, is_filled = engine.fill_missing(self, X)
        scores = engine.comparison_scores(X, units, self.coef_, self.n_jobs)
        prior = getattr(self, "class_prior_", None)  # not in files of earlier versions
        return score_empty_rows(scores, is_filled, prior, self.uniform_share_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
