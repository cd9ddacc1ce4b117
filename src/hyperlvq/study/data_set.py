"""A data set with its splits, as every collection gives it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

COLLECTION = "collection"


class Rows(NamedTuple):
    """Row numbers, from 0, of the samples to train on and of those to test on."""

    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class DataSet:
    """A data set and how to split it.

    Parameters
    ----------
    name : str
        What its collection calls it.
    X : ndarray of shape (n_samples, n_features)
        The features as the file has them; where there is a test file, those of the training file.
    y : ndarray of shape (n_samples,)
        Class numbers, from 0.
    tuning : Rows
        The split in halves that settings are tuned on.
    splits : tuple of Rows
        The four splits, three quarters to a quarter; their test parts overlap.
    X_test, y_test : ndarray or None
        The fixed test file, for the sets that have one.
    source : {"collection", "built-in"}
        Where it comes from; sets of one name differ between the two.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    tuning: Rows
    splits: tuple[Rows, ...]
    X_test: np.ndarray | None = None
    y_test: np.ndarray | None = None
    source: str = COLLECTION
