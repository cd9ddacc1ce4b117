"""Grid searches of the study.

The protocol `paper` trains on one half of the scaled file and scores on the other, over several
seeds. As in the paper, these halves overlap with the test samples of the evaluation. The grid
"published" also uses the paper's values, solvers and initial prototypes. The protocol `strict`
cross-validates on the training samples of one split. If a model has `tuning_rows`, it uses that
many of them, and compares the best settings again on a larger part.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from hyperlvq.checks import InputError, check_choice, check_integer
from hyperlvq.readouts import rls_path
from hyperlvq.study import protocol as protocols
from hyperlvq.study import runner
from hyperlvq.study.collection import Collection
from hyperlvq.study.data_set import N_FOLDS, DataSet, stratified_folds, stratified_part
from hyperlvq.study.experiments import LAYER_PARAMETERS, MODELS, Model
from hyperlvq.study.protocol import TrainTest, estimated_seconds, samples_of, scale_file
from hyperlvq.study.records import Job, Record, open_records
from hyperlvq.study.settings import TUNED_FILE, Parameters, RowKey, write_settings

TUNING_NAME = "tuning.jsonl"
PUBLISHED = "published"
GRIDS = ("full", "quick", PUBLISHED)
# Where settings are compared on a part of the samples: one in so many goes on, but at least so many
# do, to be compared on so many times the samples.
ONE_FINALIST_IN = 7
FEWEST_FINALISTS = 3
MORE_ROWS = 4
# Means of equal accuracies differ in their last bits.
DECIMALS = 9


@dataclass(frozen=True)
class GridSearch(Job):
    """All settings of a grid for one model on one data set (and split)."""

    grid: str
    reused: Mapping[str, Any]
    split: int | None
    n_seeds: int

    @property
    def n_trials(self) -> int:
        """How often every setting is trained and scored."""
        if self.split is not None:
            return N_FOLDS
        return self.model.n_initialisations(self.shared, self.n_seeds)

    @property
    def most_rows(self) -> int | None:
        """How many training samples settings are compared on at most, None for all."""
        return None if self.split is None else self.model.tuning_rows

    @property
    def shared(self) -> Parameters:
        """What all settings have."""
        given = self.model.as_published if self.grid == PUBLISHED else {}
        return {**given, **self.reused, **self.model.limits.get(self.grid, {})}

    def description(self) -> Record:
        return {
            **super().description(),
            "split": self.split,
            "seed": None,
            "n_trials": self.n_trials,
            "grid": self.grid,
            "values": values_of_grid(self.model, self.grid),
            **self.shared,
            **({"tuning_rows": self.most_rows} if self.most_rows else {}),
        }

    def seconds(self) -> float:
        n_samples, *others = self.data_set.sizes
        sizes = min(n_samples // 2, self.most_rows or n_samples), *others
        candidates = self.candidates()
        trained = [candidates[group[0]] for group in trained_together(self.model, candidates)]
        if "solver" in self.shared:  # which solves for one penalty at a time
            trained = candidates
        return self.n_trials * sum(estimated_seconds(self.model, each, *sizes) for each in trained)

    def result(self) -> Record:
        """Train and score every setting, then the best once more if there are more samples."""
        trials = [(samples, seed) for samples, seeds in self.trials() for seed in seeds]
        candidates = self.candidates()
        record = self.record_of_best([score(self, *trial, candidates) for trial in trials])
        return {**record, **self.best_of_finals(record)}

    def record_of_best(self, scores_of_trials: Sequence[np.ndarray]) -> Record:
        """Return its record from the accuracies of the settings: the first of the best wins.

        A setting counts by those of its trials in which it could be trained.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # that no trial had a score
            scores = np.nanmean(scores_of_trials, axis=0)
        if np.isnan(scores).all():
            raise InputError(f"no setting of {self.model.name} can be trained")
        best = int(np.nanargmax(scores.round(DECIMALS)))
        return {
            **self.description(),
            **self.candidates()[best],
            "accuracy": float(scores[best]),
            "scores": [None if np.isnan(score) else round(float(score), 6) for score in scores],
            "iterations": None,
            "error": None,
        }

    def best_of_finals(self, record: Record) -> Record:
        """Return the best of the best settings on more samples than before, if there are more.

        What is best on few samples of many may be far from it on all.
        """
        rows = self.training_rows()
        if self.most_rows is None or len(rows) <= self.most_rows:
            return {}
        X, y = self.data_set.X, self.data_set.y
        rows = stratified_part(rows, y[rows], MORE_ROWS * self.most_rows)
        samples = samples_of(X, y, next(stratified_folds(rows, y[rows])))
        best_first = np.argsort(-np.array(record["scores"], dtype=float), kind="stable")
        n_finalists = max(FEWEST_FINALISTS, len(best_first) // ONE_FINALIST_IN)
        finalists = [self.candidates()[index] for index in best_first[:n_finalists]]
        scores = np.nan_to_num(score(self, samples, 0, finalists))
        return {**finalists[int(scores.argmax())], "accuracy": float(scores.max())}

    def candidates(self) -> list[Parameters]:
        """Return every setting of the grid, with what all of them share."""
        settings = settings_of_grid(grid_of(self.model, self.grid))
        return [{**self.shared, **setting} for setting in settings]

    def training_rows(self) -> np.ndarray:
        """Return the rows that settings may be compared on."""
        data = self.data_set
        return (data.tuning if self.split is None else data.splits[self.split]).train

    def trials(self) -> Iterator[tuple[TrainTest, list[int]]]:
        """Yield the samples to train and score on, each with its seeds."""
        X, y = self.data_set.X, self.data_set.y
        if self.split is None:
            yield samples_of(scale_file(X), y, self.data_set.tuning), [*range(self.n_trials)]
            return
        rows = self.training_rows()
        if self.most_rows:
            rows = stratified_part(rows, y[rows], self.most_rows)
        for fold, inner in enumerate(stratified_folds(rows, y[rows])):
            yield samples_of(X, y, inner), [fold]


def grid_of(model: Model, grid: str) -> Mapping[str, tuple]:
    """Return the values to try of each parameter."""
    grids = {"full": model.grid, "quick": model.quick_grid, PUBLISHED: model.published_grid}
    return grids[grid]


def reuse_of(model: Model, grid: str) -> Mapping[str, str]:
    """Return the columns that a model takes parameters from; those of the quick grid need none."""
    return {} if grid == "quick" else model.reuse


def values_of_grid(model: Model, grid: str) -> dict[str, list]:
    """Return the values to try as a record keeps them."""
    return {name: list(values) for name, values in grid_of(model, grid).items()}


def settings_of_grid(values: Mapping[str, tuple]) -> list[Parameters]:
    """Return every combination of the values, the last parameter changing fastest."""
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def group_by_layer(candidates: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Return the indices of candidates that share a hidden layer."""
    groups: dict[tuple, list[int]] = {}
    for index, candidate in enumerate(candidates):
        layer = tuple(candidate.get(name) for name in LAYER_PARAMETERS)
        groups.setdefault(layer, []).append(index)
    return list(groups.values())


def trained_together(model: Model, candidates: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Return the indices of candidates by training: one of RLS serves all penalties of a layer."""
    return group_by_layer(candidates) if model.is_rls else [[i] for i in range(len(candidates))]


def score(
    search: GridSearch, samples: TrainTest, seed: int, candidates: Sequence[Parameters]
) -> np.ndarray:
    """Return the accuracy of every candidate, NaN where it cannot be trained.

    More neighbours than samples, say: the grid then is smaller, not the search over.
    """
    scores = np.full(len(candidates), np.nan)
    for group in trained_together(search.model, candidates):
        pipeline = protocols.build(search.model, candidates[group[0]], seed, search.protocol)
        with suppress(ValueError):
            if search.model.is_rls:
                alphas = [candidates[index]["alpha"] for index in group]
                predicted = predict_by_penalty(pipeline, samples, alphas)
            else:
                protocols.fit_quietly(pipeline, samples)
                predicted = pipeline.predict(samples.X_test)
            scores[group] = (predicted == samples.y_test).mean(axis=-1)
    return scores


def predict_by_penalty(
    pipeline: Pipeline, samples: TrainTest, alphas: Sequence[float]
) -> np.ndarray:
    """Predict the classes of the test samples by RLS, with each penalty.

    Exact solutions share a decomposition. The cutoff of the pseudo-inverse depends on the penalty.
    """
    encoded, readout = pipeline[:-1].fit_transform(samples.X_train), clone(pipeline[-1])
    if readout.solver == "pinv":
        fits = (readout.set_params(alpha=alpha).fit(encoded, samples.y_train) for alpha in alphas)
        coefs = np.array([fitted.coef_ for fitted in fits])
    else:
        coefs = rls_path(encoded, samples.y_train, alphas)
    outputs = pipeline[:-1].transform(samples.X_test) @ np.swapaxes(coefs, 1, 2)
    return np.unique(samples.y_train)[outputs.argmax(axis=2)]


def tune_study(
    source: Collection,
    folder: str | Path,
    *,
    models: Sequence[str] | None = None,
    sets: Sequence[str] | None = None,
    grid: str = "full",
    n_seeds: int = 5,
    protocol: str = "paper",
    executor: runner.Executor | None = None,
) -> Iterator[runner.Step]:
    """Tune what a folder lacks; yield each record, and at the end write the settings file.

    All models with a grid are tuned by default. The grid "published" is the paper's own search, in
    its protocol. `n_seeds` is for the protocol "paper"; "strict" has one seed per fold.
    """
    check_choice("protocol", protocol, protocols.PROTOCOLS)
    check_choice("grid", grid, GRIDS)
    if grid == PUBLISHED and protocol != "paper":
        raise InputError(f"the search as published has the protocol 'paper', got {protocol!r}")
    check_integer("n_seeds", n_seeds, minimum=1)
    tunable = [model.name for model in MODELS.values() if grid_of(model, grid)]
    chosen = [MODELS[name] for name in runner.choose("model with a grid", models, tunable)]
    names = runner.choose("data set", sets, source.names())
    data_sets, unreadable = runner.load_sets(source, names)
    with open_records(folder, TUNING_NAME) as records:
        runner.check_protocol(protocol, records.records)
        for line, record in enumerate(records.records, 1):
            if not _is_of_search(record):
                fault = "not a record of a search over the present grids"
                raise InputError(f"{TUNING_NAME}, line {line}: {fault}")
            _check_same_kind(grid, record)
        _check_reuse(chosen, grid, records.records)
        yield from runner.note_unreadable(unreadable, protocol, records)
        # First the models that tune everything themselves, then those that reuse what these found.
        for is_reusing in (False, True):
            wave = [model for model in chosen if bool(reuse_of(model, grid)) == is_reusing]
            found = found_settings(records.records)
            searches = plan_searches(wave, data_sets, grid, n_seeds, protocol, found)
            yield from runner.do_missing(searches, records, executor)
            if runner.missing_jobs(searches, records.records):  # what does them ran out of time
                return
        tuning = PUBLISHED if grid == PUBLISHED else protocol
        write_settings(Path(folder) / TUNED_FILE, found_settings(records.records), tuning)


def plan_searches(
    models: Iterable[Model],
    data_sets: Iterable[DataSet],
    grid: str,
    n_seeds: int,
    protocol: str,
    found: Mapping[RowKey, Parameters],
) -> list[GridSearch]:
    """Return the searches of a wave, less those that would reuse what could not be found."""
    searches = []
    for model, data_set in product(models, data_sets):
        for split in [None] if protocol == "paper" else range(len(data_set.splits)):
            known = found.get((data_set.name, split), {})
            reused = {name: known.get(column) for name, column in reuse_of(model, grid).items()}
            if None not in reused.values():
                searches.append(GridSearch(data_set, model, protocol, grid, reused, split, n_seeds))
    return searches


def _check_same_kind(grid: str, record: Record) -> None:
    """Raise if settings found as published would be mixed with others."""
    other = record.get("grid", grid)
    if other != grid and PUBLISHED in (other, grid):
        raise InputError(f"the folder has a search of grid {other!r}, not {grid!r}: take another")


def _check_reuse(models: Sequence[Model], grid: str, records: Iterable[Record]) -> None:
    """Raise if a model reuses what no other one here tunes or has tuned."""
    names = {model.name for model in models} | {record["model"] for record in records}
    tuned = {column for name in names if name for column in MODELS[name].columns.values()}
    for model in models:
        for column in reuse_of(model, grid).values():
            if column not in tuned:
                fault = f"{model.name} reuses {column}"
                raise InputError(f"{fault}: also tune the model that it belongs to")


def found_settings(records: Iterable[Record]) -> dict[RowKey, Parameters]:
    """Return the best values by data set, split and column; None where the search failed."""
    found: dict[RowKey, Parameters] = {}
    for record in records:
        if record["model"] is not None:
            columns = MODELS[record["model"]].columns
            failed = record["error"] is not None
            values = {column: None if failed else record[name] for name, column in columns.items()}
            found.setdefault((record["dataset"], record["split"]), {}).update(values)
    return found


def _is_of_search(record: Record) -> bool:
    if record.get("error") is not None:
        return record["model"] in (None, *MODELS)
    model, scores = MODELS.get(record["model"]), record.get("scores")
    if model is None or record.get("grid") not in GRIDS or not isinstance(scores, list):
        return False
    return (
        "error" in record
        and all(isinstance(record.get(name), int | float) for name in model.columns)
        and record.get("values") == values_of_grid(model, record["grid"])
        and len(scores) == len(settings_of_grid(grid_of(model, record["grid"])))
        and all(isinstance(score, int | float | None) for score in scores)
    )


def best_single_settings(records: Iterable[Record]) -> dict[str, tuple[Parameters, float, int]]:
    """Return for each model the setting that is best over all its searches.

    With it stand its mean accuracy and the number of searches. A setting that cannot be trained on
    a set has no sample of it right. Models whose grids differ between sets, since they reuse
    values, are left out.
    """
    scores: dict[tuple[str, str], list[list[float]]] = {}
    for record in records:
        if record["error"] is None:
            accuracies = [score or 0.0 for score in record["scores"]]
            scores.setdefault((record["model"], record["grid"]), []).append(accuracies)
    best = {}
    for (name, grid), rows in scores.items():
        if not reuse_of(MODELS[name], grid):
            means = np.mean(rows, axis=0)
            settings = settings_of_grid(grid_of(MODELS[name], grid))
            best[name] = settings[int(means.argmax())], float(means.max()), len(rows)
    return best
