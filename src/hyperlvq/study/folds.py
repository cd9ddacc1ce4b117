"""Parts of a data set in which every class has its share."""

from collections.abc import Iterator

import numpy as np

from hyperlvq.study.data_set import SplitRows

N_FOLDS = 3


def stratified_folds(
    rows: np.ndarray, y: np.ndarray, n_folds: int = N_FOLDS
) -> Iterator[SplitRows]:
    """Yield rows to train and to score on, every class dealt out to the folds in turn.

    Unlike scikit-learn's, it takes classes of fewer samples than folds as they are.
    """
    fold_of = np.empty(len(y), dtype=int)
    fold_of[_shuffled_by_class(y)] = np.arange(len(y)) % n_folds
    for fold in range(n_folds):
        yield SplitRows(rows[fold_of != fold], rows[fold_of == fold])


def stratified_part(rows: np.ndarray, y: np.ndarray, n_rows: int) -> np.ndarray:
    """Return at most so many of the rows, in their order, of each class its share."""
    places = np.linspace(0, len(rows) - 1, min(n_rows, len(rows))).astype(int)
    return rows[np.sort(_shuffled_by_class(y)[places])]


def _shuffled_by_class(y: np.ndarray) -> np.ndarray:
    """Return the places of the labels, class by class, in random order within a class."""
    return np.lexsort((np.random.default_rng(0).permutation(len(y)), y))
