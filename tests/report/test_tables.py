"""Tables beside the paper's figures."""

import numpy as np
import pandas as pd
import pytest

from hyperlvq.report.results import summarise_records
from hyperlvq.report.tables import per_set_table, summary_table


@pytest.fixture
def study(record):
    return summarise_records(
        record(model=model, dataset=dataset, accuracy=accuracy)
        for model, dataset, accuracy in [
            ("rls_features", "a", 0.6),
            ("rls_features", "b", 0.8),
            ("rls_features", "c", 0.9),
            ("intrvfl_glvq_10", "a", 0.7),
        ]
    )


@pytest.fixture
def paper():
    return pd.DataFrame({"rls_features": {"a": 0.5, "b": 0.9, "z": 0.1}})


def test_the_summary_compares_on_the_sets_that_both_have(study, paper):
    row = summary_table(study, paper).loc["rls_features"]

    assert row["sets"] == 3
    assert row["mean_accuracy"] == pytest.approx(2.3 / 3)
    assert row["paper_sets"] == 2
    assert row["paper_mean"] == pytest.approx(0.7)
    assert row["difference"] == pytest.approx(0.0)
    assert row["mean_absolute_difference"] == pytest.approx(0.1)
    assert row["correlation"] == pytest.approx(1.0)


def test_a_mean_the_paper_gives_in_its_text_is_quoted(study, paper):
    table = summary_table(study, paper)

    assert table.loc["intrvfl_glvq_10", "quoted_mean"] == 0.81
    assert np.isnan(table.loc["rls_features", "quoted_mean"])
    assert np.isnan(table.loc["intrvfl_glvq_10", "paper_mean"])


def test_without_a_paper_nothing_is_compared(study):
    table = summary_table(study)

    assert (table["paper_sets"] == 0).all()
    assert table[["paper_mean", "difference", "correlation"]].isna().all(axis=None)


def test_the_per_set_table_puts_the_paper_after_the_model(study, paper):
    table = per_set_table(study, paper)

    assert list(table) == ["rls_features", "rls_features_paper", "intrvfl_glvq_10"]
    assert table.loc["b"].tolist()[:2] == [0.8, 0.9]
    assert np.isnan(table.loc["c", "rls_features_paper"])
    assert list(table.index) == ["a", "b", "c"]
