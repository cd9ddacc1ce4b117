"""scikit-learn's own data sets, split as the public collection splits its."""

from functools import cache

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedShuffleSplit

from hyperlvq.checks import InputError
from hyperlvq.study.data_set import DataSet, Rows

_LOADERS = {
    "iris": load_iris,
    "wine": load_wine,
    "breast-cancer": load_breast_cancer,
    "digits": load_digits,
}
_SEED = 0  # the splits are part of the data: every run sees the same ones


class BuiltinCollection:
    """Four data sets that need no download.

    Examples
    --------
    >>> from hyperlvq.study.builtin import BuiltinCollection
    >>> BuiltinCollection().load("iris").X.shape
    (150, 4)
    """

    def names(self) -> list[str]:
        """Return the names of the data sets."""
        return list(_LOADERS)

    def load(self, name: str) -> DataSet:
        """Return a data set with its splits."""
        if name not in _LOADERS:
            raise InputError(f"no built-in data set is called {name!r}: {', '.join(_LOADERS)} are")
        return _load(name)


@cache
def _load(name: str) -> DataSet:
    X, y = _LOADERS[name](return_X_y=True)
    (tuning,) = _splits(X, y, 1, test_size=0.5)
    splits = _splits(X, y, 4, test_size=0.25)
    return DataSet(name, X.astype(np.float64), y.astype(np.intp), tuning, splits, source="built-in")


def _splits(X, y, n_splits: int, test_size: float) -> tuple[Rows, ...]:
    shuffle = StratifiedShuffleSplit(n_splits, test_size=test_size, random_state=_SEED)
    return tuple(Rows(train, test) for train, test in shuffle.split(X, y))
