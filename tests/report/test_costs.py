"""Training costs over data sets."""

import pytest

from hyperlvq.checks import InputError
from hyperlvq.costs import glvq_flops, rls_flops, rls_qr_flops
from hyperlvq.report.costs import COST_COLUMNS, cost_table, published_sizes, recorded_sizes
from hyperlvq.report.results import Published

KFOLD = dict(zip(COST_COLUMNS, ("a", "1000", "750", "kfold", "2", "500"), strict=True))
TRAIN_TEST = KFOLD | {"dataset": "b", "protocol": "train_test", "n_classes": "10"}


def sizes_of(*rows):
    return published_sizes(Published(None, rows))


def test_k_fold_sets_count_all_samples_and_the_others_the_training_file():
    sets = cost_table(sizes_of(KFOLD, TRAIN_TEST)).sets

    assert sets["n_samples"].to_dict() == {"a": 1000, "b": 750}
    assert sets.loc["a", "rls"] == rls_flops(1000, 500, 2)
    assert sets.loc["b", "glvq"] == glvq_flops(750, 500, 10)
    assert sets.loc["b", "rls_qr_ratio"] == rls_qr_flops(750, 500, 10) / rls_flops(750, 500, 10)


def test_methods_have_totals_and_both_averages():
    table = cost_table(sizes_of(KFOLD, TRAIN_TEST, KFOLD | {"dataset": "c"}))

    glvq, ratios = table.methods.loc["glvq"], table.sets["glvq_ratio"]
    assert glvq["total_flops"] == table.sets["glvq"].sum()
    assert glvq["mean_ratio"] == pytest.approx(sum(ratios) / 3)
    assert glvq["median_ratio"] == ratios["a"]


@pytest.mark.parametrize("value", ["", "many", "0", "1.5", "10000000000000"])
def test_a_wrong_size_is_named_by_data_set_and_column(value):
    with pytest.raises(InputError, match="data set a, column intrvfl_rls_n: a whole number"):
        sizes_of(KFOLD | {"intrvfl_rls_n": value})


def test_missing_columns_are_named():
    assert not sizes_of(KFOLD, {"dataset": "b"})
    assert not published_sizes(None)
    with pytest.raises(InputError, match="need the columns dataset, n_samples, n_train"):
        cost_table({})


def test_sizes_come_from_the_runs_of_the_layer_that_both_readouts_share(record):
    records = [
        record(split=0, n_train=110, n_units=300),
        record(split=1, n_train=112, n_units=400),
        record(model="forest", n_units=9, n_train=9),
        record(dataset="failed", accuracy=None),
        record(dataset="unsized", n_units=None),
    ]

    assert recorded_sizes(records) == {"iris": {"n_samples": 111, "n_units": 350, "n_classes": 3}}
    assert not recorded_sizes(records[2:])


@pytest.mark.data
def test_the_papers_shares_are_means_of_ratios(published):
    methods = cost_table(sizes_of(*published.values())).methods

    assert methods["mean_ratio"].round(4).to_dict() == {"rls": 1, "rls_qr": 0.7911, "glvq": 0.2084}
    assert methods.loc["glvq", "median_ratio"] == pytest.approx(0.06, abs=0.005)
