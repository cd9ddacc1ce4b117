"""Data frames as arrays of features."""

from numbers import Integral, Real
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from hyperlvq.kernels.features import columns_to_features, feature_names, level_lookups
from hyperlvq.learnt import check_usable
from hyperlvq.registry import PARTS, check_parameters
from hyperlvq.version import DocumentedMixin


class FrameVectorizer(TransformerMixin, DocumentedMixin, BaseEstimator):
    """Turn the columns of a data frame into one array of features.

    Frames are those of pandas, polars and pyarrow, or what else gives columns by name. Numbers are
    kept, their missing values too, unless `fill` puts the column's median in their place. Text,
    truth values and categories become one feature per level, with a level for missing values and
    one for all rare levels; a level not seen in `fit` sets no feature.

    Parameters
    ----------
    numbers, text : list of str, optional
        The columns of numbers and of text; all columns of a frame by their types if neither is
        given.
    fill : bool, default=False
        Whether the median takes the place of a missing number.
    min_rows : int, default=1
        A level of fewer rows is a rare one.
    max_levels : int, default=100
        The most features of a column of text.

    Attributes
    ----------
    columns_ : dict of str to list of str
        The columns of numbers and of text, under these names, where their types decided.
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
    >>> from sklearn.pipeline import make_pipeline
    >>> from hyperlvq import FrameVectorizer, HyperLVQClassifier
    >>> frame = pd.DataFrame({"mass": [3.5, 4.0], "island": ["Biscoe", "Dream"]})
    >>> vectorizer = FrameVectorizer().fit(frame)
    >>> vectorizer.transform(frame)
    array([[3.5, 1. , 0. ],
           [4. , 0. , 1. ]])
    >>> vectorizer.get_feature_names_out().tolist()
    ['mass', 'island_Biscoe', 'island_Dream']
    >>> model = make_pipeline(vectorizer, HyperLVQClassifier(random_state=0))
    >>> model.fit(frame, ["Adelie", "Gentoo"]).predict(frame).tolist()
    ['Adelie', 'Gentoo']
    """

    _record = PARTS["FrameVectorizer"]

    def __init__(self, numbers=None, text=None, *, fill=False, min_rows=1, max_levels=100):
        self.numbers = numbers
        self.text = text
        self.fill = fill
        self.min_rows = min_rows
        self.max_levels = max_levels

    def fit(self, X, y=None) -> Self:
        """Learn the levels and medians of a data frame, or what else gives columns by name."""
        if self.numbers is None and self.text is None:
            self.columns_ = _columns_by_type(X)
        check_parameters(self._record, vars(self) | self._columns)
        if not any(self._columns.values()):
            raise ValueError("FrameVectorizer needs at least one column")
        names: list[str | None] = []
        columns, features, missing = [], [], []
        n_features = len(self._columns["numbers"])
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
        self.n_features_in_ = sum(map(len, self._columns.values()))
        self.n_features_out_ = n_features
        return self

    def transform(self, X) -> np.ndarray:
        """Return the features (rows × features) of a frame with the columns of `fit`."""
        check_is_fitted(self)
        check_usable(self._record, vars(self), self._columns)
        medians = self.medians_ if self.fill else None
        lookups = level_lookups(vars(self))
        return columns_to_features(
            self._numbers(X), self._text(X), lookups, self.n_features_out_, medians
        )

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the features: of numbers the column's, of text the level's, too."""
        check_is_fitted(self)
        return np.array(feature_names(self._columns, vars(self)), dtype=object)

    @property
    def _columns(self) -> dict:
        """The columns as they are given now, of a loaded model too, or else as `fit` found them."""
        given = {"numbers": self.numbers, "text": self.text}
        if given == {"numbers": None, "text": None}:
            return self.columns_
        return {kind: () if names is None else names for kind, names in given.items()}

    def _numbers(self, X):
        return [_as_floats(X[name]) for name in self._columns["numbers"]]

    def _text(self, X):
        return [_as_text(X[name], name) for name in self._columns["text"]]


def _columns_by_type(X) -> dict[str, list]:
    """Return the names of a frame's columns of numbers, and of those of text."""
    found: dict[str, list] = {"numbers": [], "text": []}
    for name in X.column_names if hasattr(X, "column_names") else X.columns:
        kind = _kind_of(X[name])
        if kind is None:
            stored = getattr(X[name], "dtype", None) or getattr(X[name], "type", None)
            raise TypeError(
                f"column {name!r} is of type {stored}, not numbers or text: leave it out, "
                "or name the columns to use in numbers and text"
            )
        found[kind].append(name)
    return found


def _kind_of(column) -> str | None:
    """Return whether a column is of numbers or of text, None for what is neither."""
    if _is_categorical(column):
        return "text"
    if np.asarray(column).dtype.kind in "iuf":
        return "numbers"
    cells = [cell for cell in map(_or_none, column) if cell is not None]
    if all(isinstance(cell, str | bool | np.bool_) for cell in cells):
        return "text"
    return "numbers" if all(isinstance(cell, Real) for cell in cells) else None


def _is_categorical(column) -> bool:
    stored = str(getattr(column, "dtype", None) or getattr(column, "type", "")).lower()
    return stored.startswith(("categor", "enum", "dictionary"))


def _as_floats(column) -> np.ndarray:
    """Return a column of numbers, NaN where they are missing."""
    values = np.asarray(column)
    if values.dtype.kind == "O":  # such as of pandas' own integers, with NA among them
        values = np.array([np.nan if _or_none(cell) is None else cell for cell in values])
    return values.astype(np.float64)


def _as_text(column, name) -> list[str | None]:
    """Return the cells of a column as text, None where they are missing."""
    texts = (str, bool, np.bool_, *((Integral,) if _is_categorical(column) else ()))
    cells = [_or_none(cell) for cell in column]
    for cell in cells:
        if cell is not None and not isinstance(cell, texts):
            raise TypeError(f"column {name!r} must be text, got {cell!r}")
    return [None if cell is None else str(cell) for cell in cells]


def _or_none(cell):
    """Return a cell's value; None for None, NaN and pandas' NA, which are missing."""
    if hasattr(cell, "as_py"):  # of an arrow table
        cell = cell.as_py()
    is_missing = cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell != cell
    return None if is_missing else cell


def _choose_levels(column, min_rows, max_levels) -> dict[str | None, int]:
    """Return the feature of each level, from 0, as scikit-learn chooses them; None is missing."""
    encoder = OneHotEncoder(min_frequency=min_rows, max_categories=max_levels)
    levels = encoder.fit(np.array(column, dtype=object)[:, np.newaxis]).categories_[0]
    features = encoder.transform(levels[:, np.newaxis]).indices
    return dict(zip(levels.tolist(), features.tolist(), strict=True))


def _median(column) -> float:
    present = column[~np.isnan(column)]
    return float(np.median(present)) if len(present) else 0.0
