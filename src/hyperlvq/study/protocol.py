"""One run of the study: a model on a split with a seed gives one flat record. No files, no state.

The protocol `paper` scales every file to [0, 1] as a whole and tests on the fixed test file where
there is one. `strict` learns the scaling on training samples only; test files, which were scaled
apart from their training files, are not used, so that every set has four splits.
"""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from hyperlvq.costs import glvq_flops
from hyperlvq.models import make_classifier
from hyperlvq.registry import PARTS, readouts
from hyperlvq.scaling import RangeScaler
from hyperlvq.study.classifiers import OUTSIDE, MajorityVotes
from hyperlvq.study.data_set import DataSet, SplitRows
from hyperlvq.study.experiments import Model
from hyperlvq.study.records import N_BINS, PROBABILITY_FLOOR, TIMES, Job, Record

PROTOCOLS = ("paper", "strict")
FLOPS_PER_SECOND = 5e9
START_SECONDS = 0.005
LARGEST_SIZE = 10**6


class TrainTest(NamedTuple):
    """Training and test samples of one split."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


@dataclass(frozen=True)
class Run(Job):
    """One model on one split of a data set with one seed."""

    parameters: Mapping[str, Any]
    split: int
    seed: int
    settings_name: str

    def description(self) -> Record:
        return {
            **super().description(),
            "n_splits": n_splits(self.data_set, self.protocol),
            "split": self.split,
            "seed": self.seed,
            **self.model.fixed,
            **self.parameters,
            "settings": self.settings_name,
        }

    def seconds(self) -> float:
        return estimated_seconds(self.model, self.parameters, *self.data_set.sizes)

    def result(self) -> Record:
        samples = evaluation_samples(self.data_set, self.split, self.protocol)
        pipeline = build(self.model, self.parameters, self.seed, self.protocol)
        start = time.perf_counter()
        fit_quietly(pipeline, samples)
        fitted = time.perf_counter()
        is_right = pipeline.predict(samples.X_test) == samples.y_test
        end = time.perf_counter()
        iterates = isinstance(self.model.recipe, tuple)
        n_classes = self.data_set.sizes[2]
        return self.record_with(
            samples,
            class_probabilities(pipeline, samples.X_test, n_classes),
            accuracy=float(is_right.mean()),
            iterations=getattr(pipeline[-1], "n_iter_", None) if iterates else None,
            fit_seconds=fitted - start,
            predict_seconds=end - fitted,
        )

    def record_with(
        self, samples: TrainTest, probabilities: np.ndarray | None = None, **outcome: Any
    ) -> Record:
        """Return its record from accuracy, iterations and times, wherever these were computed."""
        return {
            **self.description(),
            "n_train": len(samples.X_train),
            "n_test": len(samples.X_test),
            "n_features": samples.X_train.shape[1],
            "n_classes": len(np.unique(samples.y_train)),
            "accuracy": outcome["accuracy"],
            **probability_results(probabilities, samples.y_test),
            "iterations": outcome["iterations"],
            "error": None,
            **{name: round(outcome[name], 6) for name in TIMES},
        }


def n_splits(data_set: DataSet, protocol: str) -> int:
    """Return how many splits a data set is evaluated on."""
    return 1 if protocol == "paper" and data_set.X_test is not None else len(data_set.splits)


def evaluation_samples(data_set: DataSet, split: int, protocol: str) -> TrainTest:
    """Return the samples of a split; those of `paper` are scaled."""
    if protocol == "paper" and data_set.X_test is not None and data_set.y_test is not None:
        X_test = scale_file(data_set.X_test)
        return TrainTest(scale_file(data_set.X), data_set.y, X_test, data_set.y_test)
    X = scale_file(data_set.X) if protocol == "paper" else data_set.X
    return samples_of(X, data_set.y, data_set.splits[split])


def samples_of(X: np.ndarray, y: np.ndarray, rows: SplitRows) -> TrainTest:
    """Return the samples of these rows."""
    return TrainTest(X[rows.train], y[rows.train], X[rows.test], y[rows.test])


def scale_file(X: np.ndarray) -> np.ndarray:
    """Return every column in [0, 1] by its own range; constant columns are 0."""
    spread = np.ptp(X, axis=0)
    return (X - X.min(axis=0)) / np.where(spread > 0, spread, 1)


def build(model: Model, parameters: Mapping[str, Any], seed: int, protocol: str) -> Pipeline:
    """Return the model with its parameters, all its random numbers drawn from a seed."""
    chosen = {**model.fixed, **parameters}
    if isinstance(model.recipe, str):
        pipeline = _after_scaling(OUTSIDE[model.recipe][0](**chosen))
    else:
        pipeline = make_classifier(*model.recipe, **chosen)
    if model.n_voters > 1:
        voter = pipeline.set_params(scale="passthrough")
        votes = MajorityVotes(voter, n_estimators=model.n_voters, bootstrap=False)
        pipeline = _after_scaling(votes)
    seeds = [name for name in pipeline.get_params() if name.endswith("random_state")]
    pipeline.set_params(**dict.fromkeys(seeds, seed))
    return pipeline.set_params(scale="passthrough") if protocol == "paper" else pipeline


def _after_scaling(classifier: BaseEstimator) -> Pipeline:
    """Return a classifier of scaled features, with the step names of our own models."""
    return Pipeline([("scale", RangeScaler(clip=True)), ("readout", classifier)])


def fit_quietly(pipeline: Pipeline, samples: TrainTest) -> None:
    """Fit a model; reaching the limit of iterations, as the paper does, is no cause for alarm."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        pipeline.fit(samples.X_train, samples.y_train)


def class_probabilities(
    classifier: ClassifierMixin, X: np.ndarray, n_classes: int
) -> np.ndarray | None:
    """Return the probabilities of the classes 0 to n_classes - 1, None where a model has none.

    A class that training did not see has probability 0.
    """
    if not hasattr(classifier, "predict_proba"):
        return None
    probabilities = np.zeros((len(X), n_classes))
    probabilities[:, classifier.classes_] = classifier.predict_proba(X)
    return probabilities


def probability_results(probabilities: np.ndarray | None, y: np.ndarray) -> Record:
    """Return what a record says about probabilities, None where there are none.

    Log loss is the mean of -ln p over samples, p the probability of the true class or the floor.
    """
    if probabilities is None:
        return {"log_loss": None, "confidence_bins": None}
    of_true_class = probabilities[np.arange(len(y)), y]
    log_loss = -np.log(np.maximum(of_true_class, PROBABILITY_FLOOR)).mean()
    confidence = probabilities.max(axis=1)
    bins = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    is_right = probabilities.argmax(axis=1) == y
    counts, confidences, right = (
        np.bincount(bins, weights, minlength=N_BINS) for weights in (None, confidence, is_right)
    )
    confidence_bins = [
        [int(count), round(float(total), 6), int(n_right)]
        for count, total, n_right in zip(counts, confidences, right, strict=True)
    ]
    return {"log_loss": round(float(log_loss), 6), "confidence_bins": confidence_bins}


def estimated_seconds(
    model: Model, parameters: Mapping[str, Any], n_samples: int, n_features: int, n_classes: int
) -> float:
    """Return about how many seconds one training takes."""
    chosen = {**model.fixed, **parameters}
    if isinstance(model.recipe, tuple):
        record = PARTS[readouts()[model.recipe[1]]]
        sizes = n_samples, _bounded(chosen.get("n_units", n_features)), n_classes
        n_prototypes = _bounded(chosen.get("prototypes_per_class", 1))
        n_iter = min(record.usual_iterations, chosen.get("max_iter", 2500))
        flops = (record.training_flops or glvq_flops)(*sizes, n_prototypes, n_iter)
    else:
        _, flops_of = OUTSIDE[model.recipe]
        flops = flops_of(n_samples, n_features, n_classes)
    return START_SECONDS + model.n_voters * flops / FLOPS_PER_SECOND


def _bounded(size: float) -> int:
    """Return a size of a settings file that the formulas can take, be it ever so absurd."""
    return int(min(max(size, 1), LARGEST_SIZE))
