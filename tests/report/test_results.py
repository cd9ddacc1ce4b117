"""Accuracies from records: means over splits and seeds, and what is left out."""

import pandas as pd
import pytest

from hyperlvq.checks import InputError
from hyperlvq.report.results import Failure, summarise_records


def test_accuracies_are_means_over_splits_then_seeds(record):
    by_run = {(0, 0): 0.5, (1, 0): 0.7, (0, 1): 0.8, (1, 1): 0.9}

    study = summarise_records(
        record(split=split, seed=seed, accuracy=accuracy)
        for (split, seed), accuracy in by_run.items()
    )

    assert study.accuracies.loc["iris", "intrvfl_rls"] == pytest.approx((0.6 + 0.85) / 2)
    assert study.n_seeds.loc["iris", "intrvfl_rls"] == 2


def test_accuracies_equal_a_plain_pandas_pivot(records):
    frame = pd.DataFrame(records).dropna(subset="accuracy")
    expected = frame.pivot_table(values="accuracy", index="dataset", columns="model")

    accuracies = summarise_records(records).accuracies

    pd.testing.assert_frame_equal(
        accuracies[expected.columns], expected, check_names=False, check_like=True
    )


def test_models_keep_the_order_of_the_study(record):
    study = summarise_records([record(model="forest"), record(model="rls_features")])

    assert list(study.accuracies) == ["rls_features", "forest"]


def test_a_seed_with_a_missing_split_is_left_out_and_named(record):
    complete = [record(split=split, accuracy=0.6) for split in range(4)]

    study = summarise_records([*complete, record(split=0, seed=1, accuracy=1.0)])

    assert study.accuracies.loc["iris", "intrvfl_rls"] == pytest.approx(0.6)
    assert study.failures == [Failure("iris", "intrvfl_rls", 3, "not run yet; seed 1 is left out")]


def test_a_failed_run_is_counted_by_its_reason(record):
    failed = [
        record(model="kglvq", split=split, accuracy=None, error="too large") for split in (0, 1)
    ]

    study = summarise_records([record(split=0), record(split=1), *failed])

    assert study.failures == [Failure("iris", "kglvq", 2, "too large")]
    assert "kglvq" not in study.accuracies


def test_a_run_without_a_word_is_a_failure_too(record):
    silent = {name: record()[name] for name in ("protocol", "model", "dataset", "split", "seed")}

    study = summarise_records([record(), silent | {"model": "kglvq"}])

    assert study.failures == [Failure("iris", "kglvq", 1, "no accuracy and no error recorded")]


def test_a_run_repeated_counts_once_by_its_last_record(record):
    study = summarise_records([record(accuracy=None, error="killed"), record(accuracy=0.8)])

    assert study.accuracies.loc["iris", "intrvfl_rls"] == 0.8
    assert study.failures == []


def test_an_unreadable_data_set_is_a_failure_of_all_models(record, unreadable):
    study = summarise_records([record(), unreadable("wine", "no such file")])

    assert study.failures == [Failure("wine", None, 1, "no such file")]
    assert list(study.accuracies.index) == ["iris"]


def test_an_unreadable_data_set_that_was_read_later_is_no_failure(record, unreadable):
    study = summarise_records([unreadable("iris", "no such file"), record()])

    assert study.failures == []


def test_an_unreadable_data_set_that_was_read_before_is_a_failure(record, unreadable):
    study = summarise_records([record(), unreadable("iris", "no such file")])

    assert study.failures == [Failure("iris", None, 1, "no such file")]


def test_settings_are_optional(record):
    without = record()
    del without["settings"]

    assert summarise_records([without]).settings is None
    assert summarise_records([record()]).settings == "published"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "elm"}, "line 2: model must be one of rls_features, .*, got 'elm'"),
        ({"model": ["kglvq"]}, r"line 2: model must be one of .*, got \['kglvq'\]"),
        ({"accuracy": 79.8}, "line 2: accuracy must be a number from 0 to 1, got 79.8"),
        ({"accuracy": float("nan")}, "line 2: accuracy must be a number from 0 to 1, got nan"),
        ({"accuracy": "0.9"}, "line 2: accuracy must be a number from 0 to 1, got '0.9'"),
        ({"dataset": None}, "line 2: dataset must be a name, got None"),
        ({"split": [1]}, r"line 2: split must be a number or a name, got \[1\]"),
        ({"settings": 3}, "line 2: settings must be a name, got 3"),
        ({"solver": 3}, "line 2: solver must be a name, got 3"),
        ({"protocol": "strict"}, "mixes the protocols paper and strict"),
    ],
)
def test_a_wrong_record_is_named_by_line_field_and_value(record, changes, message):
    with pytest.raises(InputError, match=message):
        summarise_records([record(), record(seed=1) | changes])


def test_no_records_are_refused():
    with pytest.raises(InputError, match=r"records\.jsonl holds no records"):
        summarise_records([])


def test_only_failures_are_refused(record, unreadable):
    for failed in (record(accuracy=None, error="no"), unreadable("iris", "no")):
        with pytest.raises(InputError, match="no complete result"):
            summarise_records([failed])
