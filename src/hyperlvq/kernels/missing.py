"""Missing values of features that had none in training: their medians take their place."""

from typing import Any

import numpy as np


def weighted_medians(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute the weighted median of each column, NaN where values are missing.

    Half of the weight lies on either side of a median. Where this holds between two values, it is
    their mean. A weight of 2 is the same as two rows.
    """
    medians = np.full(X.shape[1], np.nan)
    for i, column in enumerate(X.T):
        if not np.isnan(column).any():
            order = np.argsort(column, kind="stable")
            totals = np.cumsum(weights[order])
            middle = np.searchsorted(totals, totals[-1] / 2)
            values = column[order[middle : middle + 2]].astype(np.float64)
            is_between = totals[middle] == totals[-1] / 2
            medians[i] = values[0] / 2 + values[-1] / 2 if is_between else values[0]
    return medians


def fill_missing(X: Any, medians: Any, xp: Any = np) -> tuple[Any, Any]:
    """Replace missing values by medians, where these are known.

    `medians` may be None, as in models of earlier versions. Returns X, and the mask of replaced
    values or None if there are none. `xp` is numpy or torch.
    """
    is_missing = None if medians is None else xp.isnan(X)
    if is_missing is None or not is_missing.any():
        return X, None
    is_filled = is_missing & ~xp.isnan(medians)
    return (xp.where(is_filled, medians, X), is_filled) if is_filled.any() else (X, None)


def score_empty_rows(
    scores: np.ndarray, is_filled: Any, class_prior: Any, uniform_share: float
) -> np.ndarray:
    """Write the scores of the class frequencies into rows of which every value was filled."""
    if is_filled is not None and class_prior is not None:
        scores[is_filled.all(axis=1)] = prior_scores(class_prior, uniform_share)
    return scores


def prior_scores(class_prior: np.ndarray, uniform_share: float) -> np.ndarray:
    """Invert `softmax_probabilities` for the class frequencies."""
    shares = (class_prior - uniform_share / len(class_prior)) / (1 - uniform_share)
    return np.log(np.maximum(shares, np.finfo(np.float64).tiny))
