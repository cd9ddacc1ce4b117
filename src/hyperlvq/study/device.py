"""Models trained together on a device: hidden layers of several seeds, readouts of each.

What searches and runs share. The estimators of a pipeline say what to train; the batched trainer
takes their place, so accuracies agree up to rounding and, for GLVQ, where it stops.
"""

import time
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, get_tags

from hyperlvq.batched import (
    Backend,
    GLVQBatch,
    Samples,
    encode_integers,
    encode_sigmoids,
    predicted_classes,
    rls_accuracies,
    train_glvq,
    train_rls,
)
from hyperlvq.batched.backend import Array
from hyperlvq.batched.glvq import problems_at_once
from hyperlvq.checks import check_real
from hyperlvq.hidden import IntRVFLLayer, RVFLLayer
from hyperlvq.readouts import GLVQClassifier
from hyperlvq.registry import recipe_records
from hyperlvq.study import protocol as protocols
from hyperlvq.study.experiments import Model
from hyperlvq.study.protocol import Part

#: A hidden layer, None for bare features.
Layer = Any
#: What training and prediction took, by the names of records.
Seconds = defaultdict[str, float]
Item = TypeVar("Item")


class Outcome(NamedTuple):
    """How readouts did on their layers (layers × readouts), and the time of all together."""

    accuracies: np.ndarray
    iterations: np.ndarray
    seconds: Seconds


def runs_on_device(model: Model) -> bool:
    """Say whether a model can be trained on a device."""
    if model.n_voters > 1 or isinstance(model.recipe, str):
        return False
    return "batches" in recipe_records(*model.recipe)[-1].runs_on


def end_after(minutes: float | None) -> float:
    """Return when time will be up by the monotonic clock, never without a limit."""
    if minutes is None:
        return np.inf
    return time.monotonic() + 60 * check_real("minutes", minutes, positive=True)


def until(end: float, items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items until time is up, the first in any case.

    So the same command gets on, however long its data take to load.
    """
    for number, item in enumerate(items):
        if number > 0 and time.monotonic() > end:
            return
        yield item


def rehearse(pipeline: Pipeline, part: Part) -> None:
    """Raise what a pipeline would by itself if samples or parameters are wrong.

    All samples are looked at; to train on, one iteration on one of each class is enough.
    """
    _, first = np.unique(part.y_train, return_index=True)
    few = part._replace(X_train=part.X_train[first], y_train=part.y_train[first])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are as many classes as samples
        protocols.fit(pipeline.set_params(readout__max_iter=1), few)
    may_lack_values = get_tags(pipeline).input_tags.allow_nan
    for X in (part.X_train, part.X_test):
        check_array(X, ensure_all_finite="allow-nan" if may_lack_values else True, input_name="X")


def scaled(pipeline: Pipeline, part: Part) -> Part:
    """Return the samples as the hidden layer of a pipeline gets them."""
    scaler = pipeline.named_steps["scale"]
    if scaler == "passthrough":
        return part
    X_train = scaler.fit_transform(part.X_train)
    return part._replace(X_train=X_train, X_test=scaler.transform(part.X_test))


def fitted_layer(pipeline: Pipeline, part: Part) -> Layer:
    """Return the hidden layer of a pipeline with its random numbers, None for features."""
    layer = pipeline.named_steps["hidden"]
    return None if layer == "passthrough" else layer.fit(part.X_train[:1])


def encode(X: np.ndarray, layers: Sequence[Layer], backend: Backend) -> Array:
    """Return the activations of layers of one kind and size (layers × samples × units)."""
    if isinstance(layers[0], IntRVFLLayer):
        keys, clips = zip(*((layer.keys_, layer.clip) for layer in layers), strict=True)
        return encode_integers(X, keys, clips, "float32", backend)
    if isinstance(layers[0], RVFLLayer):
        weights, biases = zip(*((layer.weights_, layer.biases_) for layer in layers), strict=True)
        return encode_sigmoids(X, weights, biases, backend)
    return backend.array(X[np.newaxis], "float64")


def size_of(layer: Layer, part: Part) -> int:
    """Return the number of units of a layer."""
    return part.X_train.shape[1] if layer is None else layer.n_units


def layers_at_once(part: Part, n_units: int, backend: Backend) -> int:
    """Return how many layers' activations may be in memory together."""
    bytes_of_layer = 8 * (len(part.X_train) + len(part.X_test)) * n_units
    return max(1, backend.batch_bytes // bytes_of_layer)


def chunks(items: Sequence, size: int) -> list:
    """Return the items in parts of at most a size."""
    return [items[start : start + size] for start in range(0, len(items), size)]


@contextmanager
def timed(seconds: Seconds, name: str, backend: Backend) -> Iterator[None]:
    """Add the time that something takes on the device."""
    start = time.perf_counter()
    yield
    backend.wait()
    seconds[name] += time.perf_counter() - start


def try_penalties(
    part: Part, layers: Sequence[Layer], alphas: Sequence[float], backend: Backend
) -> Outcome:
    """Train and test RLS on every layer with every penalty."""
    seconds: Seconds = defaultdict(float)
    with timed(seconds, "fit_seconds", backend):
        train = encode(part.X_train, layers, backend)
        coefficients = train_rls(train, part.y_train, alphas, backend)
    with timed(seconds, "predict_seconds", backend):
        test = encode(part.X_test, layers, backend)
        classes = np.unique(part.y_train)
        accuracies = rls_accuracies(coefficients, classes, test, part.y_test, backend)
    # RLSClassifier, too, counts solving directly as one iteration.
    return Outcome(accuracies, np.ones(accuracies.shape, dtype=int), seconds)


def try_prototypes(
    part: Part,
    layers: Sequence[Layer],
    readouts: Sequence[GLVQClassifier],
    seeds: Sequence[int],
    backend: Backend,
) -> Outcome:
    """Train and test every readout of GLVQ on the layer of every seed."""
    seconds: Seconds = defaultdict(float)
    classes, y = np.unique(part.y_train, return_inverse=True)
    is_integer = isinstance(layers[0], IntRVFLLayer)
    with timed(seconds, "fit_seconds", backend):
        train = encode(part.X_train, layers, backend)
        samples = Samples(train, backend.array(y), len(classes), is_integer)
    with timed(seconds, "predict_seconds", backend):
        test = encode(part.X_test, layers, backend)
    table = np.empty((2, len(seeds), len(readouts)))
    for columns in columns_by_batch(samples, readouts, len(seeds), backend):
        batch = batch_of([readouts[column] for column in columns], seeds)
        # Features are the same for every seed: one group, not one a seed.
        batch = batch if layers[0] is not None else batch.joined()
        results = [
            try_batch(samples, test, classes, part.y_test, some, readouts[0], seconds, backend)
            for some in batch.split(problems_at_once(samples, batch.most, backend))
        ]
        table[:, :, columns] = np.concatenate(results, axis=2).reshape(2, len(seeds), len(columns))
    return Outcome(table[0], table[1].astype(int), seconds)


def try_batch(
    train: Samples,
    test: Array,
    classes: np.ndarray,
    y_test: np.ndarray,
    batch: GLVQBatch,
    readout: GLVQClassifier,
    seconds: Seconds,
    backend: Backend,
) -> np.ndarray:
    """Return the accuracies and numbers of iterations of a batch (2 × groups × problems)."""
    with timed(seconds, "fit_seconds", backend):
        trained = train_glvq(train, batch, backend, readout.max_iter, readout.tol)
    with timed(seconds, "predict_seconds", backend):
        predicted = backend.numpy(predicted_classes(trained, test, backend))
    accuracies = (classes[predicted] == y_test).mean(axis=2)
    # GLVQClassifier, too, counts finding that the start is a minimum as one iteration.
    return np.stack([accuracies, np.maximum(backend.numpy(trained.n_iter), 1)])


def batch_of(readouts: Sequence[GLVQClassifier], seeds: Sequence[int]) -> GLVQBatch:
    """Return the problems of all readouts, one group a seed."""
    slopes = np.array([readout.slope for readout in readouts], dtype=float)
    counts = np.array([readout.prototypes_per_class for readout in readouts])
    shape = len(seeds), len(readouts)
    columns = np.broadcast_to(np.array(seeds)[:, np.newaxis], shape)
    slopes, counts = np.broadcast_to(slopes, shape), np.broadcast_to(counts, shape)
    return GLVQBatch(slopes, counts, columns, float(readouts[0].init_noise))


def columns_by_batch(
    samples: Samples, readouts: Sequence[GLVQClassifier], n_seeds: int, backend: Backend
) -> list[list[int]]:
    """Return the readouts to train together: all if that is little work, else by prototypes.

    Those with fewer prototypes than others of their batch are padded.
    """
    counts = [readout.prototypes_per_class for readout in readouts]
    _, n_samples, n_units = samples.activations.shape
    n_prototypes = n_seeds * len(readouts) * samples.n_classes * max(counts)
    if 4 * n_samples * n_units * n_prototypes < backend.small_flops:
        return [list(range(len(readouts)))]
    return [
        [column for column, count in enumerate(counts) if count == wanted]
        for wanted in sorted(set(counts))
    ]
