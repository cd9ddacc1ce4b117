"""One run of the study: a model on a split with a seed gives one flat record. No files, no state.

The protocol `paper` scales every file to [0, 1] as a whole and tests on the fixed test file where
there is one. `strict` learns the scaling on training samples only; test files, which were scaled
apart from their training files, are not used, so that every set has four splits.
"""

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from hyperlvq.models import make_classifier
from hyperlvq.study.data_set import DataSet, Rows
from hyperlvq.study.experiments import Model
from hyperlvq.study.records import RESULTS, Record

PROTOCOLS = ("paper", "strict")
OUTSIDE: dict[str, Any] = {
    "forest": RandomForestClassifier,
    "svm": SVC,
    "knn": KNeighborsClassifier,
    "ridge": RidgeClassifier,
}


class Part(NamedTuple):
    """Training and test samples of one split."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def n_splits(data_set: DataSet, protocol: str) -> int:
    """Return how many splits a data set is evaluated on."""
    return 1 if protocol == "paper" and data_set.X_test is not None else len(data_set.splits)


def evaluation_part(data_set: DataSet, split: int, protocol: str) -> Part:
    """Return the samples of a split; those of `paper` are scaled."""
    if protocol == "paper" and data_set.X_test is not None and data_set.y_test is not None:
        X_test = scale_file(data_set.X_test)
        return Part(scale_file(data_set.X), data_set.y, X_test, data_set.y_test)
    X = scale_file(data_set.X) if protocol == "paper" else data_set.X
    return part_of(X, data_set.y, data_set.splits[split])


def part_of(X: np.ndarray, y: np.ndarray, rows: Rows) -> Part:
    """Return the samples of these rows."""
    return Part(X[rows.train], y[rows.train], X[rows.test], y[rows.test])


def scale_file(X: np.ndarray) -> np.ndarray:
    """Return every column in [0, 1] by its own range; constant columns are 0."""
    spread = np.ptp(X, axis=0)
    return (X - X.min(axis=0)) / np.where(spread > 0, spread, 1)


def build(model: Model, parameters: dict[str, Any], seed: int, protocol: str) -> Pipeline:
    """Return the model with its parameters, all its random numbers drawn from a seed."""
    chosen = {**model.fixed, **parameters}
    if isinstance(model.recipe, str):
        pipeline = after_scaling(OUTSIDE[model.recipe](**chosen))
    else:
        pipeline = make_classifier(*model.recipe, **chosen)
    if model.n_voters > 1:
        voter = pipeline.set_params(scale="passthrough")
        votes = BaggingClassifier(voter, n_estimators=model.n_voters, bootstrap=False)
        pipeline = after_scaling(votes)
    seeds = [name for name in pipeline.get_params() if name.endswith("random_state")]
    pipeline.set_params(**dict.fromkeys(seeds, seed))
    return pipeline.set_params(scale="passthrough") if protocol == "paper" else pipeline


def after_scaling(classifier: BaseEstimator) -> Pipeline:
    """Return a classifier of scaled features, with the step names of our own models."""
    return Pipeline([("scale", MinMaxScaler(clip=True)), ("readout", classifier)])


def evaluate(
    model: Model,
    parameters: dict[str, Any],
    data_set: DataSet,
    split: int,
    seed: int,
    protocol: str,
) -> Record:
    """Return the record of one run."""
    part = evaluation_part(data_set, split, protocol)
    pipeline = build(model, parameters, seed, protocol)
    start = time.perf_counter()
    fit(pipeline, part)
    fitted = time.perf_counter()
    is_right = pipeline.predict(part.X_test) == part.y_test
    end = time.perf_counter()
    return success(
        describe(model, parameters, data_set, split, seed, protocol),
        part,
        accuracy=float(is_right.mean()),
        iterations=iterations(model, pipeline),
        fit_seconds=fitted - start,
        predict_seconds=end - fitted,
    )


def describe(
    model: Model,
    parameters: dict[str, Any],
    data_set: DataSet,
    split: int,
    seed: int,
    protocol: str,
) -> Record:
    """Return what a record says of a run before it has been made."""
    return {
        "protocol": protocol,
        "model": model.name,
        "dataset": data_set.name,
        "source": data_set.source,
        "n_splits": n_splits(data_set, protocol),
        "split": split,
        "seed": seed,
        **model.fixed,
        **parameters,
    }


def success(
    description: Record,
    part: Part,
    *,
    accuracy: float,
    iterations: int | None,
    fit_seconds: float,
    predict_seconds: float,
) -> Record:
    """Return the record of a run that came to its end."""
    return {
        **description,
        "n_train": len(part.X_train),
        "n_test": len(part.X_test),
        "n_features": part.X_train.shape[1],
        "n_classes": len(np.unique(part.y_train)),
        "accuracy": accuracy,
        "iterations": iterations,
        "error": None,
        "fit_seconds": round(fit_seconds, 6),
        "predict_seconds": round(predict_seconds, 6),
    }


def failure(description: Record, error: Exception) -> Record:
    """Return the record of a run that failed."""
    sentence = str(error).strip().split("\n")[0] or type(error).__name__
    return {**description, **dict.fromkeys(RESULTS), "error": sentence}


def fit(pipeline: Pipeline, part: Part) -> None:
    """Fit a model; reaching the limit of iterations, as the paper does, is no cause for alarm."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        pipeline.fit(part.X_train, part.y_train)


def iterations(model: Model, pipeline: Pipeline) -> int | None:
    """Return how many iterations training took, for readouts that iterate."""
    return None if isinstance(model.recipe, str) else getattr(pipeline[-1], "n_iter_", None)
