"""Pipelines of `make_classifier`, trained and used on Dask collections."""

from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed
from distributed import Client
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from hyperlvq.checks import InputError
from hyperlvq.distributed import cluster, samples
from hyperlvq.fitting import fitting
from hyperlvq.inputs import check_labels
from hyperlvq.registry import PartRecord, record_of
from hyperlvq.scaling import RangeScaler


def fit(model: Pipeline, X: Any, y: Any, client: Client | None = None) -> Pipeline:
    """Fit a copy of a model on a Dask cluster.

    The result equals `model.fit` on all rows in the memory of one machine, up to rounding. Scaling
    uses the ranges of all partitions. Centroids and least squares use sums over partitions. GLVQ
    runs the same minimiser from the same start and sums costs and gradients in float64.

    Workers cache the activations between passes if these take at most 40 % of the cluster's memory.
    Otherwise they cache the features and encode them again in each pass. If the features do not fit
    either, each pass reads X again. Partitions are never concatenated, but each must fit into the
    memory of a worker.

    Workers may die during training. The scheduler then recomputes their partitions on other
    workers. Sums are added in a fixed order, so the model stays the same. Without any worker, `fit`
    waits for new ones.

    Parameters
    ----------
    model : Pipeline
        A pipeline from `make_classifier` with the hidden layer "features", "rvfl" or "intrvfl" and
        the readout "centroids", "rls" or "glvq". The online solvers "sgd" and "lms" are not
        supported. The pipeline itself is not changed.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Training samples. Chunk sizes may be unknown, and partitions may be empty.
    y : dask.array.Array or dask.dataframe.Series of shape (n_samples,)
        Labels with the same partitions as X.
    client : distributed.Client, default=None
        Client of the cluster. By default the current client of this process.

    Returns
    -------
    model : Pipeline
        A fitted pipeline without any reference to Dask.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import make_classifier
    >>> from hyperlvq.distributed import fit, predict
    >>> X, y = (da.from_array(data, chunks=50) for data in load_iris(return_X_y=True))
    >>> model = make_classifier("intrvfl", "glvq", n_units=200, random_state=0)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     fitted = fit(model, X, y)
    ...     accuracy = (predict(fitted, X) == y).mean().compute()
    >>> bool(accuracy > 0.97)
    True
    """
    check_pipeline(model)
    parts = samples.paired_partitions(X, y)
    client = cluster.checked_client(client)
    merge = samples.merge_descriptions
    description = samples.Description(*cluster.total(client, samples.describe, parts, merge=merge))
    check_description(description, model)
    fitted = clone(model)
    *front_steps, (step, readout) = fitted.steps
    front = _fit_front(Pipeline(front_steps), description)
    rows = _place_rows(client, parts, description, front)
    with fitting(readout):
        given = samples.PartitionsEngine(), (rows, None, None)
        readout._fit_samples(*given, description.labels)
        readout._measure(*given)
        readout.n_features_in_ = rows.shape[1]
    names = list(X.columns) if isinstance(X, dd.DataFrame) else [None]
    if isinstance(front[0], MinMaxScaler) and all(isinstance(name, str) for name in names):
        front[0].feature_names_in_ = np.array(names, dtype=object)
    fitted.steps = [*front.steps, (step, readout)]
    return fitted


def predict(model: Any, X: Any) -> Any:
    """Predict class labels lazily, with one task per partition.

    Parameters
    ----------
    model : Pipeline
        A fitted pipeline.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        The samples.

    Returns
    -------
    labels : dask.array.Array or dask.dataframe.Series of shape (n_samples,)
        Predicted labels. A series has the index of X.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from hyperlvq import make_classifier
    >>> from hyperlvq.distributed import predict
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_classifier("intrvfl", "centroids", random_state=0).fit(X, y)
    >>> labels = predict(model, da.from_array(X, chunks=(50, 4)))
    >>> bool((labels.compute() == model.predict(X)).all())
    True
    """
    X = samples.check_features(X)
    check_is_fitted(model)
    n_features = next(step.n_features_in_ for _, step in model.steps if not isinstance(step, str))
    if X.shape[1] != n_features:
        raise InputError(f"the model expects {n_features} features, got {X.shape[1]}")
    shared = delayed(model)  # one copy for all partitions
    meta = model.classes_[:0]
    if isinstance(X, dd.DataFrame):
        return X.map_partitions(predict_rows, shared, meta=pd.Series(meta))
    return X.map_blocks(predict_rows, shared, drop_axis=1, meta=meta)


def predict_rows(X: Any, model: Any) -> Any:
    """Return the classes of one partition, which may be empty; those of a frame have its index."""
    labels = model.predict(X) if len(X) else model.classes_[:0]
    return pd.Series(labels, index=X.index) if isinstance(X, pd.DataFrame) else labels


def check_pipeline(model: Any) -> None:
    """Raise if a model is not one that sums over partitions can train."""
    if not isinstance(model, Pipeline) or len(model.steps) < 2:
        raise InputError(
            f"model must be a pipeline from make_classifier, got {type(model).__name__}"
        )
    (_, scale), *hidden_steps, (_, readout) = model.steps
    if not isinstance(scale, str) and type(scale) not in (RangeScaler, MinMaxScaler):
        raise InputError(f"the scaling on partitions must be RangeScaler or none, got {scale!r}")
    for _, hidden in hidden_steps:
        if not isinstance(hidden, str) and record_on_partitions(hidden, "hidden") is None:
            raise InputError(
                f"the hidden layer on partitions must be intrvfl, rvfl or none, got {hidden!r}"
            )
    record = record_on_partitions(readout, "readout")
    if record is None:
        raise InputError(
            f"{type(readout).__name__} cannot be trained on partitions: "
            "use the readout centroids, rls or glvq"
        )
    if record.online_solver is not None and readout.solver == record.online_solver:
        raise InputError(
            f"solver={readout.solver!r} trains sample by sample and cannot be used on partitions"
        )
    if getattr(readout, "class_weight", None) is not None:
        raise InputError("class_weight is not supported on partitions")
    if getattr(readout, "warm_start", False):
        raise InputError("warm_start=True is not supported on partitions")


def record_on_partitions(estimator: Any, role: str) -> PartRecord | None:
    """Return the record of an estimator of this role; None if partitions cannot train it."""
    record = record_of(estimator)
    is_able = record is not None and record.role == role and "partitions" in record.runs_on
    return record if is_able else None


def check_description(description: samples.Description, model: Pipeline) -> None:
    """Raise if the model could not be trained on such rows."""
    if not sum(description.n_rows):
        raise InputError("X has no rows")
    check_labels(description.labels)
    # Twice each: one of each would look like numbers to be predicted.
    check_classification_targets(np.repeat(description.labels, 2))
    if len(description.labels) < 2:
        raise InputError(
            "a classifier needs samples of at least two classes, "
            f"got one class: {description.labels.tolist()[0]!r}"
        )
    hidden_layers = [step for _, step in model.steps[1:-1] if not isinstance(step, str)]
    takes_missing = any(get_tags(layer).input_tags.allow_nan for layer in hidden_layers)
    if description.has_missing and not takes_missing:
        raise InputError(
            "X has missing values, which only the hidden layer 'intrvfl' supports on partitions"
        )


def _fit_front(front, description):
    """Return scaling and hidden layer, fitted: both need no more than two extreme rows."""
    extremes = np.stack([description.lows, description.highs])
    extremes[:, description.lows > description.highs] = np.nan  # all are missing
    front.fit(extremes)
    if isinstance(front[0], MinMaxScaler):
        front[0].n_samples_seen_ = sum(description.n_rows)
    return front


def _place_rows(client, parts, description, front):
    """Return the rows as what fits the memory of the workers: activations, features, neither."""
    n_classes, bytes_of_label = len(description.labels), np.dtype(np.intp).itemsize
    highs = np.where(np.isfinite(description.highs), description.highs, 0)[np.newaxis]
    bytes_of_row = np.asarray(front.transform(highs)).nbytes + bytes_of_label
    room_of_row = cluster.memory_for_data(client) / sum(description.n_rows)
    is_encoded = bytes_of_row <= room_of_row
    is_kept = is_encoded or highs.nbytes + bytes_of_label <= room_of_row
    classes = cluster.send(client, description.labels)
    sent_front = cluster.send(client, front if is_encoded else None)
    filled = [part for part, n_rows in zip(parts, description.n_rows, strict=True) if n_rows]
    rows = [delayed(samples.read_rows)(part, classes, sent_front) for part in filled]
    if is_kept:  # those of a worker that dies are made anew
        rows = client.persist(rows, retries=cluster.RETRIES)
    return samples.PartitionedRows(client, rows, None if is_encoded else front, n_classes)
