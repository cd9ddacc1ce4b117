"""`predict`: a fitted pipeline mapped over the partitions of a Dask collection."""

from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed
from sklearn.utils.validation import check_is_fitted

from hyperlvq.checks import InputError
from hyperlvq.distributed.partitions import check_features


def predict(model: Any, X: Any) -> Any:
    """Return the class of each sample, lazily: one task a partition.

    Parameters
    ----------
    model : Pipeline
        A fitted pipeline, wherever it was fitted.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)

    Returns
    -------
    labels : dask.array.Array or dask.dataframe.Series of shape (n_samples,)
        As X is; a series has the index of X.
    """
    X = check_features(X)
    check_is_fitted(model)
    if X.shape[1] != model.n_features_in_:
        raise InputError(f"X has {X.shape[1]} features, the model has {model.n_features_in_}")
    shared = delayed(model)  # one copy for all partitions
    if isinstance(X, dd.DataFrame):
        meta = pd.Series(model.classes_[:0])
        return X.map_partitions(predict_frame, shared, meta=meta)
    return X.map_blocks(predict_rows, shared, drop_axis=1, meta=model.classes_[:0])


def predict_rows(X: np.ndarray, model: Any) -> np.ndarray:
    """Return the classes of one partition, which may be empty."""
    return model.predict(X) if len(X) else model.classes_[:0]


def predict_frame(X: pd.DataFrame, model: Any) -> pd.Series:
    """Return the classes of one partition with its index."""
    return pd.Series(predict_rows(X, model), index=X.index)
