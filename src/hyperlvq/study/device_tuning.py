"""Tuning on a device: all settings of a grid trained together, on one data set after the other.

The searches, their records and the settings file are those of `tuning`; only how the settings are
trained differs, so the accuracies agree up to rounding and, for GLVQ, where it stops.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from hyperlvq.batched import Backend
from hyperlvq.checks import check_choice
from hyperlvq.readouts import GLVQClassifier
from hyperlvq.study import protocol as protocols
from hyperlvq.study.device import (
    Layer,
    chunks,
    end_after,
    fitted_layer,
    layers_at_once,
    rehearse,
    runs_on_device,
    scaled,
    size_of,
    try_penalties,
    try_prototypes,
    until,
)
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.protocol import Part
from hyperlvq.study.runner import DataSource, Progress, choose
from hyperlvq.study.settings import Parameters
from hyperlvq.study.tuning import (
    GRIDS,
    Search,
    grid_of,
    group_by_layer,
    tune_study,
    tuning_trials,
)

LAYER_PARAMETERS = ("n_units", "clip")


def tune_on_device(
    source: DataSource,
    folder: str | Path,
    backend: Backend,
    *,
    models: Sequence[str] | None = None,
    sets: Sequence[str] | None = None,
    grid: str = "full",
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
    end = end_after(minutes)
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
    """Yield (job, function(job)) one after the other until time is up."""
    for job in until(end, jobs):
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
        score = score_penalties if self.model.is_rls else score_prototypes
        scores: list[np.ndarray] = []
        for part, seeds in trials_by_part(self):
            table = np.full((len(seeds), len(candidates)), np.nan)
            if can_be_trained(build(self, candidates[0]), part):
                score(self, candidates, part, seeds, table)
            scores.extend(table)
        return scores


def can_be_trained(pipeline: Pipeline, part: Part) -> bool:
    """Say whether there is something to learn from the samples."""
    try:
        rehearse(pipeline, part)
    except ValueError:
        return False
    return True


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
    part = scaled(build(search, {}), part)
    by_size: dict[int, list[Cell]] = {}
    for others, columns in group_by_layer(candidates).items():
        for row, seed in enumerate(seeds):
            layer = fitted_layer(build(search, dict(others), seed), part)
            by_size.setdefault(size_of(layer, part), []).append(Cell(layer, row, columns))
    for n_units, cells in by_size.items():
        for some in chunks(cells, layers_at_once(part, n_units, search.backend)):
            layers = [cell.layer for cell in some]
            alphas = [candidates[column]["alpha"] for column in some[0].columns]
            outcome = try_penalties(part, layers, alphas, search.backend)
            for cell, scores in zip(some, outcome.accuracies, strict=True):
                table[cell.row, cell.columns] = scores


def score_prototypes(
    search: DeviceSearch,
    candidates: Sequence[Parameters],
    part: Part,
    seeds: Sequence[int],
    table: np.ndarray,
) -> None:
    """Write the accuracy of every seed and candidate of GLVQ; each seed has a layer of its own."""
    part = scaled(build(search, {}), part)
    readouts = [readout_of(search, candidate) for candidate in candidates]
    for columns in columns_by_layer(candidates):
        setting = layer_setting(candidates[columns[0]])
        layers = [fitted_layer(build(search, setting, seed), part) for seed in seeds]
        at_once = layers_at_once(part, size_of(layers[0], part), search.backend)
        for rows in chunks(range(len(seeds)), at_once):
            chosen = [readouts[column] for column in columns]
            some, of_rows = ([items[row] for row in rows] for items in (layers, seeds))
            outcome = try_prototypes(part, some, chosen, of_rows, search.backend)
            table[np.ix_(rows, columns)] = outcome.accuracies


def readout_of(search: Search, candidate: Parameters) -> GLVQClassifier:
    """Return the readout a candidate stands for, unfitted."""
    return build(search, {**candidate, **search.limits()})[-1]


def build(search: Search, setting: Parameters, seed: int = 0) -> Pipeline:
    """Return the model of a search with a setting."""
    return protocols.build(search.model, setting, seed, search.protocol)


def layer_setting(candidate: Parameters) -> Parameters:
    """Return the parameters of a candidate's hidden layer."""
    return {name: candidate[name] for name in LAYER_PARAMETERS if name in candidate}


def columns_by_layer(candidates: Sequence[Parameters]) -> list[list[int]]:
    """Return the indices of candidates that share a hidden layer."""
    groups: dict[tuple, list[int]] = {}
    for index, candidate in enumerate(candidates):
        groups.setdefault(tuple(layer_setting(candidate).items()), []).append(index)
    return list(groups.values())
