"""From records to accuracies: one figure a data set and model, and what could not be had."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from hyperlvq.checks import InputError
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.records import KEY, RECORDS_NAME, Record

RUN = ["dataset", "model", "seed"]
SIZES = ("n_splits", "n_train", "n_test", "n_features", "n_classes", "n_units")
LARGEST_SIZE = 10**12


@dataclass(frozen=True)
class Failure:
    """Runs of a model on a data set without a result; `model` is None for the whole set."""

    dataset: str
    model: str | None
    n_runs: int
    reason: str


@dataclass(frozen=True)
class Study:
    """What the records of a study come to.

    `accuracies` and `n_seeds` have a row a data set and a column a model. A seed counts for a data
    set only where no split of it is missing: splits differ in difficulty, and a mean over some of
    them is no estimate of the mean over all. `solvers` are those of RLS that records name,
    `noises` those of the start of GLVQ.
    """

    protocol: str
    sources: frozenset[str]
    settings: str | None
    solvers: frozenset[str]
    noises: frozenset[float]
    accuracies: pd.DataFrame
    n_seeds: pd.DataFrame
    failures: list[Failure]


def summarise_records(records: Iterable[Record]) -> Study:
    """Average accuracies over splits, then over seeds; raise InputError where that has no sense."""
    frame = _latest(records)
    protocol = _single_protocol(frame)
    runs = frame[frame["model"].notna()]
    seen, stated = (
        runs.groupby("dataset")["split"].nunique(),
        runs.groupby("dataset")["n_splits"].max(),
    )
    n_splits = stated.fillna(seen)
    by_seed = runs.groupby(RUN)["accuracy"].agg(["mean", "count", "size"])
    expected = by_seed.index.get_level_values("dataset").map(n_splits)
    complete = by_seed.loc[by_seed["count"] == expected, "mean"].groupby(["dataset", "model"])
    if not len(complete):
        raise InputError(f"{RECORDS_NAME} holds no complete result: every run failed or is missing")
    return Study(
        protocol=protocol,
        sources=frozenset(runs["source"].dropna().unique()),
        settings=" and ".join(sorted(frame["settings"].dropna().unique())) or None,
        solvers=frozenset(runs["solver"].dropna().unique()),
        noises=frozenset(runs["init_noise"].dropna().unique()),
        accuracies=_data_sets_by_models(complete.mean()),
        n_seeds=_data_sets_by_models(complete.count()),
        failures=[*_failures(frame), *_missing(by_seed, expected)],
    )


def _latest(records: Iterable[Record]) -> pd.DataFrame:
    """Return the records as a table; where one was run again, the last counts."""
    fields = (*KEY, "accuracy", "error", "settings", "source", "solver", "init_noise", "n_splits")
    rows = [_checked(record, line) for line, record in enumerate(records, 1)]
    frame = pd.DataFrame([[row.get(name) for name in fields] for row in rows], columns=fields)
    frame = frame.astype({"accuracy": float, "n_splits": float})
    return frame.drop_duplicates(list(KEY), keep="last")


def _checked(record: Record, line: int) -> Record:
    def refuse(name: str, expected: str) -> InputError:
        return InputError(
            f"{RECORDS_NAME}, line {line}: {name} must be {expected}, got {record.get(name)!r}"
        )

    for name in ("protocol", "dataset"):
        if not isinstance(record[name], str):
            raise refuse(name, "a name")
    for name in ("split", "seed"):
        if not isinstance(record[name], int | str | None):
            raise refuse(name, "a number or a name")
    if record["model"] is not None and record["model"] not in tuple(MODELS):
        raise refuse("model", f"one of {', '.join(MODELS)}")
    if not _is_accuracy(record.get("accuracy")):
        raise refuse("accuracy", "a number from 0 to 1")
    for name in ("settings", "source", "solver"):
        if not isinstance(record.get(name), str | None):
            raise refuse(name, "a name")
    for name in SIZES:
        if not _is_size(record.get(name)):
            raise refuse(name, "a whole number of at least 1")
    return record


def _is_size(value: Any) -> bool:
    """Return whether a value is a number of things, or none where a record does not say."""
    return value is None or (type(value) is int and 1 <= value <= LARGEST_SIZE)


def _is_accuracy(value: Any) -> bool:
    """Return whether a value is an accuracy, or none for a run that failed."""
    if value is None:
        return True
    # NaN compares false with every bound.
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _single_protocol(frame: pd.DataFrame) -> str:
    protocols = sorted(frame["protocol"].unique())
    if not protocols:
        raise InputError(f"{RECORDS_NAME} holds no records")
    if len(protocols) > 1:
        listed = " and ".join(protocols)
        raise InputError(f"{RECORDS_NAME} mixes the protocols {listed}: a report is of one")
    return protocols[0]


def _data_sets_by_models(values: pd.Series) -> pd.DataFrame:
    table = values.unstack("model")
    return table[[name for name in MODELS if name in table.columns]].sort_index()


def _failures(frame: pd.DataFrame) -> list[Failure]:
    """Return the errors that no later success on the same data set has overtaken."""
    has_run = frame[frame["accuracy"].notna()]
    last_success = has_run.index.to_series().groupby(has_run["dataset"]).max()
    overtaken = frame["model"].isna() & (frame.index < frame["dataset"].map(last_success).fillna(0))
    failed = frame[frame["accuracy"].isna() & ~overtaken].copy()
    failed["error"] = failed["error"].fillna("no accuracy and no error recorded").astype(str)
    groups = failed.groupby(["dataset", "model", "error"], dropna=False).size()
    return [
        Failure(dataset, None if pd.isna(model) else model, int(count), error)
        for (dataset, model, error), count in groups.items()
    ]


def _missing(by_seed: pd.DataFrame, expected: pd.Index) -> list[Failure]:
    lacking = (expected - by_seed["size"])[by_seed["size"] < expected]
    return [
        Failure(dataset, model, int(count), f"not run yet; seed {seed:g} is left out")
        for (dataset, model, seed), count in lacking.items()
    ]
