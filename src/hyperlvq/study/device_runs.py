"""Runs on a device: all seeds of a model on a split trained together, one split after the other.

The runs and their records are those of `runner`; only how the models are trained differs, so the
accuracies agree up to rounding and, for GLVQ, where it stops.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from hyperlvq.batched import Backend
from hyperlvq.checks import InputError
from hyperlvq.readouts import GLVQClassifier, RLSClassifier
from hyperlvq.study import protocol as protocols
from hyperlvq.study.device import (
    Layer,
    Outcome,
    Seconds,
    chunks,
    end_after,
    fitted_layer,
    layers_at_once,
    rehearse,
    runs_on_device,
    scaled,
    size_of,
    timed,
    try_penalties,
    try_prototypes,
    until,
)
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.protocol import Part
from hyperlvq.study.records import TIMES, Record
from hyperlvq.study.runner import DataSource, Job, Progress, Run, choose, run_study
from hyperlvq.study.settings import Settings


def run_study_on_device(
    source: DataSource,
    folder: str | Path,
    backend: Backend,
    *,
    models: Sequence[str] | None = None,
    sets: Sequence[str] | None = None,
    settings: Settings | None = None,
    n_seeds: int = 5,
    protocol: str = "paper",
    retry_failed: bool = False,
    minutes: float | None = None,
) -> Iterator[Progress]:
    """Run what a folder lacks of a study, as `run_study` does, on a device.

    Parameters
    ----------
    source, folder, sets, settings, n_seeds, protocol, retry_failed
        As for `run_study`; published settings of RLS, whose solver devices lack, are refused.
    backend : Backend
        What `hyperlvq.batched.open_backend` gives.
    models : sequence of str, default=None
        Names of models of RLS and GLVQ; all of them by default.
    minutes : float, default=None
        When to stop: the runs that are on the device then are the last.

    Yields
    ------
    progress : Progress
        The record and how much is done; the records of earlier runs are not repeated.
    """
    end = end_after(minutes)
    able = [model.name for model in MODELS.values() if runs_on_device(model)]
    models = choose("model to run on a device", models, able)
    if settings is not None:
        check_solvers(settings, models, choose("data set", sets, source.names()))
    return run_study(
        source,
        folder,
        models=models,
        sets=sets,
        settings=settings,
        n_seeds=n_seeds,
        protocol=protocol,
        retry_failed=retry_failed,
        run_jobs=partial(run_groups, backend=backend, end=end),
    )


def check_solvers(settings: Settings, models: Iterable[str], sets: Iterable[str]) -> None:
    """Raise if settings ask for a solver of least squares that is not there on a device."""
    names = set(sets)
    rows = [(dataset, split or 0) for dataset, split in settings.rows if dataset in names]
    for model in models:
        for row in rows:
            choice = settings.choose(MODELS[model], *row)
            if choice is not None and "solver" in choice.parameters:
                raise InputError(
                    f"{model} cannot run on a device with the settings {settings.name}: without a "
                    "column 'tuning' they are taken for published ones, whose solver "
                    f"{choice.parameters['solver']!r} runs on cores only; name other models"
                )


def run_groups(
    function: Callable[[Any], Any], jobs: Sequence[Job], backend: Backend, end: float
) -> Iterator[tuple[Job, Record]]:
    """Yield every job and its record, those that differ in their seed alone after each other."""
    for group in until(end, grouped(jobs)):
        yield from zip(group, records_of(function, group, backend), strict=True)


def grouped(jobs: Iterable[Job]) -> list[list[Any]]:
    """Return the jobs that share all but the seed together, in the order of the first of each."""
    groups: dict[tuple, list[Job]] = {}
    for job in jobs:
        shared = tuple(item for item in job.description().items() if item[0] != "seed")
        groups.setdefault(shared, []).append(job)
    return list(groups.values())


def records_of(
    function: Callable[[Any], Any], group: Sequence[Any], backend: Backend
) -> list[Record]:
    """Return the records of a group, whatever happens in it."""
    if not isinstance(group[0], Run):
        return [function(job) for job in group]
    try:
        return evaluate_together(group, backend)
    except Exception as error:  # one bad group must not end a study of thousands
        return [protocols.failure(run.description(), error) for run in group]


def evaluate_together(runs: Sequence[Run], backend: Backend) -> list[Record]:
    """Return the records of runs that differ in their seed alone."""
    first = runs[0]
    part = protocols.evaluation_part(first.data_set, first.split, first.protocol)
    rehearse(pipeline_of(first), part)
    outcome = train_together(runs, part, backend)
    times = {name: outcome.seconds[name] / len(runs) for name in TIMES}
    return [
        {
            **run.record_of(part, accuracy=float(accuracy), iterations=int(iterations), **times),
            "device": backend.kind,
        }
        for run, accuracy, iterations in zip(
            runs, outcome.accuracies[:, 0], outcome.iterations[:, 0], strict=True
        )
    ]


def pipeline_of(run: Run) -> Pipeline:
    """Return the model of a run, unfitted."""
    return protocols.build(run.model, run.parameters, run.seed, run.protocol)


def train_together(runs: Sequence[Run], part: Part, backend: Backend) -> Outcome:
    """Return how the runs did (runs × 1), trained as many at once as memory holds."""
    seconds: Seconds = defaultdict(float)
    with timed(seconds, "fit_seconds", backend):
        pipelines = [pipeline_of(run) for run in runs]
        part = scaled(pipelines[0], part)
        layers = [fitted_layer(pipeline, part) for pipeline in pipelines]
    at_once = layers_at_once(part, size_of(layers[0], part), backend)
    numbered = list(zip(layers, [run.seed for run in runs], strict=True))
    readout = pipelines[0][-1]
    outcomes = [try_readout(readout, part, some, backend) for some in chunks(numbered, at_once)]
    for name in TIMES:
        seconds[name] += sum(outcome.seconds[name] for outcome in outcomes)
    accuracies, iterations, _ = zip(*outcomes, strict=True)
    return Outcome(np.concatenate(accuracies), np.concatenate(iterations), seconds)


def try_readout(
    readout: RLSClassifier | GLVQClassifier,
    part: Part,
    layers_and_seeds: Sequence[tuple[Layer, int]],
    backend: Backend,
) -> Outcome:
    """Train and test a readout on every layer, with the seed of that."""
    layers, seeds = zip(*layers_and_seeds, strict=True)
    if isinstance(readout, RLSClassifier):
        return try_penalties(part, layers, [readout.alpha], backend)
    return try_prototypes(part, layers, [readout], seeds, backend)
