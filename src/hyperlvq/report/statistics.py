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
    """Return Pearson's correlation, NaN where a side is constant or has one value.

    Examples
    --------
    >>> from hyperlvq.report.statistics import pearson
    >>> round(pearson([0.5, 0.7, 0.9], [0.6, 0.7, 0.8]), 6)
    1.0
    """
    pairs = np.round([x, y], DECIMALS)
    if len(x) < 2 or (np.ptp(pairs, axis=1) == 0).any():
        return nan
    return float(np.corrcoef(pairs)[0, 1])


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected for their number by Holm's step-down rule; NaN stays NaN.

    The i-th smallest of m becomes the largest of (m - j + 1) p_j over j ≤ i, at most 1.

    Examples
    --------
    >>> from hyperlvq.report.statistics import holm
    >>> holm([0.5, 0.01, 0.25])
    [0.5, 0.03, 0.5]
    """
    corrected = np.full(len(p_values), nan)
    given = np.flatnonzero(~np.isnan(p_values))
    smallest_first = given[np.argsort(np.asarray(p_values)[given], kind="stable")]
    scaled = np.asarray(p_values)[smallest_first] * np.arange(len(given), 0, -1)
    corrected[smallest_first] = np.minimum(np.maximum.accumulate(scaled), 1)
    return corrected.tolist()


def compare_models(
    accuracies: pd.DataFrame, comparisons: Iterable[Comparison] = COMPARISONS
) -> list[ComparisonResult]:
    """Return the comparisons whose models have data sets in common, Holm-corrected together."""
    results = [
        _compare(accuracies[[comparison.x, comparison.y]].dropna(), comparison)
        for comparison in comparisons
        if {comparison.x, comparison.y} <= set(accuracies)
    ]
    results = [result for result in results if result.n_sets]
    t_tests = holm([result.t_test for result in results])
    wilcoxons = holm([result.wilcoxon for result in results])
    return [
        replace(result, t_test_holm=t_test, wilcoxon_holm=wilcoxon)
        for result, t_test, wilcoxon in zip(results, t_tests, wilcoxons, strict=True)
    ]


def _compare(pair: pd.DataFrame, comparison: Comparison) -> ComparisonResult:
    x, y = pair[comparison.x].to_numpy(), pair[comparison.y].to_numpy()
    gain = np.round(y - x, DECIMALS)
    return ComparisonResult(
        comparison,
        n_sets=len(pair),
        mean_x=float(x.mean()) if len(pair) else nan,
        mean_y=float(y.mean()) if len(pair) else nan,
        pearson=pearson(x, y),
        t_test=_paired_t_test(gain),
        wilcoxon=_wilcoxon(gain),
        wins=int((gain > 0).sum()),
        ties=int((gain == 0).sum()),
        losses=int((gain < 0).sum()),
    )


def _paired_t_test(gain: np.ndarray) -> float:
    if len(gain) < 2 or np.ptp(gain) == 0:
        return nan
    return float(stats.ttest_1samp(gain, 0).pvalue)


def _wilcoxon(gain: np.ndarray) -> float:
    if len(gain) < 2 or not gain.any():
        return nan
    # Demšar splits the ranks of equal accuracies between both signs.
    return float(stats.wilcoxon(gain, zero_method="zsplit").pvalue)


def rank_models(accuracies: pd.DataFrame) -> Ranking | None:
    """Rank the models on the data sets that all have; None without two models or any such set."""
    common = accuracies.dropna().round(DECIMALS)
    n_sets, n_models = common.shape
    if n_models < 2 or not n_sets:
        return None
    ranks = common.rank(axis="columns", ascending=False)
    mean_ranks = ranks.mean().sort_values(kind="stable")
    difference = critical_difference(n_models, n_sets)
    statistic, p_value = _friedman(common)
    return Ranking(
        n_sets, mean_ranks, statistic, p_value, difference, find_cliques(mean_ranks, difference)
    )


def _friedman(common: pd.DataFrame) -> tuple[float, float]:
    n_sets, n_models = common.shape
    all_tied = (common.nunique(axis="columns") == 1).all()
    if n_models < 3 or n_sets < 2 or all_tied:
        return nan, nan
    result = stats.friedmanchisquare(*(common[name] for name in common))
    return float(result.statistic), float(result.pvalue)


def critical_difference(n_models: int, n_sets: int, significance: float = SIGNIFICANCE) -> float:
    """Return Nemenyi's critical difference of mean ranks: q/√2 · √(k(k+1)/(6n)).

    Examples
    --------
    >>> from hyperlvq.report.statistics import critical_difference
    >>> round(critical_difference(n_models=4, n_sets=14), 2)
    1.25
    """
    quantile = stats.studentized_range.ppf(1 - significance, n_models, np.inf) / sqrt(2)
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
