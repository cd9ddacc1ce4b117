"""Accuracies by data set and model: ours from records, the paper's from its file, and both."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hyperlvq.checks import InputError
from hyperlvq.report.statistics import pearson
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.records import KEY, N_BINS, RECORDS_NAME, Record
from hyperlvq.study.settings import read_table_of_sets

RUN = ["dataset", "model", "seed"]
SIZES = ("n_splits", "n_train", "n_test", "n_features", "n_classes", "n_units")
NAMES = ("settings", "source", "solver")
LARGEST_SIZE = 10**12
PAPER_SUFFIX = "_paper"
#: The columns of a published file by model.
PUBLISHED = {name: model.accuracy_column for name, model in MODELS.items() if model.accuracy_column}
#: What a field must be beyond what `read_records` sees to, for those that a record states.
CHECKS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "model": (f"one of {', '.join(MODELS)}", lambda value: value in tuple(MODELS)),
    # NaN compares false with every bound.
    "accuracy": ("a number from 0 to 1", lambda value: _is_number(value) and 0 <= value <= 1),
    **dict.fromkeys(
        ("init_noise", "log_loss", "fit_seconds"),
        ("a number of at least 0", lambda value: _is_number(value) and 0 <= value < inf),
    ),
    "confidence_bins": (f"{N_BINS} times three numbers", lambda value: _are_bins(value)),
    **dict.fromkeys(NAMES, ("a name", lambda value: isinstance(value, str))),
    **dict.fromkeys(SIZES, ("a whole number of at least 1", lambda value: _is_size(value))),
}


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

    `accuracies` and `n_seeds` have a row per data set and a column per model. A seed counts for a
    data set only where no split of it is missing: splits differ in difficulty, and a mean over some
    of them is no estimate of the mean over all. So have `log_losses` and `fit_seconds`, the time
    of one training, NaN where records lack them; `n_train` has the training samples of a split.
    `reliability` has ten rows per model with probabilities, one for each tenth of confidence: the
    share of the samples, their mean confidence and how often they were right, every run counting
    the same. `solvers` are those of RLS that records name, `noises` those of the start of GLVQ.
    """

    protocol: str
    sources: frozenset[str]
    settings: str | None
    solvers: frozenset[str]
    noises: frozenset[float]
    accuracies: pd.DataFrame
    n_seeds: pd.DataFrame
    log_losses: pd.DataFrame
    fit_seconds: pd.DataFrame
    n_train: pd.Series
    reliability: dict[str, pd.DataFrame]
    failures: list[Failure]


@dataclass(frozen=True)
class Published:
    """What someone else measured: accuracies by data set and model, and all cells by name."""

    accuracies: pd.DataFrame
    rows: list[dict[str, str]]


def summarise_records(records: Iterable[Record]) -> Study:
    """Average accuracies over splits, then over seeds; raise InputError where that has no sense."""
    frame = _latest(records)
    protocols = sorted(frame["protocol"].unique())
    if not protocols:
        raise InputError(f"{RECORDS_NAME} holds no records")
    if len(protocols) > 1:
        listed = " and ".join(protocols)
        raise InputError(f"{RECORDS_NAME} mixes the protocols {listed}: a report is of one")
    runs = frame[frame["model"].notna()]
    by_set = runs.groupby("dataset")
    n_splits = by_set["n_splits"].max().fillna(by_set["split"].nunique())
    complete, log_losses, fit_seconds = (
        _means_of_seeds(runs, column, n_splits).groupby(["dataset", "model"])
        for column in ("accuracy", "log_loss", "fit_seconds")
    )
    if not len(complete):
        raise InputError(f"{RECORDS_NAME} holds no complete result: every run failed or is missing")
    n_runs = runs.groupby(RUN).size()
    lacking = n_runs.index.get_level_values("dataset").map(n_splits) - n_runs
    missing = [
        Failure(dataset, model, int(count), f"not run yet; seed {seed:g} is left out")
        for (dataset, model, seed), count in lacking[lacking > 0].items()
    ]
    accuracies = _data_sets_by_models(complete.mean())
    return Study(
        protocol=protocols[0],
        sources=frozenset(runs["source"].dropna()),
        settings=" and ".join(sorted(frame["settings"].dropna().unique())) or None,
        solvers=frozenset(runs["solver"].dropna()),
        noises=frozenset(runs["init_noise"].dropna()),
        accuracies=accuracies,
        n_seeds=_data_sets_by_models(complete.count()),
        log_losses=_data_sets_by_models(log_losses.mean()).reindex_like(accuracies),
        fit_seconds=_data_sets_by_models(fit_seconds.mean()).reindex_like(accuracies),
        n_train=by_set["n_train"].max().reindex(accuracies.index),
        reliability=_reliability(runs),
        failures=[*_failures(frame), *missing],
    )


def _means_of_seeds(runs: pd.DataFrame, column: str, n_splits: pd.Series) -> pd.Series:
    """Return the means over splits by data set, model and seed, where no split is missing."""
    by_seed = runs.groupby(RUN)[column].agg(["mean", "count"])
    expected = by_seed.index.get_level_values("dataset").map(n_splits)
    return by_seed.loc[by_seed["count"] == expected, "mean"]


def _reliability(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    with_bins = runs[runs["confidence_bins"].notna()]
    found = {}
    for name in (name for name in MODELS if name in set(with_bins["model"])):
        bins = np.array(with_bins.loc[with_bins["model"] == name, "confidence_bins"].tolist())
        shares = (bins / bins[:, :, :1].sum(axis=1, keepdims=True)).mean(axis=0)
        table = pd.DataFrame(shares, columns=["share", "confidence", "right"])
        for column in ("confidence", "right"):
            table[column] /= table["share"].where(table["share"] > 0)
        found[name] = table
    return found


def _latest(records: Iterable[Record]) -> pd.DataFrame:
    """Return the records as a table; where one was run again, the last counts."""
    numbers = ("accuracy", "log_loss", "fit_seconds", "n_splits", "n_train")
    fields = (*KEY, *numbers, "error", *NAMES, "init_noise", "confidence_bins")
    rows = []
    for line, record in enumerate(records, 1):
        for name, (expected, is_right) in CHECKS.items():
            value = record.get(name)
            if value is not None and not is_right(value):
                fault = f"{name} must be {expected}, got {value!r}"
                raise InputError(f"{RECORDS_NAME}, line {line}: {fault}")
        rows.append([record.get(name) for name in fields])
    frame = pd.DataFrame(rows, columns=fields).astype(dict.fromkeys(numbers, float))
    return frame.drop_duplicates(list(KEY), keep="last")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_size(value: Any) -> bool:
    return type(value) is int and 1 <= value <= LARGEST_SIZE


def _are_bins(value: Any) -> bool:
    """Return whether a value is a list of bins, not all of them empty."""
    return (
        isinstance(value, list)
        and len(value) == N_BINS
        and all(
            isinstance(each, list)
            and len(each) == 3
            and all(_is_number(number) and 0 <= number < inf for number in each)
            for each in value
        )
        and any(samples > 0 for samples, *_ in value)
    )


def _data_sets_by_models(values: pd.Series) -> pd.DataFrame:
    table = values.unstack("model")
    return table[[name for name in MODELS if name in table.columns]].sort_index()


def _failures(frame: pd.DataFrame) -> list[Failure]:
    """Return the errors that no later success on the same data set has overtaken."""
    has_run = frame[frame["accuracy"].notna()]
    last_success = has_run.index.to_series().groupby(has_run["dataset"]).max()
    overtaken = frame["model"].isna() & (frame.index < frame["dataset"].map(last_success).fillna(0))
    failed = frame[frame["accuracy"].isna() & ~overtaken]
    reasons = failed["error"].fillna("no accuracy and no error recorded").astype(str)
    groups = failed.groupby(["dataset", "model", reasons], dropna=False).size()
    return [
        Failure(dataset, None if pd.isna(model) else model, int(count), reason)
        for (dataset, model, reason), count in groups.items()
    ]


def read_published(path: str | Path) -> Published:
    """Read a published file; raise InputError with its line and column where it is wrong."""
    header, rows = read_table_of_sets(path)
    known = {name: column for name, column in PUBLISHED.items() if column in header}
    if not known:
        wanted = ", ".join(PUBLISHED.values())
        raise InputError(f"{path}, line 1: none of the columns of accuracies ({wanted})")
    if not rows:
        raise InputError(f"{path} has a header and no rows")
    accuracies: dict[str, dict[str, float]] = {}
    line_of_set: dict[str, int] = {}
    for line, cells in rows.items():
        place, dataset = f"{path}, line {line}, column", cells["dataset"]
        if not dataset or dataset in line_of_set:
            fault = f"{dataset!r} is on line {line_of_set[dataset]} too" if dataset else "empty"
            raise InputError(f"{place} dataset: {fault}")
        line_of_set[dataset] = line
        accuracies[dataset] = {
            name: _accuracy(cells[column], f"{place} {column}") for name, column in known.items()
        }
    table = pd.DataFrame.from_dict(accuracies, orient="index", columns=list(known), dtype=float)
    return Published(table, list(rows.values()))


def _accuracy(text: str, place: str) -> float:
    """Return the accuracy in a cell; an empty one is not given."""
    if not text:
        return nan
    try:
        accuracy = float(text)
    except ValueError:
        raise InputError(f"{place}: {text!r} is not a number") from None
    if not (isnan(accuracy) or 0 <= accuracy <= 1):
        raise InputError(f"{place}: an accuracy lies from 0 to 1, got {text}")
    return accuracy


def summary_table(study: Study, published: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return one row per model: its mean accuracy, and how it compares with the paper's.

    Comparisons are over the `paper_sets` data sets that both have; `quoted_mean` is a mean that the
    paper gives in its text alone. `seeds` is the smallest number over the data sets.
    """
    rows = {}
    for name, ours in study.accuracies.items():
        paper = None if published is None else published.get(name)
        both = pd.DataFrame({"ours": ours, "paper": paper}).dropna().astype(float)
        difference = both["ours"] - both["paper"]
        quoted = None if published is None or len(both) else MODELS[name].published_mean
        rows[name] = {
            "title": MODELS[name].title,
            "sets": ours.count(),
            "seeds": int(study.n_seeds[name].min()),
            "mean_accuracy": ours.dropna().mean(),
            "paper_sets": len(both),
            "paper_mean": both["paper"].mean(),
            "difference": difference.mean(),
            "correlation": pearson(both["ours"], both["paper"]),
            "mean_absolute_difference": difference.abs().mean(),
            "quoted_mean": quoted,
        }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("model")
    return table.astype({"quoted_mean": float})


def per_set_table(study: Study, published: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return one row per data set: each model's accuracy, the paper's after it where given."""
    columns = {}
    for name in study.accuracies:
        columns[name] = study.accuracies[name]
        if published is not None and name in published:
            columns[name + PAPER_SUFFIX] = published[name]
    return pd.DataFrame(columns, index=study.accuracies.index)
