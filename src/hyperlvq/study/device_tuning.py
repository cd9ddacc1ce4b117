"""Tuning on a device: all settings of a grid trained together, on one data set after the other.

The searches, their records and the settings file are those of `tuning`; only how the settings are
trained differs, so the accuracies agree up to rounding and, for GLVQ, where it stops.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hyperlvq.batched import (
    Backend,
    GLVQBatch,
    Samples,
    encode_integers,
    encode_sigmoids,
    predicted_classes,
    rls_accuracies,
    train_glvq,
)
from hyperlvq.batched.backend import Array
from hyperlvq.batched.glvq import problems_at_once
from hyperlvq.checks import check_choice, check_real
from hyperlvq.hidden import IntRVFLLayer, RVFLLayer
from hyperlvq.readouts import GLVQClassifier
from hyperlvq.study import protocol as protocols
from hyperlvq.study.experiments import MODELS, Model
from hyperlvq.study.protocol import Part
from hyperlvq.study.runner import DataSource, Progress, choose
from hyperlvq.study.settings import Parameters
from hyperlvq.study.tuning import (
    GRIDS,
    Search,
    grid_of,
    group_by_layer,
    is_rls,
    tune_study,
    tuning_trials,
)

READOUTS = ("rls", "glvq")
LAYER_PARAMETERS = ("n_units", "clip")
#: A hidden layer, None for bare features.
Layer = Any


def runs_on_device(model: Model) -> bool:
    """Say whether a model can be tuned on a device."""
    return isinstance(model.recipe, tuple) and model.recipe[1] in READOUTS


def tune_on_device(
    source: DataSource,
    folder: str | Path,
    backend: Backend,
    *,
    models: Sequence[str] | None = None,
    sets: Sequence[str] | None = None,
    grid: str = "paper",
    n_seeds: int = 5,
    protocol: str = "paper",
    minutes: float | None = None,
) -> Iterator[Progress]:
    """Tune what a folder lacks, as `tune_study` does, on a device.

    Parameters
    ----------
    source, folder, sets, grid, n_seeds, protocol
        As for `tune_study`.
    backend : Backend
        What `hyperlvq.batched.open_backend` gives.
    models : sequence of str, default=None
        Names of models of RLS and GLVQ that have a grid; all of them by default.
    minutes : float, default=None
        When to stop: no search starts after that, and the settings file waits for the rest.

    Yields
    ------
    progress : Progress
        The record and how much is done.
    """
    end = np.inf
    if minutes is not None:
        end = time.monotonic() + 60 * check_real("minutes", minutes, positive=True)
    check_choice("grid", grid, GRIDS)
    tunable = [m.name for m in MODELS.values() if grid_of(m, grid) and runs_on_device(m)]
    return tune_study(
        source,
        folder,
        models=choose("model to tune on a device", models, tunable),
        sets=sets,
        grid=grid,
        n_seeds=n_seeds,
        protocol=protocol,
        run_jobs=partial(run_on_device, backend=backend, end=end),
    )


def run_on_device(
    function: Callable[[Any], Any], jobs: Sequence[Any], backend: Backend, end: float
) -> Iterator[tuple[Any, Any]]:
    """Yield (job, function(job)) one after the other; none starts once time is up."""
    for job in jobs:
        if time.monotonic() > end:
            return
        yield job, function(on_device(job, backend))


def on_device(job: Any, backend: Backend) -> Any:
    """Return a search as one that uses a device; any other job as it is."""
    return DeviceSearch(**vars(job), backend=backend) if isinstance(job, Search) else job


@dataclass(frozen=True)
class DeviceSearch(Search):
    """A search whose candidates and trials are trained together."""

    backend: Backend

    def scores_of_trials(self, candidates: Sequence[Parameters]) -> list[np.ndarray]:
        """Return the accuracy of every candidate in every trial; NaN where it cannot be trained."""
        score = score_penalties if is_rls(self.model) else score_prototypes
        scores: list[np.ndarray] = []
        for part, seeds in trials_by_part(self):
            table = np.full((len(seeds), len(candidates)), np.nan)
            if len(np.unique(part.y_train)) > 1:
                score(self, candidates, part, seeds, table)
            scores.extend(table)
        return scores


def trials_by_part(search: Search) -> list[tuple[Part, list[int]]]:
    """Return the trials of a search, those on the same samples together."""
    parts: list[tuple[Part, list[int]]] = []
    for part, seed in tuning_trials(search):
        if parts and parts[-1][0] is part:
            parts[-1][1].append(seed)
        else:
            parts.append((part, [seed]))
    return parts


class Cell(NamedTuple):
    """A hidden layer to make, and the place of its candidates in the table of scores."""

    layer: Layer
    row: int
    columns: list[int]


def score_penalties(
    search: DeviceSearch,
    candidates: Sequence[Parameters],
    part: Part,
    seeds: Sequence[int],
    table: np.ndarray,
) -> None:
    """Write the accuracy of every seed and candidate of RLS; layers of one size go together."""
    part = scaled(search, part)
    by_size: dict[int, list[Cell]] = {}
    for others, columns in group_by_layer(candidates).items():
        for row, seed in enumerate(seeds):
            layer = fitted_layer(search, dict(others), seed, part)
            by_size.setdefault(size_of(layer, part), []).append(Cell(layer, row, columns))
    for n_units, cells in by_size.items():
        for some in chunks(cells, layers_at_once(part, n_units, search.backend)):
            layers = [cell.layer for cell in some]
            train, test = (encode(X, layers, search) for X in (part.X_train, part.X_test))
            alphas = [candidates[column]["alpha"] for column in some[0].columns]
            accuracies = rls_accuracies(
                train, part.y_train, test, part.y_test, alphas, search.backend
            )
            for cell, scores in zip(some, accuracies, strict=True):
                table[cell.row, cell.columns] = scores


def score_prototypes(
    search: DeviceSearch,
    candidates: Sequence[Parameters],
    part: Part,
    seeds: Sequence[int],
    table: np.ndarray,
) -> None:
    """Write the accuracy of every seed and candidate of GLVQ; each seed has a layer of its own."""
    part = scaled(search, part)
    readouts = [readout_of(search, candidate) for candidate in candidates]
    for columns in columns_by_layer(candidates):
        setting = layer_setting(candidates[columns[0]])
        layers = [fitted_layer(search, setting, seed, part) for seed in seeds]
        at_once = layers_at_once(part, size_of(layers[0], part), search.backend)
        for rows in chunks(range(len(seeds)), at_once):
            chosen = [readouts[column] for column in columns]
            some = [layers[row] for row in rows]
            scores = glvq_accuracies(search, part, some, chosen, [seeds[row] for row in rows])
            table[np.ix_(rows, columns)] = scores


def glvq_accuracies(
    search: DeviceSearch,
    part: Part,
    layers: Sequence[Layer],
    readouts: Sequence[GLVQClassifier],
    seeds: Sequence[int],
) -> np.ndarray:
    """Return the accuracy of every seed and readout (seeds × readouts)."""
    backend = search.backend
    classes, y = np.unique(part.y_train, return_inverse=True)
    is_integer = search.model.recipe[0] == "intrvfl"
    train, test = (encode(X, layers, search) for X in (part.X_train, part.X_test))
    samples = Samples(train, backend.array(y), len(classes), is_integer)
    scores = np.empty((len(seeds), len(readouts)))
    for columns in columns_by_batch(samples, readouts, len(seeds), backend):
        batch = batch_of([readouts[column] for column in columns], seeds)
        # Features are the same for every seed: one group, not one a seed.
        batch = batch if layers[0] is not None else batch.joined()
        right = [
            accuracies_of_batch(samples, test, classes, part.y_test, some, readouts[0], backend)
            for some in batch.split(problems_at_once(samples, batch.most, backend))
        ]
        scores[:, columns] = np.concatenate(right, axis=1).reshape(len(seeds), len(columns))
    return scores


def accuracies_of_batch(
    train: Samples,
    test: Array,
    classes: np.ndarray,
    y_test: np.ndarray,
    batch: GLVQBatch,
    readout: GLVQClassifier,
    backend: Backend,
) -> np.ndarray:
    """Return the accuracy of every problem of a batch."""
    trained = train_glvq(train, batch, backend, readout.max_iter, readout.tol)
    predicted = backend.numpy(predicted_classes(trained, test, backend))
    return (classes[predicted] == y_test).mean(axis=2)


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


def readout_of(search: Search, candidate: Parameters) -> GLVQClassifier:
    """Return the readout a candidate stands for, unfitted."""
    limits = search.model.quick_search if search.grid == "quick" else {}
    return protocols.build(search.model, {**candidate, **limits}, 0, search.protocol)[-1]


def scaled(search: Search, part: Part) -> Part:
    """Return the samples as the hidden layer gets them."""
    scaler = protocols.build(search.model, {}, 0, search.protocol).named_steps["scale"]
    if scaler == "passthrough":
        return part
    X_train = scaler.fit_transform(part.X_train)
    return part._replace(X_train=X_train, X_test=scaler.transform(part.X_test))


def fitted_layer(search: Search, setting: Parameters, seed: int, part: Part) -> Layer:
    """Return the hidden layer of a setting and seed with its random numbers, None for features."""
    layer = protocols.build(search.model, setting, seed, search.protocol).named_steps["hidden"]
    return None if layer == "passthrough" else layer.fit(part.X_train[:1])


def encode(X: np.ndarray, layers: Sequence[Layer], search: DeviceSearch) -> Array:
    """Return the activations of layers of one kind and size (layers × samples × units)."""
    if isinstance(layers[0], IntRVFLLayer):
        keys, clips = zip(*((layer.keys_, layer.clip) for layer in layers), strict=True)
        return encode_integers(X, keys, clips, "float32", search.backend)
    if isinstance(layers[0], RVFLLayer):
        weights, biases = zip(*((layer.weights_, layer.biases_) for layer in layers), strict=True)
        return encode_sigmoids(X, weights, biases, search.backend)
    return search.backend.array(X[np.newaxis], "float64")


def size_of(layer: Layer, part: Part) -> int:
    """Return the number of units of a layer."""
    return part.X_train.shape[1] if layer is None else layer.n_units


def layers_at_once(part: Part, n_units: int, backend: Backend) -> int:
    """Return how many layers' activations may be in memory together."""
    bytes_of_layer = 8 * (len(part.X_train) + len(part.X_test)) * n_units
    return max(1, backend.batch_bytes // bytes_of_layer)


def layer_setting(candidate: Parameters) -> Parameters:
    """Return the parameters of a candidate's hidden layer."""
    return {name: candidate[name] for name in LAYER_PARAMETERS if name in candidate}


def columns_by_layer(candidates: Sequence[Parameters]) -> list[list[int]]:
    """Return the indices of candidates that share a hidden layer."""
    groups: dict[tuple, list[int]] = {}
    for index, candidate in enumerate(candidates):
        groups.setdefault(tuple(layer_setting(candidate).items()), []).append(index)
    return list(groups.values())


def chunks(items: Sequence, size: int) -> list:
    """Return the items in parts of at most a size."""
    return [items[start : start + size] for start in range(0, len(items), size)]
