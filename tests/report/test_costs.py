"""Training costs over data sets."""

import pytest

from hyperlvq.checks import InputError
from hyperlvq.costs import glvq_flops, relative_costs, rls_flops
from hyperlvq.report.costs import COST_COLUMNS, cost_rows, cost_table, has_cost_columns

KFOLD = dict(zip(COST_COLUMNS, ("a", 1000, 750, "kfold", 2, 500), strict=True))
TRAIN_TEST = KFOLD | {"dataset": "b", "protocol": "train_test", "n_classes": 10}


def test_k_fold_sets_count_all_samples_and_the_others_the_training_file():
    sets = cost_table([KFOLD, TRAIN_TEST]).sets

    assert sets["n_samples"].to_dict() == {"a": 1000, "b": 750}
    assert sets.loc["a", "rls"] == rls_flops(1000, 500, 2)
    assert sets.loc["b", "glvq"] == glvq_flops(750, 500, 10)
    assert sets.loc["b", "rls_qr_ratio"] == relative_costs(750, 500, 10)["rls_qr"]


def test_methods_have_totals_and_both_averages():
    table = cost_table([KFOLD, TRAIN_TEST, KFOLD | {"dataset": "c"}])

    glvq, ratios = table.methods.loc["glvq"], table.sets["glvq_ratio"]
    assert glvq["total_flops"] == table.sets["glvq"].sum()
    assert glvq["mean_ratio"] == pytest.approx(sum(ratios) / 3)
    assert glvq["median_ratio"] == ratios["a"]


def test_cells_of_a_csv_file_are_numbers_too():
    as_text = {name: str(value) for name, value in KFOLD.items()}

    assert cost_table([as_text]).sets.equals(cost_table([KFOLD]).sets)


@pytest.mark.parametrize("value", ["", "many", "0", None, "1.5"])
def test_a_wrong_size_is_named_by_data_set_and_column(value):
    with pytest.raises(InputError, match="data set a, column intrvfl_rls_n: a whole number"):
        cost_table([KFOLD | {"intrvfl_rls_n": value}])


def test_missing_columns_are_named():
    with pytest.raises(InputError, match="need the columns dataset, n_samples, n_train"):
        cost_table([{"dataset": "a"}])


def test_no_data_sets_are_refused():
    with pytest.raises(InputError, match="no data sets"):
        cost_table([])


def test_rows_come_from_the_runs_of_the_layer_that_both_readouts_share(record):
    records = [
        record(split=0, n_train=110, n_units=300),
        record(split=1, n_train=112, n_units=400),
        record(model="forest", n_units=9, n_train=9),
        record(dataset="failed", accuracy=None),
    ]

    sets = cost_table(cost_rows(records)).sets

    assert sets.index.tolist() == ["iris"]
    assert sets.loc["iris", ["n_samples", "n_units", "n_classes"]].tolist() == [111, 350, 3]


def test_records_without_sizes_give_no_rows(record):
    assert cost_rows([record(n_units=None)]) == []
    assert cost_rows([record(model="forest")]) == []


def test_columns_are_looked_for_in_every_row():
    assert has_cost_columns([KFOLD, TRAIN_TEST])
    assert not has_cost_columns([KFOLD, {"dataset": "b"}])


@pytest.mark.data
def test_the_papers_shares_are_means_of_ratios(published):
    methods = cost_table(published.values()).methods

    assert methods["mean_ratio"].round(4).to_dict() == {"rls": 1, "rls_qr": 0.7911, "glvq": 0.2084}
    assert methods.loc["glvq", "median_ratio"] == pytest.approx(0.06, abs=0.005)
