"""Statistics over data sets: comparisons of two models, and ranks of all of them.

Tests and ranks follow Demšar, Statistical comparisons of classifiers over multiple data sets
(JMLR 2006). What has no value (one data set, a constant column, equal accuracies) is NaN.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import nan, sqrt

import numpy as np
import pandas as pd
from scipy import stats

from hyperlvq.study.experiments import COMPARISONS, Comparison

# Means over splits and seeds differ in their last bits even where the accuracies are equal.
DECIMALS = 9
SIGNIFICANCE = 0.05


@dataclass(frozen=True)
class ComparisonResult:
    """Two models over the data sets that both have; wins are those where `y` is better."""

    comparison: Comparison
    n_sets: int
    mean_x: float
    mean_y: float
    pearson: float
    t_test: float
    wilcoxon: float
    wins: int
    ties: int
    losses: int
    t_test_holm: float = nan
    wilcoxon_holm: float = nan


@dataclass(frozen=True)
class Ranking:
    """Mean ranks (best first) over the data sets that all models have, and how sure they are."""

    n_sets: int
    mean_ranks: pd.Series
    friedman: float
    p_value: float
    critical_difference: float
    cliques: list[tuple[str, ...]]


def pearson(x: Sequence[float], y: Sequence[float]) -> float:
    """Return Pearson's correlation, NaN where a side is constant or has one value."""
    pairs = np.round([x, y], DECIMALS)
    if len(x) < 2 or (np.ptp(pairs, axis=1) == 0).any():
        return nan
    return float(np.corrcoef(pairs)[0, 1])


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected for their number by Holm's step-down rule; NaN stays NaN.

    The i-th smallest of m becomes the largest of (m - j + 1) p_j over j ≤ i, at most 1.
    """
    smallest_first = pd.Series(p_values, dtype=float).dropna().sort_values(kind="stable")
    scaled = smallest_first * np.arange(len(smallest_first), 0, -1)
    return scaled.cummax().clip(upper=1).reindex(range(len(p_values))).tolist()


def compare_models(
    accuracies: pd.DataFrame, comparisons: Iterable[Comparison] = COMPARISONS
) -> list[ComparisonResult]:
    """Return the comparisons whose models have data sets in common, Holm-corrected together."""
    pairs = [
        (comparison, accuracies[[comparison.x, comparison.y]].dropna())
        for comparison in comparisons
        if {comparison.x, comparison.y} <= set(accuracies)
    ]
    results = [_compare(comparison, pair) for comparison, pair in pairs if len(pair)]
    t_tests = holm([result.t_test for result in results])
    wilcoxons = holm([result.wilcoxon for result in results])
    return [
        replace(result, t_test_holm=t_test, wilcoxon_holm=wilcoxon)
        for result, t_test, wilcoxon in zip(results, t_tests, wilcoxons, strict=True)
    ]


def _compare(comparison: Comparison, pair: pd.DataFrame) -> ComparisonResult:
    x, y = pair.to_numpy().T
    gain = np.round(y - x, DECIMALS)
    has_t_test = len(gain) > 1 and np.ptp(gain) > 0
    has_wilcoxon = len(gain) > 1 and gain.any()
    return ComparisonResult(
        comparison,
        n_sets=len(pair),
        mean_x=float(x.mean()),
        mean_y=float(y.mean()),
        pearson=pearson(x, y),
        t_test=float(stats.ttest_1samp(gain, 0).pvalue) if has_t_test else nan,
        # Demšar splits the ranks of equal accuracies between both signs.
        wilcoxon=float(stats.wilcoxon(gain, zero_method="zsplit").pvalue) if has_wilcoxon else nan,
        wins=int((gain > 0).sum()),
        ties=int((gain == 0).sum()),
        losses=int((gain < 0).sum()),
    )


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
    ranks = mean_ranks.to_numpy()
    ends = np.searchsorted(ranks, ranks + difference, side="left")
    starts = [
        start
        for start, end in enumerate(ends)
        if end - start > 1 and (start == 0 or end > ends[start - 1])
    ]
    return [tuple(mean_ranks.index[start : ends[start]]) for start in starts]
