"""The default classifier: a weighted vote of networks of comparisons."""

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
    """Accurate default classifier that tunes itself.

    The classifier is a weighted vote of networks. Each network has a hidden layer of random
    threshold comparisons (see `ComparisonLayer`) and a ridge regression as readout. Leave-one-out
    predictions of the training samples select the penalty of each network, the weights of the vote
    and the temperature of the probabilities, so no samples are held out. The first network
    estimates how relevant each feature is, and the others compare relevant features more often. The
    weighted scores are added, so the fitted model is one wide network.

    Parameters
    ----------
    n_networks : int, default=4
        Number of networks in the vote. Use 1 for a small model.
    n_units : int or "auto", default="auto"
        Number of units of each network. "auto" is 4000 up to 910 distinct samples and 8000 from 911
        to 4000. Above 4000 samples it is 4000 again, to limit the training time.
    time_limit : float or None, default=None
        Training time in seconds. `fit` skips networks that would probably exceed it. The first
        network is always trained. With a limit, the model depends on the speed of the machine.
    class_weight : dict, "balanced" or None, default=None
        Class weights, multiplied with the sample weights. "balanced" gives every class the same
        total weight.
    n_jobs : int or None, default=None
        Number of threads for predictions. None uses the number of BLAS threads.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing the random units.
    verbose : int, default=0
        If positive, print the quality and the training time of each network.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    coef_ : ndarray of shape (n_classes, n_networks * n_units + 1)
        Coefficients of the units of all networks and of a constant unit.
    features_, thresholds_, keys_, kinds_ : ndarray
        Units of all networks, as in `ComparisonLayer`.
    medians_ : ndarray of shape (`n_features_in_`,)
        Weighted median of each feature in training, NaN where training had missing values.
    class_prior_ : ndarray of shape (n_classes,)
        Weighted frequency of each class in training.
    uniform_share_ : float
        Share of the probability that is spread evenly over all classes, which is
        1 / (sum of the sample weights + 2).
    relevances_ : ndarray of shape (`n_features_in_`,)
        Relevance of each feature, with a sum of 1. Permuting the values of a feature changes the
        scores of the first network. The relevance is the size of this change. With `n_networks=1`,
        a smaller auxiliary network is used.
        To measure the effect of a feature on accuracy, use
        `sklearn.inspection.permutation_importance`. Feature selectors accept
        `importance_getter="relevances_"`.
    settings_ : dict of str to list
        Table of the networks: kind, number of units, penalty, leave-one-out results, weight in the
        vote and training time.
    search_results_ : dict of str to list
        Table of all penalties tried.
    left_out_accuracy_, left_out_log_loss_ : float
        Leave-one-out accuracy and log loss on the training samples, or on 4096 of them if there are
        more samples than units. They guided the selection, so they are slightly optimistic.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen in `fit`, defined if all of them are strings.

    See Also
    --------
    make_classifier : Create one network with the layer and readout of your choice.

    Notes
    -----
    A feature may have missing values (NaN) in training. They are then below all thresholds. If a
    feature has missing values only in prediction, they are replaced by the training median, with a
    warning. A row without any value gets the class frequencies of the training set.

    Whole-number sample weights count copies: weight 2 stands for two equal rows. Leave-one-out
    omits one copy at a time. Duplicated rows therefore make leave-one-out results too good and
    probabilities too confident. Use `class_weight` instead of oversampling. Fractional weights are
    scaled to a mean of 1. Whole-number weights that are not counts, such as amounts of money, would
    be taken for copies. Divide them by their mean first.

    With an integer `random_state`, fits are identical for the same number of BLAS threads and the
    same library versions. Otherwise coefficients differ by rounding errors (up to 1e-5 on digits).

    `hyperlvq.save` does not store `settings_`, `search_results_` and the leave-one-out results.

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
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. Missing values are marked by NaN.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of `classes_`.
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
        filled = engine.fill_missing(self, X)
        scores = engine.comparison_scores(filled, units, self.coef_, self.n_jobs)
        prior = getattr(self, "class_prior_", None)  # not in files of earlier versions
        return score_empty_rows(scores, X, prior, self.uniform_share_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
