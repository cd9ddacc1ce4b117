"""Vectorizer of data frames."""

import re
from datetime import date, datetime, time
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from hyperlvq.fitting import fitting
from hyperlvq.inputs import warn_of_columns_losing_integers
from hyperlvq.kernels import features
from hyperlvq.learnt import check_usable
from hyperlvq.registry import PARTS
from hyperlvq.version import DocumentedMixin


class FrameVectorizer(TransformerMixin, DocumentedMixin, BaseEstimator):
    """Convert the columns of a data frame to features.

    Data frames of pandas, polars and pyarrow are supported. Numeric columns are kept, including
    missing values unless `fill=True`. Text, Boolean and categorical columns are one-hot encoded,
    with one level for missing values and one for all rare levels. Levels not seen in `fit` are
    encoded as zeros. Dates and times become year, month, weekday and hour in local time, as far as
    these vary in `fit`.

    Parameters
    ----------
    numbers, text, dates : list of str, optional
        Names of the numeric, text and date columns. By default all columns are used, according to
        their types.
    fill : bool, default=False
        Whether to replace missing numbers and dates by the median.
    min_rows : int, default=1
        Levels with fewer rows are rare.
    max_levels : int, default=100
        Maximum number of features for one text column.

    Attributes
    ----------
    numbers_, text_, dates_ : list of str
        The columns of numbers, of text and of dates.
    columns_ : dict of str to list of str
        All columns by kind: numbers, text and dates.
    fill_ : bool
        Value of `fill` in `fit`.
    level_names_, level_columns_, level_features_ : ndarray of shape (n_levels,)
        Name, column index and feature index of each level. Columns are counted in `text_`.
    missing_features_ : ndarray of shape (n_text,)
        Feature for missing values of each text column, or -1 if none were missing.
    date_columns_, date_parts_ : ndarray of shape (n_parts,)
        Column (an index into `dates_`) and part of each feature from dates. Parts are the year (0),
        month (1), weekday (2) and hour (3).
    medians_ : ndarray of shape (n_numbers + n_parts,)
        Medians of the numeric columns and date parts, 0 for columns without values.
    n_features_in_, n_features_out_ : int
        Number of columns and of features.

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

    def __init__(
        self,
        numbers: list[str] | None = None,
        text: list[str] | None = None,
        dates: list[str] | None = None,
        *,
        fill: bool = False,
        min_rows: int = 1,
        max_levels: int = 100,
    ) -> None:
        self.numbers = numbers
        self.text = text
        self.dates = dates
        self.fill = fill
        self.min_rows = min_rows
        self.max_levels = max_levels

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the levels and medians of a data frame."""
        with fitting(self, self._chosen_columns(X)):
            self._learn(X)
        return self

    def _chosen_columns(self, X):
        """Return the columns by their kinds, as they are given or else by their types."""
        given = {"numbers": self.numbers, "text": self.text, "dates": self.dates}
        if all(names is None for names in given.values()):
            return _columns_by_type(X)
        return {kind: [] if names is None else names for kind, names in given.items()}

    def _learn(self, X):
        if not any(self.columns_.values()):
            raise ValueError("FrameVectorizer needs at least one column")
        numbers, text, dates = self._read(X)
        warn_of_columns_losing_integers((name, np.asarray(X[name])) for name in self.numbers_)
        self.date_columns_, self.date_parts_ = _varying_parts(dates)
        numbers += features.date_features(dates, vars(self))
        self.medians_ = np.array([_median(column) for column in numbers])
        names: list[str | None] = []
        columns, places, missing = [], [], []
        n_features = len(self.medians_)
        for position, column in enumerate(text):
            levels = _choose_levels(column, self.min_rows, self.max_levels)
            n_own = 1 + max(levels.values())
            missing.append(n_features + levels.pop(None) if None in levels else -1)
            names += levels
            columns += [position] * len(levels)
            places += [n_features + feature for feature in levels.values()]
            n_features += n_own
        self.level_names_ = np.array(names, dtype=object)
        self.level_columns_, self.level_features_, self.missing_features_ = (
            np.array(each, dtype=np.int64) for each in (columns, places, missing)
        )
        self.n_features_in_ = sum(map(len, self.columns_.values()))
        self.n_features_out_ = n_features

    def transform(self, X: Any) -> np.ndarray:
        """Convert a data frame to features."""
        check_is_fitted(self)
        check_usable(self._record, vars(self), self.columns_)
        return features.columns_to_features(
            self._read(X), vars(self), features.level_lookups(vars(self)), self.fill_
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Get the names of the features."""
        check_is_fitted(self)
        return np.array(features.feature_names(self.columns_, vars(self)), dtype=object)

    @property
    def columns_(self) -> dict[str, list[str]]:
        """Columns by kind: numbers, text and dates."""
        return {"numbers": self.numbers_, "text": self.text_, "dates": self.dates_}

    def _read(self, X):
        readers = {"numbers": _as_floats, "text": _as_text, "dates": _as_dates}
        return [
            [read(X[name], name) for name in self.columns_[kind]] for kind, read in readers.items()
        ]


def _columns_by_type(X) -> dict[str, list]:
    found: dict[str, list] = {"numbers": [], "text": [], "dates": []}
    for name in X.column_names if hasattr(X, "column_names") else X.columns:
        kind = _kind_of(X[name])
        if kind is None:
            raise TypeError(
                f"column {name!r} has type {_type_of(X[name])}, expected numbers, text or dates: "
                "drop it, or list the columns to use in numbers, text and dates"
            )
        found[kind].append(name)
    return found


def _kind_of(column) -> str | None:
    if _is_categorical(column):
        return "text"
    stored = np.asarray(column).dtype.kind
    if stored in "iufM":
        return "dates" if stored == "M" else "numbers"
    cells = [cell for cell in map(_or_none, column) if cell is not None]
    kinds = {"text": str | bool | np.bool_, "dates": date | time, "numbers": Real}
    fitting = (kind for kind, types in kinds.items() if all(isinstance(c, types) for c in cells))
    return next(fitting, None)


def _type_of(column) -> str:
    return str(getattr(column, "dtype", None) or getattr(column, "type", ""))


def _is_categorical(column) -> bool:
    return _type_of(column).lower().startswith(("categor", "enum", "dictionary"))


def _as_floats(column, name) -> np.ndarray:
    values = np.asarray(column)
    if values.dtype.kind in "mM":
        raise TypeError(f"column {name!r} must be numbers, got {values.dtype}")
    if values.dtype.kind == "O":  # such as of pandas' own integers, with NA among them
        values = np.array([np.nan if _or_none(cell) is None else cell for cell in values])
    return values.astype(np.float64)


def _as_dates(column, name) -> np.ndarray:
    """Return a column of dates as datetime64[us], without zones."""
    values = np.asarray(column)
    if values.dtype.kind == "M" and not re.search(r"tz=|time_zone='", _type_of(column)):
        return values.astype(features.NO_DATE.dtype)
    cells = _checked(column, date | time, f"column {name!r} must contain dates")
    dates = [features.NO_DATE if cell is None else _on_the_wall(cell) for cell in cells]
    return np.array(dates, dtype=features.NO_DATE.dtype)


def _on_the_wall(cell) -> np.datetime64:
    """Return what calendars and clocks show; a time is one of the first day of 1970."""
    if isinstance(cell, time):
        cell = datetime.combine(date(1970, 1, 1), cell)
    is_moment = isinstance(cell, datetime)
    return np.datetime64(cell.replace(tzinfo=None) if is_moment else cell, "us")


def _as_text(column, name) -> list[str | None]:
    """Return the cells of a column as text, None where they are missing."""
    types = str | bool | np.bool_ | (Integral if _is_categorical(column) else str)
    cells = _checked(column, types, f"column {name!r} must contain text")
    return [None if cell is None else str(cell) for cell in cells]


def _checked(column, types, sentence) -> list:
    """Return cells, None where they are missing; all others are of some types."""
    cells = [_or_none(cell) for cell in column]
    for cell in cells:
        if cell is not None and not isinstance(cell, types):
            raise TypeError(f"{sentence}, got {cell!r}")
    return cells


def _or_none(cell):
    """Return a cell's value; None for None, NaN and pandas' NA, which are missing."""
    if hasattr(cell, "as_py"):  # of an arrow table
        cell = cell.as_py()
    is_missing = cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell != cell
    return None if is_missing else cell


def _varying_parts(dates) -> tuple[np.ndarray, np.ndarray]:
    """Return the column and the part of all parts of dates that take several values.

    If none does, the year tells which dates are missing.
    """
    columns, parts = [], []
    for position, column in enumerate(dates):
        values = features.parts_of_dates(column[~np.isnat(column)])
        found = [part for part in range(values.shape[1]) if len({*values[:, part]}) > 1] or [0]
        columns += [position] * len(found)
        parts += found
    return np.array(columns, dtype=np.int64), np.array(parts, dtype=np.int64)


def _choose_levels(column, min_rows, max_levels) -> dict[str | None, int]:
    """Return the feature of each level, from 0, as scikit-learn chooses them; None is missing."""
    encoder = OneHotEncoder(min_frequency=min_rows, max_categories=max_levels)
    levels = encoder.fit(np.array(column, dtype=object)[:, np.newaxis]).categories_[0]
    places = encoder.transform(levels[:, np.newaxis]).indices
    return dict(zip(levels.tolist(), places.tolist(), strict=True))


def _median(column) -> float:
    present = column[~np.isnan(column)]
    return float(np.median(present)) if len(present) else 0.0
