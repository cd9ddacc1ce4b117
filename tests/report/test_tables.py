"""Tables and statistics: against scipy, cases worked by hand, and the example of Demšar (2006)."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from hyperlvq.checks import InputError
from hyperlvq.costs import flops_by_method, glvq_flops, rls_flops, steps_by_method
from hyperlvq.report.results import summarise_records
from hyperlvq.report.tables import (
    compare_models,
    cost_table,
    critical_difference,
    find_cliques,
    holm,
    made_costs,
    per_set_table,
    rank_models,
    standings,
    summary_table,
)
from hyperlvq.study.experiments import ModelPair

PAIR = ModelPair("x", "y", "x and y")
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
PAPER = pd.DataFrame({"rls_features": {"a": 0.5, "b": 0.9, "z": 0.1}})
# By model; adult has a test file, adult and letter are large.
N_TRAIN = {"adult": 24000, "letter": 15000, "iris": 112, "wine": 133}
ACCURACIES = {"hyperlvq": (0.9, 0.8, 0.7, 0.9), "forest": (0.8, 0.8, 0.75, 0.7), "svm": (0.7,) * 4}


@pytest.fixture
def study(record):
    accuracies = {"a": 0.6, "b": 0.8, "c": 0.9}
    runs = [record(model="rls_features", dataset=d, accuracy=a) for d, a in accuracies.items()]
    return summarise_records([*runs, record(model="intrvfl_glvq_10", dataset="a", accuracy=0.7)])


def test_the_summary_compares_on_the_sets_that_both_have_and_quotes_other_means(study):
    table = summary_table(study, PAPER)

    row, quoted = table.loc["rls_features"], table.loc["intrvfl_glvq_10"]
    assert (row["sets"], row["paper_sets"], quoted["quoted_mean"]) == (3, 2, 0.81)
    names = ["mean_accuracy", "paper_mean", "difference", "mean_absolute_difference", "correlation"]
    assert row[names].tolist() == pytest.approx([2.3 / 3, 0.7, 0, 0.1, 1])
    assert np.isnan([row["quoted_mean"], quoted["paper_mean"]]).all()


def test_without_a_paper_nothing_is_compared(study):
    table = summary_table(study, pd.DataFrame())

    assert (table["paper_sets"] == 0).all()
    compared = ["paper_mean", "difference", "correlation", "quoted_mean"]
    assert table[compared].isna().all(axis=None)


def test_the_per_set_table_puts_the_paper_after_the_model(study):
    table = per_set_table(study, PAPER)

    assert list(table) == ["rls_features", "rls_features_paper", "intrvfl_glvq_10"]
    assert table.loc["b"].tolist()[:2] == [0.8, 0.9]
    assert np.isnan(table.loc["c", "rls_features_paper"])
    assert list(table.index) == ["a", "b", "c"]


def compare(x, y):
    return compare_models(pd.DataFrame({"x": x, "y": y}), [PAIR]).iloc[0]


def test_a_comparison_of_demsars_agrees_with_scipy_and_with_his_count():
    x, y = np.transpose(PLAIN_AND_TUNED)

    result = compare(x + 1e-12, y)  # means of the same numbers differ in their last bits

    assert result[["n_sets", "wins", "ties", "losses"]].tolist() == [14, 10, 2, 2]
    assert (result["mean_x"], result["mean_y"]) == pytest.approx((x.mean(), y.mean()))
    assert result["pearson"] == pytest.approx(stats.pearsonr(x, y).statistic)
    assert result["t_test"] == pytest.approx(stats.ttest_rel(x, y).pvalue)
    # R⁺ = 93 and R⁻ = 12 with ties split; z from the ranks' own sum of squares.
    ranks = stats.rankdata(np.abs(np.round(y - x, 9)))
    z = (12 - 52.5) / np.sqrt((ranks**2).sum() / 4)
    assert result["wilcoxon"] == pytest.approx(2 * stats.norm.cdf(z))
    assert result["wilcoxon"] < 0.05


def test_comparisons_are_corrected_together(rng):
    table = pd.DataFrame(rng.uniform(size=(9, 3)), columns=["x", "y", "z"])

    results = compare_models(table, [PAIR, ModelPair("x", "z", "x and z")])

    for test in ("t_test", "wilcoxon"):
        assert results[f"{test}_holm"].tolist() == pytest.approx(holm(results[test]).tolist())


def test_only_sets_that_both_models_have_are_compared():
    result = compare([0.5, np.nan, 0.7], [0.6, 0.9, np.nan])
    apart = pd.DataFrame({"x": [0.5, np.nan], "y": [np.nan, 0.5]})

    assert result[["n_sets", "mean_x", "mean_y"]].tolist() == [1, 0.5, 0.6]
    assert compare_models(apart, [PAIR, ModelPair("x", "z", "x and z")]).empty


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

    assert np.isfinite(result["pearson"]) == has_pearson
    assert np.isfinite([result["t_test"], result["t_test_holm"]]).tolist() == [has_t_test] * 2
    assert np.isfinite([result["wilcoxon"], result["wilcoxon_holm"]]).tolist() == [has_wilcoxon] * 2


@pytest.mark.parametrize(
    ("p_values", "corrected"),
    [
        # Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1 is 0.04, 0.06, 0.06, 0.04.
        ([0.04, 0.01, np.nan, 0.03, 0.02], [0.06, 0.04, np.nan, 0.06, 0.06]),
        ([0.6, 0.7], [1, 1]),
        ([np.nan], [np.nan]),
    ],
)
def test_holm_steps_down_and_never_falls(p_values, corrected):
    assert holm(pd.Series(p_values)).tolist() == pytest.approx(corrected, nan_ok=True)


def test_ranks_and_friedman_are_those_of_demsars_example():
    names = ["plain", "leaves", "confidence", "both"]
    of_fewer_models = (np.nan, 1, 2, 3)
    ranking = rank_models(pd.DataFrame([*RANKS, of_fewer_models], columns=names).rsub(5) / 5)

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
    expected = quantile * np.sqrt(n_models * (n_models + 1) / (6 * 30))

    assert critical_difference(n_models, n_sets=30) == pytest.approx(expected, rel=4e-4)


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


@pytest.mark.parametrize(
    ("table", "is_ranking", "is_tested"),
    [
        ({"x": [0.5, 0.6]}, False, False),
        ({"x": [0.5, np.nan], "y": [np.nan, 0.5]}, False, False),
        ({"x": [0.5], "y": [0.6], "z": [0.7]}, True, False),
        ({"x": [0.5, 0.6], "y": [0.5, 0.6], "z": [0.5, 0.6]}, True, False),
        ({"x": [0.5, 0.6], "y": [0.7, 0.8]}, True, False),
        ({"x": [0.5, 0.6], "y": [0.7, 0.8], "z": [0.9, 0.7]}, True, True),
    ],
)
def test_degenerate_rankings_have_no_friedman_test(table, is_ranking, is_tested):
    ranking = rank_models(pd.DataFrame(table))

    assert (ranking is not None) == is_ranking
    if is_ranking:
        assert np.isfinite([ranking.friedman, ranking.p_value]).tolist() == [is_tested] * 2


@pytest.fixture
def measured_study(record):
    return summarise_records(
        record(
            model=model,
            dataset=dataset,
            n_train=n_train,
            accuracy=accuracy,
            log_loss=None if model == "svm" else 1 - accuracy,
            fit_seconds=n_train / 1000,
        )
        for model, accuracies in ACCURACIES.items()
        for (dataset, n_train), accuracy in zip(N_TRAIN.items(), accuracies, strict=True)
    )


def test_models_stand_beside_the_reference_on_all_sets_and_on_parts_of_them(measured_study):
    table = standings(measured_study, "hyperlvq")

    assert table["sets"].groupby(level="group", sort=False).first().tolist() == [4, 2, 3]
    everywhere = table.loc["all data sets"]
    assert list(everywhere.index) == ["hyperlvq", "forest", "svm"]
    assert everywhere["mean_accuracy"].tolist() == pytest.approx([0.825, 0.7625, 0.7])
    assert everywhere["mean_rank"].tolist() == [1.5, 1.75, 2.75]
    losses = [0.175, 0.2375, np.nan]
    assert everywhere["mean_log_loss"].tolist() == pytest.approx(losses, nan_ok=True)
    assert everywhere.loc["forest", ["wins", "ties", "losses"]].tolist() == [1, 1, 2]
    assert everywhere.loc["hyperlvq", ["wins", "wilcoxon"]].isna().all()
    assert everywhere.loc["svm", "total_fit_seconds"] == pytest.approx(39.245)
    assert everywhere.loc["svm", "median_fit_seconds"] == pytest.approx((15 + 0.133) / 2)
    large = table.loc["more than 910 training samples"]
    assert large.loc["forest", "mean_accuracy"] == pytest.approx(0.8)
    assert table.loc["without a test file"].loc["forest", "mean_accuracy"] == pytest.approx(0.75)
    corrected = holm(everywhere["wilcoxon"]).tolist()
    assert everywhere["wilcoxon_holm"].tolist() == pytest.approx(corrected, nan_ok=True)


def test_a_part_that_holds_nothing_or_everything_is_no_group(record):
    study = summarise_records([record(model=model) for model in ("forest", "svm")])

    assert standings(study, "svm").index.unique("group").tolist() == ["all data sets"]


def test_models_without_a_common_data_set_have_no_standings(record):
    records = [record(model="forest", dataset="iris"), record(model="svm", dataset="wine")]

    with pytest.raises(InputError, match="no data set has results of all models to stand beside"):
        standings(summarise_records(records), "svm")


def test_a_reference_that_was_not_run_is_refused(study):
    with pytest.raises(InputError, match=r"reference must be one of .*, got 'knn'"):
        standings(study, "knn")


def test_costs_have_ratios_by_set_and_totals_and_averages_by_method():
    sizes = {"n_samples": [1000, 750, 1000], "n_units": [500] * 3, "n_classes": [2, 10, 2]}
    sizes["n_train"] = [750] * 3

    table = cost_table(pd.DataFrame(sizes, index=["a", "b", "c"]))

    flops = flops_by_method(750, 500, 10)
    assert table.sets.loc["b", list(flops)].to_dict() == flops
    assert table.sets.loc["b", "rls_qr_ratio"] == flops["rls_qr"] / flops["rls"]
    glvq, ratios = table.methods.loc["glvq"], table.sets["glvq_ratio"]
    assert glvq["total_flops"] == table.sets["glvq"].sum()
    assert glvq["mean_ratio"] == pytest.approx(sum(ratios) / 3)
    assert glvq["median_ratio"] == ratios["a"]
    training = [flops_by_method(750, 500, n_classes) for n_classes in (2, 10, 2)]
    in_training = [flops["glvq"] / flops["rls"] for flops in training]
    assert glvq["training_mean_ratio"] == pytest.approx(sum(in_training) / 3)
    assert glvq["training_median_ratio"] == in_training[0]


def test_steps_of_a_method_add_up_to_it_with_any_prototypes_and_iterations():
    sizes = {"n_samples": [1000, 750], "n_train": [750] * 2, "n_units": [500] * 2}
    table = cost_table(pd.DataFrame({**sizes, "n_classes": [2, 10]}), 3, 20)

    sums = table.steps.groupby("method").sum()
    for name in ("total_flops", "mean_ratio"):
        assert sums[name].to_dict() == pytest.approx(table.methods[name].to_dict())
    steps = steps_by_method(1000, 500, 2, 3, 20), steps_by_method(750, 500, 10, 3, 20)
    distances = sum(of_set["glvq"]["distances"] for of_set in steps)
    assert table.steps.at[("glvq", "distances"), "total_flops"] == distances


def test_costs_made_are_those_of_the_iterations_prototypes_and_layers_of_the_runs(record):
    layer = {"n_units": 300, "n_classes": 3, "n_splits": 2, "n_train": 100, "n_test": 50}
    runs = [
        record(model="intrvfl_glvq", split=split, iterations=n_iter, prototypes_per_class=2) | layer
        for split, n_iter in enumerate((10, 30))
    ]
    bare = {"n_units": None, "n_features": 4, "n_splits": 1, "iterations": 7}
    study = summarise_records(
        [*runs, record(model="glvq_features", dataset="wine", **bare), record()]
    )

    made = made_costs(study)

    flops = [glvq_flops(150, 300, 3, 2, n_iter) for n_iter in (10, 30)]
    ours = made.loc["intrvfl_glvq"]
    assert (ours["sets"], ours["mean_iterations"]) == (1, 20)
    assert ours["total_flops"] == pytest.approx(sum(flops) / 2)
    assert ours["mean_ratio"] == pytest.approx(sum(flops) / 2 / rls_flops(150, 300, 3))
    of_training = glvq_flops(100, 300, 3, 2, 20) / rls_flops(100, 300, 3)
    assert ours["training_mean_ratio"] == pytest.approx(of_training)
    features = glvq_flops(112, 4, 3, 1, 7) / rls_flops(112, 4, 3)  # with a test file
    assert made.at["glvq_features", "mean_ratio"] == pytest.approx(features)
    assert list(made.index) == ["glvq_features", "intrvfl_glvq"]


def test_runs_without_iterations_or_sizes_have_no_costs_made(record):
    runs = [record(model="intrvfl_glvq"), record(model="rvfl_glvq", iterations=3, n_train=None)]

    assert made_costs(summarise_records(runs)).empty


def test_costs_of_nothing_name_the_columns_needed():
    with pytest.raises(InputError, match="need the columns dataset, n_samples, n_train"):
        cost_table(pd.DataFrame())
