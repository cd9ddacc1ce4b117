"""The tables and statistics of a report.

Tests and ranks follow Demšar, Statistical comparisons of classifiers over multiple data sets
(JMLR 2006). What has no value (one data set, a constant column, equal accuracies) is NaN.
"""

from collections.abc import Iterable
from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from hyperlvq.checks import InputError, check_choice
from hyperlvq.costs import flops_by_method, glvq_flops, rls_flops, steps_by_method
from hyperlvq.report.results import COST_COLUMNS, Study, samples_of_runs
from hyperlvq.study.collection import TEST_FILE, manifest
from hyperlvq.study.experiments import MODEL_PAIRS, MODELS, ModelPair

# Means over splits and seeds differ in their last bits even where the accuracies are equal.
DECIMALS = 9
SIGNIFICANCE = 0.05
PAPER_SUFFIX = "_paper"
LARGE = 910
#: A method's title and the formula of its flops, from the paper's Table I.
METHODS = {
    "rls": ("RLS, straightforward", "N(2N²/3 + 4TN + 2TL − N − T − L + 2)"),
    "rls_qr": ("RLS, QR", "N(4N²/3 + 2TN + 2TL + 3LN − N − 3L + 2)"),
    "glvq": ("GLVQ", "I·T(3PLN + 6N + 19) + TN"),
}
#: Of a method or model; the last two have the training samples of a split as T.
COST_FIGURES = [
    *("total_flops", "mean_ratio", "median_ratio"),
    *("training_mean_ratio", "training_median_ratio"),
]


def summary_table(study: Study, paper: pd.DataFrame) -> pd.DataFrame:
    """Return one row per model: its mean accuracy, and how it compares with the paper's.

    Comparisons are over the `paper_sets` data sets that both have; `quoted_mean` is a mean that the
    paper gives in its text alone. `seeds` is the smallest number over the data sets.
    """
    rows = {}
    for name, ours in study.accuracies.items():
        both = pd.DataFrame({"ours": ours, "paper": paper.get(name)}).dropna().astype(float)
        difference = both["ours"] - both["paper"]
        is_quoted = len(paper) > 0 and both.empty
        rows[name] = {
            "title": MODELS[name].title,
            "sets": ours.count(),
            "seeds": int(study.n_seeds[name].min()),
            "mean_accuracy": ours.dropna().mean(),
            "mean_log_loss": study.log_losses[name].dropna().mean(),
            "median_fit_seconds": study.fit_seconds[name].dropna().median(),
            "paper_sets": len(both),
            "paper_mean": both["paper"].mean(),
            "difference": difference.mean(),
            "correlation": pearson(both["ours"], both["paper"]),
            "mean_absolute_difference": difference.abs().mean(),
            "quoted_mean": MODELS[name].published_mean if is_quoted else None,
        }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("model")
    return table.astype({"quoted_mean": float})


def per_set_table(study: Study, paper: pd.DataFrame) -> pd.DataFrame:
    """Return one row per data set: each model's accuracy, the paper's after it where given."""
    both = study.accuracies.join(paper.add_suffix(PAPER_SUFFIX))
    pairs = [(name, f"{name}{PAPER_SUFFIX}") for name in study.accuracies]
    return both[[name for pair in pairs for name in pair if name in both]]


class Ranking(NamedTuple):
    """Mean ranks (best first) over the data sets that all models have, and how sure they are."""

    n_sets: int
    mean_ranks: pd.Series
    friedman: float
    p_value: float
    critical_difference: float
    cliques: list[tuple[str, ...]]


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Return Pearson's correlation, NaN where a side is constant or has one value."""
    pairs = np.round([x, y], DECIMALS)
    if pairs.shape[1] < 2 or (np.ptp(pairs, axis=1) == 0).any():
        return nan
    return float(np.corrcoef(pairs)[0, 1])


def holm(p_values: pd.Series) -> pd.Series:
    """Return p values corrected for their number by Holm's step-down rule; NaN stays NaN.

    The i-th smallest of m becomes the largest of (m - j + 1) p_j over j ≤ i, at most 1.
    """
    smallest_first = p_values.dropna().sort_values(kind="stable")
    scaled = smallest_first * np.arange(len(smallest_first), 0, -1)
    return scaled.cummax().clip(upper=1).reindex(p_values.index)


def compare_models(
    accuracies: pd.DataFrame, comparisons: Iterable[ModelPair] = MODEL_PAIRS
) -> pd.DataFrame:
    """Return a row per comparison whose models have data sets in common.

    Wins are the sets where the second model is better. Each test has a column of its p values, and
    one of these corrected together by Holm's rule.
    """
    pairs = ((each, accuracies.reindex(columns=[each.x, each.y]).dropna()) for each in comparisons)
    table = pd.DataFrame(
        {"comparison": comparison, **_compared(*pair.to_numpy().T)}
        for comparison, pair in pairs
        if len(pair)
    )
    for test in table.columns.intersection(["t_test", "wilcoxon"]):
        table[f"{test}_holm"] = holm(table[test])
    return table


def _compared(x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    gain = np.round(y - x, DECIMALS)
    has_t_test = len(gain) > 1 and np.ptp(gain) > 0
    has_wilcoxon = len(gain) > 1 and gain.any()
    return {
        "n_sets": len(gain),
        "mean_x": x.mean(),
        "mean_y": y.mean(),
        "pearson": pearson(x, y),
        "t_test": stats.ttest_1samp(gain, 0).pvalue if has_t_test else nan,
        # Demšar splits the ranks of equal accuracies between both signs.
        "wilcoxon": stats.wilcoxon(gain, zero_method="zsplit").pvalue if has_wilcoxon else nan,
        "wins": (gain > 0).sum(),
        "ties": (gain == 0).sum(),
        "losses": (gain < 0).sum(),
    }


def rank_models(accuracies: pd.DataFrame) -> Ranking | None:
    """Rank the models on the data sets that all have; None without two models or any such set."""
    common = accuracies.dropna().round(DECIMALS)
    n_sets, n_models = common.shape
    if n_models < 2 or not n_sets:
        return None
    mean_ranks = common.rank(axis="columns", ascending=False).mean().sort_values(kind="stable")
    friedman = p_value = nan
    all_tied = (common.nunique(axis="columns") == 1).all()
    if n_models > 2 and n_sets > 1 and not all_tied:
        friedman, p_value = map(float, stats.friedmanchisquare(*common.to_numpy().T))
    difference = critical_difference(n_models, n_sets)
    cliques = find_cliques(mean_ranks, difference)
    return Ranking(n_sets, mean_ranks, friedman, p_value, difference, cliques)


def critical_difference(n_models: int, n_sets: int) -> float:
    """Return Nemenyi's critical difference of mean ranks: q/√2 · √(k(k+1)/(6n))."""
    quantile = stats.studentized_range.ppf(1 - SIGNIFICANCE, n_models, np.inf) / sqrt(2)
    return float(quantile * sqrt(n_models * (n_models + 1) / (6 * n_sets)))


def find_cliques(mean_ranks: pd.Series, difference: float) -> list[tuple[str, ...]]:
    """Return the largest groups whose mean ranks, best first, span less than the difference."""
    ends = np.searchsorted(mean_ranks, mean_ranks + difference)
    return [
        tuple(mean_ranks.index[start:end])
        for start, end in enumerate(ends)
        if end - start > 1 and (start == 0 or end > ends[start - 1])
    ]


def standings(study: Study, reference: str) -> pd.DataFrame:
    """Return a row per group of data sets and model, of the sets that all models have.

    `wins` are the sets on which the model is better than the reference; the p values of Wilcoxon's
    signed-rank test against it are corrected together within a group. Log loss is a mean over
    data sets, seconds are those of one training on each. Groups within all data sets that hold
    none or all of them are left out.
    """
    check_choice("reference", reference, tuple(study.accuracies), InputError)
    common = study.accuracies.dropna().index
    if common.empty:
        raise InputError(f"no data set has results of all models to stand beside {reference}")
    n_train = study.runs.groupby("dataset")["n_train"].max()[common]
    with_test_file = {name for name, facts in manifest().items() if facts.kind == TEST_FILE}
    parts = {
        f"more than {LARGE} training samples": common[n_train > LARGE],
        "without a test file": common.difference(with_test_file, sort=False),
    }
    groups = {"all data sets": common}
    groups |= {name: sets for name, sets in parts.items() if 0 < len(sets) < len(common)}
    tables = {name: _standing(study, sets, reference) for name, sets in groups.items()}
    return pd.concat(tables, names=["group", "model"])


def _standing(study: Study, sets: pd.Index, reference: str) -> pd.DataFrame:
    accuracies, seconds = study.accuracies.loc[sets], study.fit_seconds.loc[sets]
    ranking = rank_models(accuracies)
    table = pd.DataFrame(
        {
            "title": [MODELS[name].title for name in accuracies],
            "sets": len(sets),
            "mean_accuracy": accuracies.mean(),
            "mean_rank": None if ranking is None else ranking.mean_ranks,
            "mean_log_loss": study.log_losses.loc[sets].mean(skipna=False),
            "total_fit_seconds": seconds.sum(skipna=False),
            "median_fit_seconds": seconds.median(skipna=False),
        },
        index=accuracies.columns,
    )
    others = accuracies.columns.drop(reference)
    results = compare_models(accuracies, [ModelPair(reference, name, "") for name in others])
    shown = ["wins", "ties", "losses", "wilcoxon", "wilcoxon_holm"]
    table = table.join(results.set_axis(others).reindex(columns=shown))
    return table.sort_values("mean_accuracy", ascending=False, kind="stable")


class CostTable(NamedTuple):
    """Training costs by the paper's Table I.

    `sets` has a row per data set: its sizes, the flops of each method and its ratio to
    straightforward RLS, with T as the paper counts it. `methods` has a row per method: title,
    formula, total flops over the data sets, mean and median ratio, and both ratios where T are the
    training samples of a split. `steps` has a row per method and step, without medians.
    """

    sets: pd.DataFrame
    methods: pd.DataFrame
    steps: pd.DataFrame


def cost_table(sizes: pd.DataFrame, prototypes_per_class: int = 1, n_iter: int = 10) -> CostTable:
    """Sum up the training costs over data sets of these sizes (`SIZES`)."""
    if sizes.empty:
        raise InputError(f"training costs need the columns {', '.join(COST_COLUMNS)}")
    options = {"prototypes_per_class": prototypes_per_class, "n_iter": n_iter}
    of_training = sizes.drop(columns="n_samples").rename(columns={"n_train": "n_samples"})
    as_published = sizes.drop(columns="n_train")
    sets = sizes.join(_by_set(flops_by_method, as_published, options))
    in_training = _by_set(flops_by_method, of_training, options)
    methods = pd.DataFrame.from_dict(METHODS, orient="index", columns=["title", "formula"])
    for name in METHODS:
        ratio = sets[f"{name}_ratio"] = sets[name] / sets["rls"]
        training_ratio = in_training[name] / in_training["rls"]
        methods.loc[name, COST_FIGURES] = _figures(sets[name], ratio, training_ratio)
    steps = _by_set(steps_by_method, as_published, options)
    flops = pd.concat(
        {name: pd.DataFrame(steps[name].tolist(), sizes.index) for name in METHODS},
        axis="columns",
        names=["method", "step"],
    )
    ratios = flops.div(sets["rls"], axis="index").mean()
    return CostTable(
        sets, methods, pd.DataFrame({"total_flops": flops.sum(), "mean_ratio": ratios})
    )


def _by_set(count: Any, sizes: pd.DataFrame, options: dict[str, int]) -> pd.DataFrame:
    """Tabulate costs for the sizes of every data set."""
    counts = [count(**of_set, **options) for of_set in sizes.to_dict("records")]
    return pd.DataFrame(counts, index=sizes.index)


def _figures(flops: pd.Series, ratio: pd.Series, training_ratio: pd.Series) -> list[float]:
    """Sum up one method or model over the data sets, as `COST_FIGURES` names it."""
    ratios = [ratio.mean(), ratio.median(), training_ratio.mean(), training_ratio.median()]
    return [flops.sum(), *ratios]


def made_costs(study: Study) -> pd.DataFrame:
    """Sum up the training costs of GLVQ by the iterations of its runs, a row per model.

    Ratios are to straightforward RLS on the same hidden layer. An iteration counts once, though
    L-BFGS sometimes takes the distances again within one.
    """
    rows = {}
    for name in (name for name in study.accuracies if MODELS[name].readout == "glvq"):
        runs = study.runs[study.runs["model"] == name]
        runs = runs.assign(
            T=samples_of_runs(runs),
            P=runs["prototypes_per_class"].fillna(1),
            N=runs["n_units"].fillna(runs["n_features"]),
        ).dropna(subset=["accuracy", "iterations", "n_train", "T", "N", "n_classes"])
        if runs.empty:
            continue
        layer: Any = runs["N"], runs["n_classes"]
        learning: Any = *layer, runs["P"], runs["iterations"]
        flops, in_training = (glvq_flops(runs[T], *learning) for T in ("T", "n_train"))
        ratio = flops / rls_flops(runs["T"], *layer)
        training_ratio = in_training / rls_flops(runs["n_train"], *layer)
        by_run = pd.DataFrame([runs["iterations"], flops, ratio, training_ratio]).T
        n_iter, *by_set = by_run.groupby(runs["dataset"]).mean().to_numpy().T
        figures = _figures(*map(pd.Series, by_set))
        rows[name] = [MODELS[name].title, len(n_iter), n_iter.mean(), *figures]
    columns = ["title", "sets", "mean_iterations", *COST_FIGURES]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)
