"""Replacement of missing values by training medians."""

from functools import partial
from typing import Any

import numpy as np


def weighted_medians(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute the weighted median of each column, NaN where values are missing.

    Half of the weight lies on either side of a median. If this holds between two values, the
    median is their mean. A weight of 2 is equivalent to two rows.
    """
    median_of = _median if (weights == 1).all() else partial(_weighted_median, weights=weights)
    medians = np.full(X.shape[1], np.nan)
    for i, column in enumerate(X.T):
        if not np.isnan(column).any():
            below, above = median_of(column)
            medians[i] = np.float64(below) / 2 + np.float64(above) / 2
    return medians


def _median(column):
    """Find the two middle values, which are the same for an odd number of values."""
    places = (len(column) - 1) // 2, len(column) // 2
    return np.partition(column, places)[[*places]]


def _weighted_median(column, weights):
    """Find the two values with half of the weight on either side."""
    order = np.argsort(column, kind="stable")
    totals = np.cumsum(weights[order])
    middle = np.searchsorted(totals, totals[-1] / 2)
    is_between = totals[middle] == totals[-1] / 2
    return column[order[middle]], column[order[middle + is_between]]


def fill_missing(X: Any, medians: Any, xp: Any = np) -> tuple[Any, Any]:
    """Replace missing values by medians if these are known.

    `medians` may be None, as in models of earlier versions. Returns X, and the mask of replaced
    values or None if there are none. `xp` is numpy or torch.
    """
    is_missing = None if medians is None else xp.isnan(X)
    if is_missing is None or not is_missing.any():
        return X, None
    is_filled = is_missing & ~xp.isnan(medians)
    return (xp.where(is_filled, medians, X), is_filled) if is_filled.any() else (X, None)


def empty_rows(X: np.ndarray) -> np.ndarray:
    """Find the rows without any value."""
    rows = np.flatnonzero(np.isnan(X[:, 0]))  # most rows are decided by the first feature
    return rows[np.isnan(X[rows]).all(axis=1)]


def score_empty_rows(
    scores: np.ndarray, X: np.ndarray, class_prior: Any, uniform_share: float
) -> np.ndarray:
    """Give rows without any value the scores of the class frequencies.

    `class_prior` is None in models of earlier versions.
    """
    if class_prior is not None:
        scores[empty_rows(X)] = prior_scores(class_prior, uniform_share)
    return scores


def prior_scores(class_prior: np.ndarray, uniform_share: float) -> np.ndarray:
    """Invert `softmax_probabilities` for the class frequencies."""
    shares = (class_prior - uniform_share / len(class_prior)) / (1 - uniform_share)
    return np.log(np.maximum(shares, np.finfo(np.float64).tiny))
