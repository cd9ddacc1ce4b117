"""Dask arrays and dataframes as pairs of partitions, checked and described on the workers."""

from collections.abc import Sequence
from functools import reduce
from itertools import chain
from typing import Any, NamedTuple

import dask.array as da
import dask.dataframe as dd
import numpy as np
from sklearn.utils import check_array

from hyperlvq.checks import InputError

FLOATS = [np.float64, np.float32, np.float16]


class Part(NamedTuple):
    """One partition as the collections have it: delayed here, concrete on the worker."""

    number: int
    X: Any
    y: Any


class Description(NamedTuple):
    """What must be known of all rows before the first of them can be encoded."""

    n_rows: list[int]  # of each partition
    lows: np.ndarray  # the smallest value of each column, infinite where all are missing
    highs: np.ndarray
    labels: np.ndarray  # sorted, each once
    has_missing: bool


def check_features(X: Any) -> Any:
    """Return X with each partition one block of whole rows; raise if it is no table of Dask's."""
    if isinstance(X, dd.DataFrame):
        return X
    if not isinstance(X, da.Array):
        raise InputError(f"X must be a Dask array or dataframe, got {type(X).__name__}")
    if X.ndim != 2:
        raise InputError(f"X must have two dimensions, got {X.ndim}")
    return X.rechunk({1: -1})


def column_names(X: Any) -> list | None:
    """Return the names of the columns as scikit-learn keeps them: if all are strings."""
    names = list(X.columns) if isinstance(X, dd.DataFrame) else []
    return names if names and all(isinstance(name, str) for name in names) else None


def paired_partitions(X: Any, y: Any) -> list[Part]:
    """Return the partitions of X with those of y."""
    X = check_features(X)
    if not isinstance(y, da.Array | dd.Series):
        raise InputError(f"y must be a Dask array or series, got {type(y).__name__}")
    if y.ndim != 1:
        raise InputError(f"y must have one dimension, got {y.ndim}")
    X_parts, y_parts = (np.ravel(np.array(data.to_delayed())) for data in (X, y))
    if len(X_parts) != len(y_parts):
        raise InputError(
            f"X has {len(X_parts)} partitions and y has {len(y_parts)}: they must be cut alike"
        )
    pairs = enumerate(zip(X_parts, y_parts, strict=True))
    return [Part(number, X_part, y_part) for number, (X_part, y_part) in pairs]


def as_arrays(part: Part) -> tuple[np.ndarray, np.ndarray]:
    """Return a partition's features and labels; raise if scikit-learn would not take them."""
    number, X, y = part
    try:
        X = check_array(
            X, dtype=FLOATS, ensure_all_finite="allow-nan", ensure_min_samples=0, input_name="X"
        )
        y = check_array(
            np.asarray(y), ensure_2d=False, dtype=None, ensure_min_samples=0, input_name="y"
        )
    except (TypeError, ValueError) as error:
        sentence = str(error).strip().split("\n")[0].rstrip(".")
        raise InputError(f"partition {number}: {sentence}") from None
    if len(X) != len(y):
        raise InputError(
            f"partition {number} has {len(X)} rows of X and {len(y)} of y: they must be cut alike"
        )
    return X, y


def describe(part: Part) -> Description:
    """Return what one partition is like."""
    X, y = as_arrays(part)
    return Description(
        [len(X)],
        np.fmin.reduce(X, axis=0, initial=np.inf),
        np.fmax.reduce(X, axis=0, initial=-np.inf),
        np.unique(y),
        bool(np.isnan(X).any()),
    )


def merge_descriptions(descriptions: Sequence[Description]) -> Description:
    """Return what all partitions together are like."""
    n_rows, lows, highs, labels, has_missing = zip(*descriptions, strict=True)
    return Description(
        list(chain.from_iterable(n_rows)),
        reduce(np.fmin, lows),
        reduce(np.fmax, highs),
        np.unique(np.concatenate([some for some in labels if len(some)] or labels[:1])),
        any(has_missing),
    )
