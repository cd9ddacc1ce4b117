"""How good a model is on rows it has not seen, and which settings make the best one.

Settings are compared by successive halving: many on few rows, the best of them on more.
scikit-learn's HalvingGridSearchCV draws its rows without regard to classes, so that rare ones
vanish from small draws; here every draw keeps their shares.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from math import ceil, inf, isfinite
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from hyperlvq.checks import InputError
from hyperlvq.registry import search_grid
from hyperlvq.tables.evaluation import Confusion, Validation, in_order

FEWEST_TUNING_ROWS = 500
MOST_ROWS = 20_000
#: A third of the settings goes on, on three times the rows.
FACTOR = 3
N_FOLDS = 3

#: Parameters of `make_classifier`.
Parameters = dict[str, Any]
Tick = Callable[[], None]


def possible_folds(y: np.ndarray, wanted: int) -> int:
    """Return how many folds leave two classes to learn from in every one; 0 if no number does."""
    second_largest = np.sort(np.unique(y, return_counts=True)[1])[-2]
    return min(wanted, int(second_largest)) if second_largest >= 2 else 0


def cross_validate(
    model: Pipeline, X: pd.DataFrame, y: np.ndarray, n_folds: int, seed: int, tick: Tick
) -> Validation:
    """Fit and test clones of a model on stratified folds, without their warnings."""
    accuracies, losses, pairs = [], [], Counter[tuple[str, str]]()
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings(action="ignore"):
        for train, test in folds.split(y, y):
            fitted = clone(model).fit(X.iloc[train], y[train])
            predicted = fitted.predict(X.iloc[test])
            if hasattr(fitted, "predict_proba"):
                losses.append(_log_losses(fitted, X.iloc[test], y[test]))
            pairs.update(zip(y[test].tolist(), predicted.tolist(), strict=True))
            accuracies.append(float(np.mean(predicted == y[test])))
            tick()
    log_loss = float(np.concatenate(losses).mean()) if losses else inf
    confusion = Confusion.of(pairs, in_order(set(y.tolist())))
    return Validation(tuple(accuracies), confusion, log_loss if isfinite(log_loss) else None)


def _log_losses(model: Any, X: pd.DataFrame, y: np.ndarray) -> np.ndarray:
    """Return -log p of the class of every row, infinite for a class that was not learnt."""
    own = (model.predict_proba(X) * (model.classes_ == y[:, np.newaxis])).sum(axis=1)
    with np.errstate(divide="ignore"):
        return -np.log(own)


def candidates(hidden: str, readout: str, given: Mapping[str, Any]) -> list[Parameters]:
    """Return the settings to try: a small grid of the parameters that are not given."""
    grid = search_grid(hidden, readout)
    free = {name: values for name, values in grid.items() if name not in given}
    if not free:
        raise InputError(f"--tune: {hidden} with {readout} has no parameters left to tune")
    return [dict(zip(free, values, strict=True)) for values in product(*free.values())]


def halving_rounds(n_settings: int, n_rows: int) -> list[tuple[int, int]]:
    """Return for each round how many settings it compares, and on how many rows."""
    most, last = min(n_rows, MOST_ROWS), 0
    while n_settings > FACTOR ** (last + 1) and most // FACTOR ** (last + 1) >= FEWEST_TUNING_ROWS:
        last += 1
    return [
        (ceil(n_settings / FACTOR**step), most // FACTOR ** (last - step))
        for step in range(last + 1)
    ]


def n_fits(n_settings: int, n_rows: int) -> int:
    """Return how many fits it takes to compare settings."""
    return N_FOLDS * sum(count for count, _ in halving_rounds(n_settings, n_rows))


def best_settings(
    build: Callable[..., Pipeline],
    settings: list[Parameters],
    X: pd.DataFrame,
    y: np.ndarray,
    seed: int,
    tick: Tick,
) -> dict[str, Any]:
    """Return the `best` settings by accuracy in cross-validation, and the `rounds` to find them."""
    rounds = []
    for n_settings, n_rows in halving_rounds(len(settings), len(y)):
        rows = _draw(y, n_rows, seed)
        n_folds = possible_folds(y[rows], N_FOLDS)
        if not n_folds:
            raise InputError("--tune needs at least two rows in each of two classes")
        scored = [
            (cross_validate(build(**each), X.iloc[rows], y[rows], n_folds, seed, tick).mean, each)
            for each in settings[:n_settings]
        ]
        scored.sort(key=lambda pair: (-pair[0], _size(pair[1])))  # of equals, the smallest
        settings = [each for _, each in scored]
        figures = {"n_settings": len(scored), "n_rows": len(rows)}
        rounds.append({**figures, "best": settings[0], "accuracy": scored[0][0]})
    return {"best": settings[0], "rounds": rounds}


def _size(setting: Parameters) -> int:
    return setting.get("n_units", 1) * setting.get("prototypes_per_class", 1)


def _draw(y: np.ndarray, n_rows: int, seed: int) -> np.ndarray:
    """Return the numbers of about `n_rows` rows: of every class its share, and two if it can be."""
    _, class_index, counts = np.unique(y, return_inverse=True, return_counts=True)
    shuffled = np.random.default_rng(seed).permutation(len(y))
    by_class = shuffled[np.argsort(class_index[shuffled], kind="stable")]
    rank = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    wanted = np.maximum(np.rint(counts * n_rows / len(y)), 2)
    return np.sort(by_class[rank < np.repeat(wanted, counts)])
