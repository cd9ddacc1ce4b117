"""Accuracies from records: means over splits and seeds, what is left out, and the paper's."""

import pandas as pd
import pytest

from hyperlvq.checks import InputError
from hyperlvq.report.results import (
    COST_COLUMNS,
    read_published,
    recorded_sizes,
    summarise_records,
)
from hyperlvq.report.tables import cost_table
from hyperlvq.study.records import KEY

FAILED = {"model": "kglvq", "accuracy": None}
UNREADABLE = {"model": None, "error": "no such file"}
MEANS = {(0, 0): 0.5, (1, 0): 0.7, (0, 1): 0.8, (1, 1): 0.9}
FOUR_SPLITS = [{"split": split, "accuracy": 0.6} for split in range(4)]


@pytest.mark.parametrize(
    ("runs", "accuracy", "failures"),
    [
        # means are over splits, then over seeds
        ([{"split": k, "seed": n, "accuracy": a} for (k, n), a in MEANS.items()], 0.725, []),
        # a seed with a missing split is left out and named
        (
            [*FOUR_SPLITS, {"seed": 1}],
            0.6,
            [["iris", "intrvfl_rls", "not run yet; seed 1 is left out", 3]],
        ),
        # failed runs are counted by their reason, also if that is not known
        (
            [*FOUR_SPLITS, *(FAILED | {"split": k, "error": "too large"} for k in range(4))],
            0.6,
            [["iris", "kglvq", "too large", 4]],
        ),
        ([{}, FAILED], 0.9, [["iris", "kglvq", "no accuracy and no error recorded", 1]]),
        # a run repeated counts once by its last record
        ([{"accuracy": None, "error": "killed"}, {"accuracy": 0.8}], 0.8, []),
        # an unreadable data set is a failure of all models, unless it was read later
        ([{}, UNREADABLE | {"dataset": "wine"}], 0.9, [["wine", "all", "no such file", 1]]),
        ([{}, UNREADABLE], 0.9, [["iris", "all", "no such file", 1]]),
        ([UNREADABLE, {}], 0.9, []),
    ],
)
def test_accuracies_are_means_of_what_is_complete_and_the_rest_is_named(
    record, runs, accuracy, failures
):
    study = summarise_records(record(**run) for run in runs)

    assert study.accuracies.to_dict() == {"intrvfl_rls": {"iris": pytest.approx(accuracy)}}
    assert study.failures.to_dict("split")["data"] == failures


def test_log_losses_and_seconds_are_means_where_every_split_has_them(record):
    lacking = [record(split=split, model="forest", log_loss=(0.3, None)[split]) for split in (0, 1)]
    runs = [record(split=s, log_loss=0.2 + 0.4 * s, fit_seconds=1.0 + s) for s in (0, 1)]

    study = summarise_records([*runs, *lacking])

    assert study.log_losses.loc["iris", "intrvfl_rls"] == pytest.approx(0.4)
    assert study.fit_seconds.loc["iris", "intrvfl_rls"] == pytest.approx(1.5)
    assert study.log_losses["forest"].isna().all()


def test_reliability_counts_every_run_the_same(record):
    empty = [[0, 0, 0]] * 8
    first = [*empty, [4, 3.4, 2], [0, 0, 0]]
    second = [*empty, [10, 8.0, 9], [30, 29.0, 30]]

    study = summarise_records(
        record(split=split, confidence_bins=bins) for split, bins in enumerate((first, second))
    )

    (table,) = study.reliability.values()
    assert table["share"][7:].tolist() == pytest.approx([0, (1 + 0.25) / 2, 0.75 / 2])
    assert table["confidence"][8] == pytest.approx((3.4 / 4 + 8 / 40) / (1 + 0.25))
    assert table["right"][8:].tolist() == pytest.approx([(0.5 + 9 / 40) / 1.25, 1])
    assert table["right"][:8].isna().all()


def test_models_keep_the_order_of_the_study(record):
    study = summarise_records([record(model="forest"), record(model="rls_features")])

    assert list(study.accuracies) == ["rls_features", "forest"]


def test_a_record_needs_its_key_and_its_accuracy(record):
    run = {name: record()[name] for name in (*KEY, "accuracy")}

    assert summarise_records([run]).settings is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "elm"}, "line 2: model must be one of rls_features, .*, got 'elm'"),
        ({"accuracy": 79.8}, "line 2: accuracy must be a number from 0 to 1, got 79.8"),
        ({"accuracy": float("nan")}, "line 2: accuracy must be a number from 0 to 1, got nan"),
        ({"accuracy": "0.9"}, "line 2: accuracy must be a number from 0 to 1, got '0.9'"),
        ({"accuracy": True}, "line 2: accuracy must be a number from 0 to 1, got True"),
        ({"settings": 3}, "line 2: settings must be a name, got 3"),
        ({"solver": 3}, "line 2: solver must be a name, got 3"),
        ({"init_noise": "1"}, "line 2: init_noise must be a number of at least 0, got '1'"),
        ({"log_loss": -1}, "line 2: log_loss must be a number of at least 0, got -1"),
        *(
            ({"confidence_bins": bins}, "line 2: confidence_bins must be 10 times three numbers")
            for bins in (
                [[0, 0, 0]] * 10,
                [[1, 1, 1]] * 9,
                [[1, 1, 1]] * 9 + [[1, 1]],
                [[1, 1, -1]] * 10,
                [[1, 1, float("inf")]] * 10,
                [["1", 1, 1]] * 10,
                3,
            )
        ),
        ({"n_units": 0}, "line 2: n_units must be a whole number of at least 1, got 0"),
        ({"n_train": 1e3}, "line 2: n_train must be a whole number of at least 1, got 1000.0"),
        ({"protocol": "strict"}, "mixes the protocols paper and strict"),
    ],
)
def test_a_wrong_record_is_named_by_line_field_and_value(record, changes, message):
    with pytest.raises(InputError, match=message):
        summarise_records([record(), record(seed=1) | changes])


def test_without_a_complete_result_records_are_refused(record):
    cut = [{"split": split, "n_splits": 4} for split in range(2)]
    for runs in ([FAILED], [UNREADABLE], cut):
        with pytest.raises(InputError, match="no complete result"):
            summarise_records(record(**run) for run in runs)
    with pytest.raises(InputError, match=r"records\.jsonl holds no records"):
        summarise_records([])


def test_sizes_come_from_the_runs_of_the_layer_that_both_readouts_share(record):
    others = [
        record(model="forest", n_units=9, n_train=9),
        record(dataset="failed", accuracy=None),
        record(dataset="unsized", n_units=None),
    ]
    runs = [
        record(split=0, n_train=110, n_test=40, n_units=300),
        record(split=1, n_train=112, n_test=38, n_units=400),
    ]

    sizes = recorded_sizes(summarise_records([*runs, *others]))

    means = {"n_samples": 150, "n_train": 111, "n_units": 350, "n_classes": 3}
    assert sizes.to_dict("index") == {"iris": means}
    assert recorded_sizes(summarise_records(others)).empty


def test_records_count_the_samples_that_the_published_table_counts(record, read):
    n_test, split_sizes = 250, {"n_train": 750, "n_test": 250, "n_units": 500, "n_classes": 2}
    runs = [record(dataset="a", split=split, n_splits=4, **split_sizes) for split in range(4)]
    filed = record(dataset="b", n_splits=1, n_train=750, n_test=n_test, n_units=500, n_classes=2)
    published = f"{HEADER}\na,1000,750,kfold,2,500,\nb,1000,750,train_test,2,500,\n"

    sizes = recorded_sizes(summarise_records([*runs, filed]))
    assert sizes.to_dict("index") == read(published).sizes.to_dict("index")
    assert sizes["n_samples"].to_dict() == {"a": 1000, "b": 750}


GOOD = "dataset,kglvq_acc,note,rls_features_acc\niris,0.95,x,0.9\nadult,,y,0.8\n"


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        (tmp_path / "p.csv").write_text(text, encoding="utf-8")
        return read_published(tmp_path / "p.csv")

    return read_text


@pytest.mark.parametrize("text", [GOOD, f"\ufeff{GOOD}\n\n", GOOD.replace(",", " , ")])
def test_columns_are_read_by_name_and_empty_cells_are_missing(read, text):
    published = read(text)

    assert published.accuracies.loc["iris"].to_dict() == {"rls_features": 0.9, "kglvq": 0.95}
    assert published.accuracies["kglvq"].isna().to_dict() == {"iris": False, "adult": True}
    assert published.sizes.empty


HEADER = ",".join((*COST_COLUMNS, "kglvq_acc"))


def test_k_fold_sets_count_all_samples_and_the_others_the_training_file(read):
    sizes = read(f"{HEADER}\na,1000,750,kfold,2,500,\nb,1000,750,train_test,10,500,\n").sizes

    expected = {"n_samples": [1000, 750], "n_train": [750, 750]}
    expected |= {"n_units": [500, 500], "n_classes": [2, 10]}
    pd.testing.assert_frame_equal(sizes, pd.DataFrame(expected, index=["a", "b"]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dataset,accuracy\niris,0.9\n", "p.csv, line 1: none of the columns of accuracies"),
        ("dataset,kglvq_acc\n", "p.csv has a header and no rows"),
        ("dataset,kglvq_acc\niris,good\n", "p.csv, line 2, column kglvq_acc: 'good' is not a num"),
        ("dataset,kglvq_acc\niris,95\n", "p.csv, line 2, column kglvq_acc: an accuracy lies from"),
        ("dataset,kglvq_acc\na,1\nb,1\na,1\n", "p.csv, line 4, column dataset: 'a' is on line 2"),
        ("dataset,kglvq_acc\n,1\n", "p.csv, line 2, column dataset: empty"),
        *(
            (
                f"{HEADER}\na,1000,750,kfold,2,{size},",
                "data set a, column intrvfl_rls_n: a whole number",
            )
            for size in ("", "many", "0", "1.5", "10000000000000", "1" * 5000)
        ),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(read, text, message):
    with pytest.raises(InputError, match=message):
        read(text)


@pytest.mark.data
def test_the_papers_shares_are_means_of_ratios(uci_path):
    sizes = read_published(uci_path.with_name("paper_results.csv")).sizes

    methods = cost_table(sizes).methods
    assert methods["mean_ratio"].round(4).to_dict() == {"rls": 1, "rls_qr": 0.7911, "glvq": 0.2084}
    assert methods.loc["glvq", "median_ratio"] == pytest.approx(0.06, abs=0.005)
    of_training = methods["training_mean_ratio"].round(4).to_dict()
    assert of_training == {"rls": 1, "rls_qr": 0.8359, "glvq": 0.2043}
