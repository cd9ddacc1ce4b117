"""Data frames as arrays of features."""

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hyperlvq.kernels.features import choose_levels, columns_to_features, level_lookups
from hyperlvq.learnt import check_usable
from hyperlvq.registry import PARTS, check_parameters

RARE = "(rare)"
MISSING = "(missing)"


class FrameVectorizer(TransformerMixin, BaseEstimator):
    """Turn columns of numbers and text into one array of features.

    Numbers are kept, their missing values too, unless they are to be filled by the column's
    median. Text becomes one feature per level, with a level for missing values and one for all rare
    levels; a level not seen in `fit` is none.

    Parameters
    ----------
    numbers, text : sequence of str, default=()
        The columns of numbers, and those of text.
    fill : bool, default=False
        Whether the median takes the place of a missing number.
    min_rows : int, default=1
        Levels of fewer rows are rare.
    max_levels : int, default=100
        The most features of one column of text.

    Attributes
    ----------
    level_names_ : ndarray of shape (n_levels,), of str
        The levels of all columns of text, column after column.
    level_columns_ : ndarray of shape (n_levels,)
        The column of each level, as an index into `text`.
    level_features_ : ndarray of shape (n_levels,)
        The feature of each level.
    missing_features_ : ndarray of shape (n_text,)
        The feature of each column's missing text, -1 where none was missing.
    medians_ : ndarray of shape (n_numbers,)
        The medians of the numbers; 0 for a column without any.
    n_features_in_ : int
        Number of columns.
    n_features_out_ : int
        Number of features.

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
        """Learn the levels and medians.

        Parameters
        ----------
        X : data frame
            Anything that gives a column by its name.
        y : ignored

        Returns
        -------
        self : FrameVectorizer
        """
        check_parameters(self._record, vars(self))
        if not (self.numbers or self.text):
            raise ValueError("FrameVectorizer needs at least one column")
        names, columns, features, missing = [], [], [], []
        n_features = len(self.numbers)
        for position, column in enumerate(self._text(X)):
            levels, own, of_missing = choose_levels(column, self.min_rows, self.max_levels)
            names += levels
            columns += [position] * len(levels)
            features += [n_features + feature for feature in own]
            missing.append(of_missing if of_missing < 0 else n_features + of_missing)
            n_features += int(max([-1, *own, of_missing])) + 1
        self.level_names_ = np.array(names, dtype=object)
        self.level_columns_, self.level_features_, self.missing_features_ = (
            np.array(each, dtype=np.int64) for each in (columns, features, missing)
        )
        self.medians_ = np.array([_median(column) for column in self._numbers(X)])
        self.n_features_in_ = len(self.numbers) + len(self.text)
        self.n_features_out_ = n_features
        return self

    def transform(self, X) -> np.ndarray:
        """Return the features.

        Parameters
        ----------
        X : data frame
            With the columns of `fit`, in any order.

        Returns
        -------
        features : ndarray of shape (n_rows, n_features_out_)
        """
        check_is_fitted(self)
        check_usable(self._record, vars(self), vars(self))
        lookups = level_lookups(
            self.level_names_, self.level_columns_, self.level_features_, self.missing_features_
        )
        medians = self.medians_ if self.fill else None
        return columns_to_features(
            self._numbers(X), self._text(X), lookups, self.n_features_out_, medians
        )

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the features: of numbers the column's, of text the level's, too.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : ndarray of shape (n_features_out_,), of str
        """
        check_is_fitted(self)
        names = [*self.numbers, *[""] * (self.n_features_out_ - len(self.numbers))]
        for level, column, feature in self._levels():
            names[feature] = f"{self.text[column]}_{RARE if names[feature] else level}"
        return np.array(names, dtype=object)

    def _levels(self):
        """Yield each level, its column and its feature; missing values are levels, too."""
        yield from zip(self.level_names_, self.level_columns_, self.level_features_, strict=True)
        for column, feature in enumerate(self.missing_features_):
            if feature >= 0:
                yield MISSING, column, feature

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


def _median(column) -> float:
    present = column[~np.isnan(column)]
    return float(np.median(present)) if len(present) else 0.0
