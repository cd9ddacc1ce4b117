"""Checks of features and labels that scikit-learn leaves to the user."""

import re
from collections.abc import Iterable, Iterator
from datetime import date, time, timedelta
from numbers import Integral
from typing import Any

import numpy as np

from hyperlvq.checks import to_float, warn_caller
from hyperlvq.learnt import LABEL_KINDS

#: The beginnings of types of dates and times in numpy, pandas, polars and pyarrow, and objects.
_MOMENTS = re.compile("date|time|duration|period|object", re.IGNORECASE)
_WIDE_INTEGERS = re.compile("u?int(64|128)|object", re.IGNORECASE)
#: From here on, float64 does not hold all integers.
_LARGEST_EXACT = 2**53
_MOMENT_TYPES = (date, time, timedelta, np.datetime64, np.timedelta64)


def check_no_dates(X: Any) -> None:
    """Raise TypeError for a column of dates, times or durations."""
    for name, kind, values in _columns_of(X, _MOMENTS):
        if values.dtype.kind == "O":
            kind = next((type(cell).__name__ for cell in values if _is_moment(cell)), "")
        if kind:
            raise TypeError(
                f"column {name!r} has values of type {kind}, which are not numbers: convert dates "
                "with FrameVectorizer and durations to numbers"
            )


def warn_of_lost_integers(X: Any) -> None:
    """Warn of columns whose integers lose differences in float64."""
    if _is_array_of_small_integers(X):
        return
    columns = _columns_of(X, _WIDE_INTEGERS)
    warn_of_columns_losing_integers((name, values) for name, _, values in columns)


def warn_of_columns_losing_integers(columns: Iterable[tuple[Any, np.ndarray]]) -> None:
    """Warn once of all columns whose integers lose differences in float64."""
    losing = [repr(name) for name, values in columns if _loses_differences(values)]
    if losing:
        warn_caller(
            f"different integers above 2**53 become equal as float64 in the columns "
            f"{', '.join(losing)}: subtract a constant, or convert codes to text",
            UserWarning,
        )


def check_labels(y: np.ndarray) -> None:
    """Raise ValueError for labels that models cannot keep, such as dates."""
    kind = "" if y.dtype.kind in LABEL_KINDS else str(y.dtype)
    if y.dtype.kind == "O":
        kind = next((type(label).__name__ for label in y.flat if _is_moment(label)), "")
    if kind:
        raise ValueError(
            f"labels must be text, numbers or Boolean values, got {kind}: convert them to text"
        )


def _columns_of(X: Any, wanted: re.Pattern[str]) -> Iterator[tuple[Any, str, np.ndarray]]:
    """Yield names, types and values of the columns of some types."""
    if isinstance(X, list | tuple):
        try:
            X = np.asarray(X)
        except ValueError:  # of rows of different lengths, which scikit-learn refuses
            return
    if isinstance(X, np.ndarray):
        if X.ndim == 2 and wanted.match(X.dtype.name):
            yield from ((place, X.dtype.name, column) for place, column in enumerate(X.T))
        return
    for place, (name, kind) in enumerate(_named_types(X)):
        if wanted.match(kind):
            # names of pandas may occur several times
            column = X.iloc[:, place] if hasattr(X, "iloc") else X[name]
            yield name, kind, np.asarray(_without_missing_integers(column, kind))


def _without_missing_integers(column: Any, kind: str) -> Any:
    """Drop missing values of integers, which would turn the others into floats."""
    methods = ("dropna", "drop_nulls", "drop_null")  # of pandas, polars and pyarrow
    drop = next((getattr(column, each) for each in methods if hasattr(column, each)), None)
    return drop() if drop is not None and "int" in kind.lower() else column


def _named_types(X: Any) -> list[tuple[Any, str]]:
    """List the columns of a frame with their types, nothing of anything else."""
    if hasattr(X, "column_names") and hasattr(X, "schema"):  # of pyarrow
        return list(zip(X.column_names, map(str, X.schema.types), strict=True))
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return list(zip(X.columns, map(_type_name, X.dtypes), strict=True))
    return []


def _type_name(dtype: Any) -> str:
    """Name a type, of categories that of their values."""
    categories = getattr(dtype, "categories", None)
    return str(dtype if categories is None else getattr(categories, "dtype", dtype))


def _is_moment(cell: Any) -> bool:
    return isinstance(cell, _MOMENT_TYPES) or type(cell).__name__ in ("NaTType", "Period")


def _is_array_of_small_integers(X: Any) -> bool:
    """Check all columns at once, which is faster than one by one."""
    is_integer = isinstance(X, np.ndarray) and X.dtype.kind in "iu" and X.size > 0
    return is_integer and not _reach_limit(X)


def _reach_limit(values: np.ndarray) -> bool:
    return bool(values.max() >= _LARGEST_EXACT or values.min() <= -_LARGEST_EXACT)


def _loses_differences(values: np.ndarray) -> bool:
    if values.dtype.kind == "O":
        integers = {int(cell) for cell in values if isinstance(cell, Integral)}
        wide = {each for each in integers if abs(each) >= _LARGEST_EXACT}
        return len({*map(to_float, wide)}) < len(wide)
    if values.dtype.kind not in "iu" or not values.size or not _reach_limit(values):
        return False
    distinct = np.unique(values)
    return len(np.unique(distinct.astype(np.float64))) < len(distinct)
