"""What a report is of: our accuracies from the records of a study, the paper's from its file."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf, isnan, nan
from pathlib import Path
from reprlib import repr as short
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from hyperlvq.checks import InputError
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.records import KEY, N_BINS, RECORDS_NAME, Record
from hyperlvq.study.settings import read_table_of_sets

RUN = ["dataset", "model", "seed"]
MEASURED = ["accuracy", "log_loss", "fit_seconds"]
SIZES_OF_RECORDS = ("n_splits", "n_train", "n_test", "n_features", "n_classes", "n_units")
# What else is a whole number there.
COUNTS_OF_RECORDS = ("prototypes_per_class", "iterations")
NAMES = ("settings", "source", "solver")
LARGEST_RECORDED_SIZE = 10**12
#: The columns of a published file by model.
PUBLISHED = {name: model.accuracy_column for name, model in MODELS.items() if model.accuracy_column}
#: Those that training costs are counted from.
COST_COLUMNS = ("dataset", "n_samples", "n_train", "protocol", "n_classes", "intrvfl_rls_n")
#: T as the paper counts it (`counted_samples`), training samples of a split, N and L.
SIZES = ("n_samples", "n_train", "n_units", "n_classes")


def _are_bins(value: Any) -> bool:
    """Return whether a value is a list of bins, not all of them empty."""
    try:
        bins = np.array(value)
    except ValueError:  # lists of different lengths
        return False
    has_form = bins.shape == (N_BINS, 3) and bins.dtype.kind in "if"
    return has_form and bool(((bins >= 0) & (bins < inf)).all() and bins[:, 0].any())


#: What a field must be beyond what `read_records` sees to, for those that a record states.
CHECKS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "model": (f"one of {', '.join(MODELS)}", lambda value: value in tuple(MODELS)),
    # NaN compares false with every bound.
    "accuracy": ("a number from 0 to 1", lambda v: type(v) in (int, float) and 0 <= v <= 1),
    **dict.fromkeys(
        ("init_noise", "log_loss", "fit_seconds"),
        ("a number of at least 0", lambda v: type(v) in (int, float) and 0 <= v < inf),
    ),
    "confidence_bins": (f"{N_BINS} times three numbers", _are_bins),
    **dict.fromkeys(NAMES, ("a name", lambda value: isinstance(value, str))),
    **dict.fromkeys(
        (*SIZES_OF_RECORDS, *COUNTS_OF_RECORDS),
        (
            "a whole number of at least 1",
            lambda v: type(v) is int and 1 <= v <= LARGEST_RECORDED_SIZE,
        ),
    ),
}


@dataclass(frozen=True)
class Study:
    """The results of a study.

    `runs` has one row per run. `accuracies`, `n_seeds`, `log_losses` and `fit_seconds` (the time of
    one fit) have a row per data set and a column per model. The most accurate model comes first in
    `accuracies`. A seed counts for a data set only if all its splits were run, because splits
    differ in difficulty. Missing values are NaN. `reliability` has ten rows per model with
    probabilities, one for each tenth of confidence: the share of the samples, their mean confidence
    and how often they were right, with equal weight for all runs. `failures` counts runs without a
    result by data set, model ("all" if the data set could not be read) and reason.
    """

    protocol: str
    settings: str | None
    runs: pd.DataFrame
    accuracies: pd.DataFrame
    n_seeds: pd.DataFrame
    log_losses: pd.DataFrame
    fit_seconds: pd.DataFrame
    reliability: dict[str, pd.DataFrame]
    failures: pd.DataFrame


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
    by_set, by_seed = runs.groupby("dataset"), runs.groupby(RUN)
    n_splits = by_set["n_splits"].max().fillna(by_set["split"].nunique())
    n_runs = by_seed.size()
    expected = n_runs.index.get_level_values("dataset").map(n_splits)
    is_complete = by_seed[MEASURED].count().eq(expected, axis="index")
    by_model = by_seed[MEASURED].mean().where(is_complete).groupby(["dataset", "model"])
    means = by_model.mean()
    accuracies = means["accuracy"].dropna().unstack("model")
    if accuracies.empty:
        raise InputError(f"{RECORDS_NAME} holds no complete result: every run failed or is missing")
    in_order = accuracies[[name for name in MODELS if name in accuracies]]
    best_first = in_order.mean().sort_values(ascending=False, kind="stable").index
    accuracies = accuracies[best_first]
    n_seeds = by_model["accuracy"].count()
    return Study(
        protocol=protocols[0],
        settings=" and ".join(sorted(frame["settings"].dropna().unique())) or None,
        runs=runs.assign(n_splits=runs["dataset"].map(n_splits)),
        accuracies=accuracies,
        n_seeds=n_seeds[n_seeds > 0].unstack("model").reindex_like(accuracies),
        log_losses=means["log_loss"].unstack("model").reindex_like(accuracies),
        fit_seconds=means["fit_seconds"].unstack("model").reindex_like(accuracies),
        reliability=_reliability(runs),
        failures=_failures(frame, expected - n_runs),
    )


def _latest(records: Iterable[Record]) -> pd.DataFrame:
    """Return the records as a table; where one was run again, the last counts."""
    numbers = (*MEASURED, *SIZES_OF_RECORDS, *COUNTS_OF_RECORDS, "init_noise")
    fields = (*KEY, *numbers, *NAMES, "error", "confidence_bins")
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


def _reliability(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    bins_of = runs.dropna(subset="confidence_bins").groupby("model")["confidence_bins"]
    found = {}
    for name in (name for name in MODELS if name in bins_of.groups):
        bins = np.array(bins_of.get_group(name).tolist())
        shares = (bins / bins[:, :, :1].sum(axis=1, keepdims=True)).mean(axis=0)
        table = pd.DataFrame(shares, columns=["share", "confidence", "right"])
        for column in ("confidence", "right"):
            table[column] /= table["share"].where(table["share"] > 0)
        found[name] = table
    return found


def _failures(frame: pd.DataFrame, lacking: pd.Series) -> pd.DataFrame:
    """Return the errors that no later success on the data set has overtaken, and runs lacking."""
    has_run = frame[frame["accuracy"].notna()]
    last_success = has_run.index.to_series().groupby(has_run["dataset"]).max()
    overtaken = frame["model"].isna() & (frame.index < frame["dataset"].map(last_success).fillna(0))
    failed = frame[frame["accuracy"].isna() & ~overtaken]
    reasons = failed["error"].fillna("no accuracy and no error recorded").astype(str)
    errors = failed.groupby(["dataset", "model", reasons], dropna=False).size()
    text = "not run yet; seed {:g} is left out"
    missing = lacking[lacking > 0].rename(index=text.format, level="seed").astype(int)
    counts = pd.concat([errors, missing]).rename_axis(["dataset", "model", "reason"])
    return counts.reset_index(name="n_runs").fillna({"model": "all"})


def counted_samples(n_train: Any, n_all: Any, is_split: Any) -> Any:
    """Return T as the paper's relative costs count it, of one data set or of many.

    Its 79 % and 21 % come out with all samples of a data set that is split, test samples included,
    and with those of the training file where there is a test file. Its text has T training samples.
    """
    return np.where(is_split, n_all, n_train)


def recorded_sizes(study: Study) -> pd.DataFrame:
    """Average the sizes of the intRVFL + RLS runs over the runs on a data set."""
    sizes = ["n_train", "n_test", "n_splits", "n_units", "n_classes"]
    runs = study.runs[study.runs["model"] == "intrvfl_rls"].dropna(subset=["accuracy", *sizes])
    means = runs.groupby("dataset")[sizes].mean()
    counted = means.assign(n_samples=samples_of_runs(means)).round().astype(int)
    return counted[[*SIZES]]


def samples_of_runs(runs: pd.DataFrame) -> Any:
    """Return T of the paper's relative costs for each run, by its sizes."""
    return counted_samples(runs["n_train"], runs["n_train"] + runs["n_test"], runs["n_splits"] > 1)


class Published(NamedTuple):
    """What someone else measured: accuracies by data set and model, sizes by data set.

    `sizes` has the columns of `SIZES`, and no rows where a column of `COST_COLUMNS` is missing.
    """

    accuracies: pd.DataFrame
    sizes: pd.DataFrame


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
    has_sizes = set(COST_COLUMNS) <= set(header)
    sizes = {cells["dataset"]: _published_sizes(cells) for cells in rows.values() if has_sizes}
    return Published(*(pd.DataFrame.from_dict(d, orient="index") for d in (accuracies, sizes)))


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


def _published_sizes(cells: dict[str, str]) -> dict[str, int]:
    sizes = {}
    for name, column in {**{name: name for name in SIZES}, "n_units": "intrvfl_rls_n"}.items():
        text = cells[column]
        sizes[name] = int(text) if re.fullmatch("[0-9]{1,13}", text) else 0
        if not 1 <= sizes[name] <= LARGEST_RECORDED_SIZE:
            raise InputError(
                f"data set {cells['dataset']}, column {column}: a whole number from 1 to "
                f"{LARGEST_RECORDED_SIZE} is needed, got {short(text)}"
            )
    n_all, is_split = sizes["n_samples"], cells["protocol"] == "kfold"
    return {**sizes, "n_samples": int(counted_samples(sizes["n_train"], n_all, is_split))}
