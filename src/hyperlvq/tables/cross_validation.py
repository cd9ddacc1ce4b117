"""Cross-validation: how good a model is on rows it has not seen."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from hyperlvq.tables.confusion import Confusion, Validation, in_order

Tick = Callable[[], None]


def possible_folds(y: np.ndarray, wanted: int) -> int:
    """Return how many folds leave two classes to learn from in every one; 0 if no number does."""
    second_largest = np.sort(np.unique(y, return_counts=True)[1])[-2]
    return min(wanted, int(second_largest)) if second_largest >= 2 else 0


def cross_validate(
    model: Pipeline, X: pd.DataFrame, y: np.ndarray, n_folds: int, seed: int, tick: Tick
) -> Validation:
    """Fit and test clones of a model on stratified folds."""
    accuracies, confusions, classes = [], [], in_order(set(y))
    for train, test in folds(y, n_folds, seed):
        fitted = clone(model).fit(X.iloc[train], y[train])
        confusion = Confusion.of(y[test], fitted.predict(X.iloc[test]), classes)
        accuracies.append(confusion.accuracy)
        confusions.append(confusion)
        tick()
    return Validation(tuple(accuracies), sum(confusions[1:], confusions[0]))


def folds(y: np.ndarray, n_folds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the rows to train on and those to test on, as even in every class as can be."""
    splits = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():  # of classes with fewer rows than folds: they get what can be
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        yield from splits.split(y, y)
