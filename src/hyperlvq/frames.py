"""Data frames as arrays of features."""

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from hyperlvq.kernels.features import columns_to_features, feature_names, level_lookups
from hyperlvq.learnt import check_usable
from hyperlvq.registry import PARTS, check_parameters


class FrameVectorizer(TransformerMixin, BaseEstimator):
    """Turn columns of numbers and text into one array of features.

    Numbers are kept, their missing values too, unless `fill` puts the column's median in their
    place. Text becomes one feature per level, at most `max_levels` per column, with a level for
    missing values and one for all levels of fewer than `min_rows` rows; a level not seen in `fit`
    sets no feature.

    Attributes
    ----------
    level_names_, level_columns_, level_features_ : ndarray of shape (n_levels,)
        The levels of all columns of text, the column of each (an index into `text`), its feature.
    missing_features_ : ndarray of shape (n_text,)
        The feature of each column's missing text, -1 where none was missing.
    medians_ : ndarray of shape (n_numbers,)
        The medians of the numbers; 0 for a column without any.
    n_features_in_, n_features_out_ : int
        Number of columns, and of features.

    Examples
    --------
    >>> import pandas as pd
    >>> from hyperlvq.frames import FrameVectorizer
    >>> frame = pd.DataFrame({"mass": [3.5, 4.0], "island": ["Biscoe", "Dream"]})
    >>> vectorizer = FrameVectorizer(numbers=["mass"], text=["island"]).fit(frame)
    >>> vectorizer.transform(frame)
    array([[3.5, 1. , 0. ],
           [4. , 0. , 1. ]])
    >>> vectorizer.get_feature_names_out().tolist()
    ['mass', 'island_Biscoe', 'island_Dream']
    """

    _record = PARTS["FrameVectorizer"]

    def __init__(self, numbers=(), text=(), *, fill=False, min_rows=1, max_levels=100):
        self.numbers = numbers
        self.text = text
        self.fill = fill
        self.min_rows = min_rows
        self.max_levels = max_levels

    def fit(self, X, y=None) -> Self:
        """Learn the levels and medians of a data frame, or what else gives columns by name."""
        check_parameters(self._record, vars(self))
        if not (self.numbers or self.text):
            raise ValueError("FrameVectorizer needs at least one column")
        names: list[str | None] = []
        columns, features, missing = [], [], []
        n_features = len(self.numbers)
        for position, column in enumerate(self._text(X)):
            levels = _choose_levels(column, self.min_rows, self.max_levels)
            n_own = 1 + max(levels.values())
            missing.append(n_features + levels.pop(None) if None in levels else -1)
            names += levels
            columns += [position] * len(levels)
            features += [n_features + feature for feature in levels.values()]
            n_features += n_own
        self.level_names_ = np.array(names, dtype=object)
        self.level_columns_, self.level_features_, self.missing_features_ = (
            np.array(each, dtype=np.int64) for each in (columns, features, missing)
        )
        self.medians_ = np.array([_median(column) for column in self._numbers(X)])
        self.n_features_in_ = len(self.numbers) + len(self.text)
        self.n_features_out_ = n_features
        return self

    def transform(self, X) -> np.ndarray:
        """Return the features (rows × features) of a frame with the columns of `fit`."""
        check_is_fitted(self)
        check_usable(self._record, vars(self), vars(self))
        medians = self.medians_ if self.fill else None
        lookups = level_lookups(vars(self))
        return columns_to_features(
            self._numbers(X), self._text(X), lookups, self.n_features_out_, medians
        )

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the features: of numbers the column's, of text the level's, too."""
        check_is_fitted(self)
        return np.array(feature_names(vars(self), vars(self)), dtype=object)

    def _numbers(self, X):
        return [np.asarray(X[name], dtype=np.float64) for name in self.numbers]

    def _text(self, X):
        return [[_text_or_none(cell, name) for cell in X[name]] for name in self.text]


def _text_or_none(cell, name) -> str | None:
    """Return a cell of text; None, NaN and pandas' NA are missing."""
    if hasattr(cell, "as_py"):  # of an arrow table
        cell = cell.as_py()
    if isinstance(cell, str):
        return cell
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell != cell:
        return None
    raise TypeError(f"column {name!r} must be text, got {cell!r}")


def _choose_levels(column, min_rows, max_levels) -> dict[str | None, int]:
    """Return the feature of each level, from 0, as scikit-learn chooses them; None is missing."""
    encoder = OneHotEncoder(min_frequency=min_rows, max_categories=max_levels)
    levels = encoder.fit(np.array(column, dtype=object)[:, np.newaxis]).categories_[0]
    features = encoder.transform(levels[:, np.newaxis]).indices
    return dict(zip(levels.tolist(), features.tolist(), strict=True))


def _median(column) -> float:
    present = column[~np.isnan(column)]
    return float(np.median(present)) if len(present) else 0.0
