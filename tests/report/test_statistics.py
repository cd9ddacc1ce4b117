"""Statistics against scipy, hand-worked cases, and the worked example of Demšar (JMLR 2006)."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from hyperlvq.report.statistics import (
    compare_models,
    critical_difference,
    find_cliques,
    holm,
    pearson,
    rank_models,
)
from hyperlvq.study.experiments import Comparison

PAIR = Comparison("x", "y", "x and y")
# His Table 2: C4.5 without and with a tuned number of examples in leaves.
PLAIN_AND_TUNED = [
    (0.763, 0.768), (0.599, 0.591), (0.954, 0.971), (0.628, 0.661), (0.882, 0.888),
    (0.936, 0.931), (0.661, 0.668), (0.583, 0.583), (0.775, 0.838), (1.000, 1.000),
    (0.940, 0.962), (0.619, 0.666), (0.972, 0.981), (0.957, 0.978),
]  # fmt: skip
# His Table 6: ranks of four classifiers on the same data sets.
RANKS = [
    (4, 3, 2, 1), (1, 2, 3, 4), (4, 1, 2, 3), (4, 1, 3, 2), (4, 2, 3, 1), (1, 2.5, 4, 2.5),
    (3, 2, 4, 1), (2.5, 2.5, 4, 1), (4, 3, 2, 1), (2.5, 2.5, 2.5, 2.5), (4, 2.5, 1, 2.5),
    (3, 2, 4, 1), (4, 1, 2, 3), (3, 1, 4, 2),
]  # fmt: skip


def compare(x, y):
    return compare_models(pd.DataFrame({"x": x, "y": y}), [PAIR])[0]


@pytest.fixture
def accuracies(rng):
    x = rng.uniform(0.4, 1, 40)
    return x, np.clip(x + rng.normal(0.01, 0.03, 40), 0, 1)


def test_a_comparison_agrees_with_scipy(accuracies):
    x, y = accuracies

    result = compare(x, y)

    assert result.n_sets == 40
    assert (result.mean_x, result.mean_y) == pytest.approx((x.mean(), y.mean()))
    assert result.pearson == pytest.approx(stats.pearsonr(x, y).statistic)
    assert result.t_test == pytest.approx(stats.ttest_rel(x, y).pvalue)
    assert result.wilcoxon == pytest.approx(stats.wilcoxon(x, y).pvalue)


def test_wins_are_those_of_the_second_model_and_ties_ignore_the_last_bits():
    result = compare([0.1 + 0.2, 0.5, 0.5, 0.5, 0.5, 0.5], [0.3, 0.5, 0.6, 0.7, 0.8, 0.4])

    assert (result.wins, result.ties, result.losses) == (3, 2, 1)


def test_wilcoxon_splits_ties_as_in_demsars_example():
    x, y = np.transpose(PLAIN_AND_TUNED)
    # R⁺ = 93 and R⁻ = 12 by his count; z from the ranks' own sum of squares.
    ranks = stats.rankdata(np.abs(np.round(y - x, 9)))
    z = (12 - 52.5) / np.sqrt((ranks**2).sum() / 4)

    assert compare(x, y).wilcoxon == pytest.approx(2 * stats.norm.cdf(z))
    assert compare(x, y).wilcoxon < 0.05


def test_only_sets_that_both_models_have_are_compared():
    result = compare([0.5, np.nan, 0.7], [0.6, 0.9, np.nan])
    apart = pd.DataFrame({"x": [0.5, np.nan], "y": [np.nan, 0.5]})

    assert (result.n_sets, result.mean_x, result.mean_y) == (1, 0.5, 0.6)
    assert compare_models(apart, [PAIR, Comparison("x", "z", "x and z")]) == []


@pytest.mark.parametrize(
    ("x", "y", "has_pearson", "has_t_test", "has_wilcoxon"),
    [
        ([0.5], [0.6], False, False, False),
        ([0.5, 0.6, 0.7], [0.5, 0.6, 0.7], True, False, False),
        ([0.5, 0.5], [0.1, 0.2], False, True, True),
        ([0.1, 0.2, 0.3], [0.2, 0.3, 0.4], True, False, True),  # a constant gain
        ([0.5, 0.6], [0.6, 0.9], True, True, True),
    ],
)
def test_degenerate_comparisons_have_no_statistic(x, y, has_pearson, has_t_test, has_wilcoxon):
    result = compare(x, y)

    assert np.isfinite(result.pearson) == has_pearson
    assert np.isfinite([result.t_test, result.t_test_holm]).tolist() == [has_t_test] * 2
    assert np.isfinite([result.wilcoxon, result.wilcoxon_holm]).tolist() == [has_wilcoxon] * 2


def test_pearson_of_nothing_is_missing():
    assert np.isnan(pearson([], []))


def test_holm_steps_down_and_never_falls():
    # Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1 is 0.04, 0.06, 0.06, 0.04.
    assert holm([0.04, 0.01, np.nan, 0.03, 0.02]) == pytest.approx(
        [0.06, 0.04, np.nan, 0.06, 0.06], nan_ok=True
    )
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_comparisons_are_corrected_together(accuracies):
    x, y = accuracies
    table = pd.DataFrame({"x": x, "y": y, "z": y[::-1]})

    results = compare_models(table, [PAIR, Comparison("x", "z", "x and z")])

    assert [r.t_test_holm for r in results] == pytest.approx(holm([r.t_test for r in results]))
    assert [r.wilcoxon_holm for r in results] == pytest.approx(holm([r.wilcoxon for r in results]))


def test_ranks_and_friedman_are_those_of_demsars_example():
    names = ["plain", "leaves", "confidence", "both"]
    ranking = rank_models(pd.DataFrame(RANKS, columns=names).rsub(5) / 5)

    assert ranking.n_sets == 14
    assert list(ranking.mean_ranks.index) == ["both", "leaves", "confidence", "plain"]
    assert ranking.mean_ranks.tolist() == pytest.approx([1.964, 2.0, 2.893, 3.143], abs=5e-4)
    # He prints 9.28, without the correction for ties that scipy makes.
    squares = (ranking.mean_ranks**2).sum()
    assert 12 * 14 / 20 * (squares - 25) == pytest.approx(9.28, abs=0.01)
    assert ranking.friedman == pytest.approx(stats.friedmanchisquare(*np.transpose(RANKS))[0])
    assert ranking.p_value < 0.05


@pytest.mark.parametrize(
    ("n_models", "quantile"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)]
)
def test_the_critical_difference_has_demsars_quantiles(n_models, quantile):
    n_sets = 30
    expected = quantile * np.sqrt(n_models * (n_models + 1) / (6 * n_sets))

    assert critical_difference(n_models, n_sets) == pytest.approx(expected, rel=4e-4)


@pytest.mark.parametrize(
    ("ranks", "difference", "cliques"),
    [
        ([1.0, 1.5, 2.4, 2.9, 5.0], 1.45, ["abc", "bcd"]),
        ([1.0, 1.5, 2.4, 2.9, 5.0], 0.2, []),
        ([1.0, 1.5, 2.4, 2.9, 5.0], 9, ["abcde"]),
        ([1.0, 1.5, 3.0], 0.6, ["ab"]),
        ([1.0, 2.0], 1.0, []),  # a difference of exactly the critical one is significant
    ],
)
def test_cliques_are_the_largest_groups_within_the_difference(ranks, difference, cliques):
    mean_ranks = pd.Series(ranks, list("abcde"[: len(ranks)]))

    assert find_cliques(mean_ranks, difference) == [tuple(clique) for clique in cliques]


def test_ranks_are_over_the_sets_that_all_models_have():
    table = pd.DataFrame({"x": [0.5, 0.9, 0.1], "y": [0.6, np.nan, 0.3], "z": [0.7, 0.1, 0.2]})

    ranking = rank_models(table)

    assert ranking.n_sets == 2
    assert ranking.mean_ranks.to_dict() == {"y": 1.5, "z": 1.5, "x": 3.0}


@pytest.mark.parametrize("table", [{"x": [0.5, 0.6]}, {"x": [0.5, np.nan], "y": [np.nan, 0.5]}])
def test_without_two_models_or_a_common_set_there_is_no_ranking(table):
    assert rank_models(pd.DataFrame(table)) is None


@pytest.mark.parametrize(
    ("table", "has_test"),
    [
        ({"x": [0.5], "y": [0.6], "z": [0.7]}, False),
        ({"x": [0.5, 0.6], "y": [0.5, 0.6], "z": [0.5, 0.6]}, False),
        ({"x": [0.5, 0.6], "y": [0.7, 0.8]}, False),
        ({"x": [0.5, 0.6], "y": [0.7, 0.8], "z": [0.9, 0.7]}, True),
    ],
)
def test_degenerate_rankings_have_no_friedman_test(table, has_test):
    ranking = rank_models(pd.DataFrame(table))

    assert np.isfinite([ranking.friedman, ranking.p_value]).tolist() == [has_test] * 2
