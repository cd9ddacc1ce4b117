"""A device as executor: the models of many jobs are trained together, in batches.

The runs of a split that differ in their seeds are trained together, and all settings of a search.
The estimators of a pipeline say what to train; the batched trainer takes their place, so accuracies
agree up to rounding and, for GLVQ, where it stops.
"""

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, get_tags

from hyperlvq.batched import encoding, glvq, rls
from hyperlvq.batched.backend import Array, Backend
from hyperlvq.checks import InputError, check_choice, check_real
from hyperlvq.hidden import IntRVFLLayer, RVFLLayer
from hyperlvq.readouts import GLVQClassifier
from hyperlvq.readouts.base import lbfgs_tolerance
from hyperlvq.registry import recipe_records
from hyperlvq.study import protocol as protocols
from hyperlvq.study.experiments import MODELS, Model
from hyperlvq.study.protocol import Run, TrainTest
from hyperlvq.study.records import KEY, TIMES, Job, Record, failure
from hyperlvq.study.runner import Executor, choose
from hyperlvq.study.tuning import GRIDS, GridSearch, grid_of, group_by_layer


class Cell(NamedTuple):
    """A hidden layer, None for bare features, and the place of its results: seed and settings."""

    layer: Any
    row: int
    columns: list[int]


def device_models(
    wanted: Sequence[str] | None = None, *, grid: str | None = None, as_published: bool = False
) -> list[str]:
    """Return the models wanted, or all, that can be run or, with a grid, tuned on a device."""
    models = [model for model in MODELS.values() if runs_on_device(model)]
    if grid is not None:
        check_choice("grid", grid, GRIDS)
        models = [model for model in models if grid_of(model, grid)]
    if as_published:  # devices lack the paper's solver
        models = [model for model in models if "solver" not in model.as_published]
    activity = "run" if grid is None else "tune"
    manner = " as published" if as_published else ""
    return choose(f"model to {activity} on a device{manner}", wanted, (m.name for m in models))


def runs_on_device(model: Model) -> bool:
    """Return whether a model can be trained on a device, which takes settings that are numbers."""
    if model.n_voters > 1 or isinstance(model.recipe, str) or not model.defaults:
        return False
    return "batches" in recipe_records(*model.recipe)[-1].runs_on


def device_executor(backend: Backend, minutes: float | None = None) -> Executor:
    """Return the executor of a device, for models that `device_models` gives.

    After so many minutes it leaves the rest; what it has begun, and one job, it does in any case.
    """
    end = np.inf
    if minutes is not None:
        end = time.monotonic() + 60 * check_real("minutes", minutes, positive=True)
    return partial(_execute, backend, end)


def _execute(backend: Backend, end: float, jobs: Sequence[Job]) -> Iterator[tuple[Job, Record]]:
    for number, group in enumerate(grouped_by_seed(jobs)):
        # The first is done in any case, so that the same command gets on, however slow its data.
        if number > 0 and time.monotonic() > end:
            return
        try:
            if isinstance(group[0], Run):
                records = run_together(group, backend)
            else:
                records = [search_together(search, backend) for search in group]
        except Exception as error:  # one bad group must not end a study of thousands
            records = [failure(job.description(), error) for job in group]
        yield from zip(group, records, strict=True)


def grouped_by_seed(jobs: Iterable[Job]) -> list[list[Any]]:
    """Return the jobs that share all but the seed together, in the order of the first of each."""
    groups: dict[tuple, list[Job]] = {}
    for job in jobs:
        description = job.description()
        if not runs_on_device(job.model) or "solver" in description:
            raise InputError(f"{job.model.name} cannot be trained on a device with these settings")
        shared = tuple(description[name] for name in KEY if name != "seed")
        groups.setdefault(shared, []).append(job)
    return list(groups.values())


def run_together(runs: Sequence[Run], backend: Backend) -> list[Record]:
    """Return the records of runs that differ in their seed alone."""
    first = runs[0]
    samples = protocols.evaluation_samples(first.data_set, first.split, first.protocol)
    rehearse(first, first.parameters, samples)
    trainer = BatchTrainer(first, [first.parameters], samples, backend)
    results = trainer.train([run.seed for run in runs])
    times = {name: seconds / len(runs) for name, seconds in trainer.seconds.items()}
    return [
        {
            **run.record_with(samples, accuracy=float(accuracy), iterations=int(n_iter), **times),
            "device": backend.kind,
        }
        for run, accuracy, n_iter in zip(runs, *results[:, :, 0], strict=True)
    ]


def search_together(search: GridSearch, backend: Backend) -> Record:
    """Return the record of a search."""
    candidates = search.candidates()
    scores: list[np.ndarray] = []
    for samples, seeds in search.trials():
        try:
            rehearse(search, candidates[0], samples)
        except ValueError:
            scores.extend(np.full((len(seeds), len(candidates)), np.nan))
        else:
            accuracies, _ = BatchTrainer(search, candidates, samples, backend).train(seeds)
            scores.extend(accuracies)
    return search.record_of_best(scores)


def activations(X: np.ndarray, layers: Sequence[Any], backend: Backend) -> Array:
    """Return the activations of layers of one kind and size (layers × samples × units)."""
    if isinstance(layers[0], IntRVFLLayer):
        keys, clips = zip(*((layer.keys_, layer.clip) for layer in layers), strict=True)
        return encoding.encode_integers(X, keys, clips, "float32", backend)
    if isinstance(layers[0], RVFLLayer):
        weights, biases = zip(*((each.weights_, each.biases_) for each in layers), strict=True)
        return encoding.encode_sigmoids(X, weights, biases, backend)
    return backend.array(X[np.newaxis], "float64")


def build(job: Run | GridSearch, parameters: Mapping[str, Any], seed: int = 0) -> Pipeline:
    """Return the model of a job with these parameters, unfitted."""
    return protocols.build(job.model, parameters, seed, job.protocol)


def rehearse(job: Run | GridSearch, parameters: Mapping[str, Any], samples: TrainTest) -> None:
    """Raise what a pipeline would by itself if samples or parameters are wrong.

    All samples are looked at; to train on, one iteration on one of each class is enough.
    """
    pipeline = build(job, parameters).set_params(readout__max_iter=1)
    _, first = np.unique(samples.y_train, return_index=True)
    few = samples._replace(X_train=samples.X_train[first], y_train=samples.y_train[first])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are as many classes as samples
        protocols.fit_quietly(pipeline, few)
    hidden = pipeline.named_steps["hidden"]
    strictest = pipeline[-1] if hidden == "passthrough" else hidden  # scalers let all pass
    may_lack_values = get_tags(strictest).input_tags.allow_nan
    for X in (samples.X_train, samples.X_test):
        check_array(X, ensure_all_finite="allow-nan" if may_lack_values else True, input_name="X")


@dataclass
class BatchTrainer:
    """Trains the models of a job together on a device, and adds up how long that takes."""

    job: Run | GridSearch
    candidates: Sequence[Mapping[str, Any]]
    samples: TrainTest
    backend: Backend
    #: What training and prediction took, by the names of records.
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(TIMES, 0.0))

    def train(self, seeds: Sequence[int]) -> np.ndarray:
        """Return accuracies and iterations (2 × seeds × settings)."""
        with self._timed("fit_seconds"):
            X_train, _, X_test, _ = self.samples
            scaler = build(self.job, self.candidates[0]).named_steps["scale"]
            if scaler != "passthrough":
                X_train, X_test = scaler.fit_transform(X_train), scaler.transform(X_test)
            groups = self._cells_to_train_together(seeds)
        table = np.empty((2, len(seeds), len(self.candidates)))
        for cells in groups:
            layers = [cell.layer for cell in cells]
            with self._timed("fit_seconds"):
                train = activations(X_train, layers, self.backend)
            with self._timed("predict_seconds"):
                test = activations(X_test, layers, self.backend)
            settings = [self.candidates[column] for column in cells[0].columns]
            if self.job.model.is_rls:
                results = self._train_penalties(train, test, [each["alpha"] for each in settings])
            else:
                readouts = [build(self.job, setting)[-1] for setting in settings]
                seeds_of_layers = np.array([seeds[cell.row] for cell in cells])
                results = self._train_prototypes(train, test, readouts, seeds_of_layers)
            for number, cell in enumerate(cells):
                table[:, cell.row, cell.columns] = results[:, number]
        return table

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.backend.wait()
        self.seconds[name] += time.perf_counter() - start

    def _cells_to_train_together(self, seeds: Sequence[int]) -> list[list[Cell]]:
        """Return groups of layers, as many as memory holds, each with its readouts.

        The readouts of RLS are the same for all layers, so that all of one size go together.
        """
        X_train, _, X_test, _ = self.samples
        alike: dict[tuple[int, int], list[Cell]] = {}
        for number, columns in enumerate(group_by_layer(self.candidates)):
            for row, seed in enumerate(seeds):
                layer = build(self.job, self.candidates[columns[0]], seed).named_steps["hidden"]
                layer = None if layer == "passthrough" else layer.fit(X_train[:1])
                n_units = X_train.shape[1] if layer is None else layer.n_units
                kind = n_units, 0 if self.job.model.is_rls else number
                alike.setdefault(kind, []).append(Cell(layer, row, columns))
        groups = []
        for (n_units, _), cells in alike.items():
            layer_bytes = 8 * (len(X_train) + len(X_test)) * n_units
            at_once = max(1, self.backend.batch_bytes // layer_bytes)
            groups += [cells[start : start + at_once] for start in range(0, len(cells), at_once)]
        return groups

    def _train_penalties(self, train: Array, test: Array, alphas: Sequence[float]) -> np.ndarray:
        """Return accuracies and iterations of RLS (2 × layers × penalties)."""
        samples, backend = self.samples, self.backend
        with self._timed("fit_seconds"):
            coefs = rls.train_rls(train, samples.y_train, alphas, backend)
        with self._timed("predict_seconds"):
            classes = np.unique(samples.y_train)
            accuracies = rls.rls_accuracies(coefs, classes, test, samples.y_test, backend)
        # RLSClassifier, too, counts solving directly as one iteration.
        return np.stack([accuracies, np.ones_like(accuracies)])

    def _train_prototypes(
        self, train: Array, test: Array, readouts: Sequence[GLVQClassifier], seeds: np.ndarray
    ) -> np.ndarray:
        """Return accuracies and iterations of GLVQ (2 × layers × readouts), a seed per layer."""
        samples, backend = self.samples, self.backend
        classes, y = np.unique(samples.y_train, return_inverse=True)
        with self._timed("fit_seconds"):
            labelled = glvq.Samples(train, backend.array(y), len(classes))
        slopes = np.array([readout.slope for readout in readouts], dtype=float)
        counts = np.array([readout.prototypes_per_class for readout in readouts])
        init_noise, max_iter = float(readouts[0].init_noise), readouts[0].max_iter
        tol = lbfgs_tolerance(readouts[0].tol)
        table = np.empty((2, len(seeds) * len(readouts)))
        for places in glvq.cut_into_batches(labelled, counts, len(seeds), backend):
            rows, columns = np.divmod(places, len(readouts))
            batch = glvq.GLVQBatch(slopes[columns], counts[columns], seeds[rows], init_noise)
            with self._timed("fit_seconds"):
                trained = glvq.train_glvq(labelled, batch, backend, max_iter, tol)
            with self._timed("predict_seconds"):
                predicted = backend.numpy(glvq.predicted_classes(trained, test, backend))
            accuracies = (classes[predicted] == samples.y_test).mean(axis=2)
            # GLVQClassifier, too, counts finding that the start is a minimum as one iteration.
            table[:, places] = accuracies, np.maximum(backend.numpy(trained.n_iter), 1)
        return table.reshape(2, len(seeds), len(readouts))
