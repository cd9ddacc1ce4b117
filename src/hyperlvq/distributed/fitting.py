"""`fit`: a pipeline of `make_classifier` trained on Dask collections."""

from typing import Any

import numpy as np
from dask.delayed import delayed
from distributed import Client
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets

from hyperlvq.checks import InputError
from hyperlvq.distributed import cluster, partitions, passes
from hyperlvq.distributed.least_squares import learn_rls
from hyperlvq.distributed.partitions import Description, Part
from hyperlvq.distributed.prototypes import learn_centroids, learn_glvq
from hyperlvq.distributed.samples import PartitionedSamples
from hyperlvq.hidden import IntRVFLLayer, RVFLLayer
from hyperlvq.readouts import CentroidClassifier, GLVQClassifier, RLSClassifier

LEARNERS: dict[Any, Any] = {
    CentroidClassifier: learn_centroids,
    GLVQClassifier: learn_glvq,
    RLSClassifier: learn_rls,
}
#: Solvers that go from sample to sample, which partitions cannot do side by side.
ONLINE_SOLVERS = ("sgd", "lms")


def fit(model: Pipeline, X: Any, y: Any, client: Client | None = None) -> Pipeline:
    """Return a fitted copy of a model, trained on the workers of a Dask cluster.

    What is learnt equals `model.fit` on all rows in one memory, within rounding: scaling from the
    ranges of all partitions, class means and least squares from sums over them, GLVQ by the same
    minimiser from the same start, its cost and gradient summed in float64.

    Workers keep the activations between passes where they fit 0.4 of the cluster's memory; where
    they do not, workers keep the features and encode them anew in every pass, block by block;
    where these do not fit either, every pass reads them from where X comes from. Partitions are
    never put together; one must fit a worker's memory as X has it.

    A worker may die at any time. Whatever it held, kept samples included, is described by the
    graph that the scheduler holds, and other workers make it again; sums are added in an order
    that does not depend on who has them, so the model is the same. Where all workers are gone,
    `fit` waits for new ones.

    Parameters
    ----------
    model : Pipeline
        What `make_classifier` returns, with a readout "centroids", "rls" or "glvq" and no solver
        that goes from sample to sample ("sgd", "lms"). It is left as it is.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Sizes of chunks may be unknown, partitions may be empty.
    y : dask.array.Array or dask.dataframe.Series of shape (n_samples,)
        Labels of any kind, cut into partitions as X is.
    client : distributed.Client, default=None
        The cluster; by default that of this process's current client.

    Returns
    -------
    model : Pipeline
        An ordinary fitted pipeline, with nothing of Dask in it.

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
    check_model(model)
    parts = partitions.paired_partitions(X, y)
    client = cluster.checked_client(client)
    description = cluster.total(
        client, partitions.describe, parts, merge=partitions.merge_descriptions
    )
    check_description(description, model)
    front = fit_front(model, description)
    samples = place_samples(client, parts, description, front)
    readout = clone(model).steps[-1][1]
    LEARNERS[type(readout)](readout, samples)
    return assemble(model, front, readout, description, partitions.column_names(X))


def check_model(model: Any) -> None:
    """Raise if a model is not one that sums over partitions can train."""
    if not isinstance(model, Pipeline):
        raise InputError(f"model must be what make_classifier returns, got {type(model).__name__}")
    _, scale = model.steps[0]
    if not _is_a(scale, MinMaxScaler):
        raise InputError(f"the scaling on partitions must be MinMaxScaler or none, got {scale!r}")
    for _, hidden in model.steps[1:-1]:
        if not _is_a(hidden, IntRVFLLayer, RVFLLayer):
            raise InputError(
                f"the hidden layer on partitions must be intrvfl, rvfl or none, got {hidden!r}"
            )
    check_readout(model.steps[-1][1])


def _is_a(step: Any, *kinds: type) -> bool:
    """Say whether a step is of a kind that learns from extremes alone, or is none."""
    return type(step) in kinds or (isinstance(step, str) and step == "passthrough")


def check_readout(readout: Any) -> None:
    """Raise if a readout is not one that sums over partitions can train."""
    if type(readout) not in LEARNERS:
        raise InputError(
            f"{type(readout).__name__} cannot be trained on partitions: "
            "the readouts that can are centroids, rls and glvq"
        )
    if getattr(readout, "solver", None) in ONLINE_SOLVERS:
        raise InputError(
            f"solver={readout.solver!r} goes from sample to sample and cannot be used on partitions"
        )
    if getattr(readout, "class_weight", None) is not None:
        raise InputError("class_weight cannot be used on partitions: all samples count the same")
    if getattr(readout, "warm_start", False):
        raise InputError("warm_start=True cannot be used on partitions: a copy is trained anew")


def check_description(description: Description, model: Pipeline) -> None:
    """Raise if the model could not be trained on such rows."""
    if not sum(description.n_rows):
        raise InputError("X has no rows")
    # Twice each: one of each would look like numbers to be predicted.
    check_classification_targets(np.repeat(description.labels, 2))
    if len(description.labels) < 2:
        raise InputError(
            "a classifier needs samples of at least two classes, "
            f"got one class: {description.labels.tolist()[0]!r}"
        )
    if description.has_missing and not any(map(_takes_missing, model[1:-1])):
        raise InputError(
            "X has missing values, which only the hidden layer 'intrvfl' leaves out by itself"
        )


def _takes_missing(step: Any) -> bool:
    return not isinstance(step, str) and get_tags(step).input_tags.allow_nan


def fit_front(model: Pipeline, description: Description) -> Pipeline:
    """Return the fitted scaling and hidden layer: both need no more than two extreme rows."""
    is_missing = description.lows > description.highs
    extremes = np.stack([description.lows, description.highs])
    extremes[:, is_missing] = np.nan
    return Pipeline(clone(model).steps[:-1]).fit(extremes)


def place_samples(
    client: Client, parts: list[Part], description: Description, front: Pipeline
) -> PartitionedSamples:
    """Return the samples as what fits the memory of the workers: activations, features, neither."""
    room = cluster.memory_for_data(client)
    classes = cluster.send(client, description.labels)
    filled = [part for part, n_rows in zip(parts, description.n_rows, strict=True) if n_rows]
    samples = [delayed(passes.read_samples)(part, classes) for part in filled]
    bytes_encoded, bytes_read = bytes_of_samples(description, front)
    if bytes_encoded <= room:
        sent_front = cluster.send(client, front)
        encoded = [delayed(passes.encode_samples)(part, classes, sent_front) for part in filled]
        samples = cluster.keep(client, encoded)
    elif bytes_read <= room:
        samples = cluster.keep(client, samples)
    return PartitionedSamples(client, samples, front, description.labels)


def bytes_of_samples(description: Description, front: Pipeline) -> tuple[int, int]:
    """Return how many bytes all samples take as activations, and as features."""
    row = description.highs[np.newaxis]
    of_label = np.dtype(np.intp).itemsize
    of_row = np.asarray(front.transform(np.where(np.isfinite(row), row, 0))).nbytes
    n_rows = sum(description.n_rows)
    return n_rows * (of_row + of_label), n_rows * (row.nbytes + of_label)


def assemble(
    model: Pipeline,
    front: Pipeline,
    readout: Any,
    description: Description,
    names: list | None,
) -> Pipeline:
    """Return the fitted pipeline, as if it had seen all rows itself."""
    scale = front.steps[0][1]
    if hasattr(scale, "n_samples_seen_"):
        scale.n_samples_seen_ = sum(description.n_rows)
    if names is not None and hasattr(scale, "n_features_in_"):
        scale.feature_names_in_ = np.array(names, dtype=object)
    return Pipeline([*front.steps, (model.steps[-1][0], readout)])
