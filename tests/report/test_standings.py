import pytest

from hyperlvq.checks import InputError
from hyperlvq.report.results import summarise_records
from hyperlvq.report.standings import standings

ACCURACIES = {"hyperlvq": (0.9, 0.8, 0.7, 0.9), "forest": (0.8, 0.8, 0.75, 0.7), "svm": (0.7,) * 4}
# adult has a test file
SETS = {"adult": 24000, "letter": 15000, "iris": 112, "wine": 133}


@pytest.fixture
def study(record):
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
        for (dataset, n_train), accuracy in zip(SETS.items(), accuracies, strict=True)
    )


def test_models_stand_beside_the_reference_on_all_sets_and_on_parts_of_them(study):
    table = standings(study, "hyperlvq")

    assert table["sets"].groupby(level="group", sort=False).first().tolist() == [4, 2, 3]
    everywhere = table.loc["all data sets"]
    assert list(everywhere.index) == ["hyperlvq", "forest", "svm"]
    assert everywhere["mean_accuracy"].tolist() == pytest.approx([0.825, 0.7625, 0.7])
    assert everywhere["mean_log_loss"].tolist() == pytest.approx(
        [0.175, 0.2375, float("nan")], nan_ok=True
    )
    assert everywhere.loc["forest", ["wins", "ties", "losses"]].tolist() == [1, 1, 2]
    assert everywhere.loc["hyperlvq", ["wins", "wilcoxon"]].isna().all()
    assert everywhere.loc["svm", "total_fit_seconds"] == pytest.approx(39.245)
    assert everywhere.loc["svm", "median_fit_seconds"] == pytest.approx((15 + 0.133) / 2)
    large = table.loc["more than 910 training samples"]
    assert large.loc["forest", "mean_accuracy"] == pytest.approx(0.8)
    assert table.loc["without a test file"].loc["forest", "mean_accuracy"] == pytest.approx(0.75)


def test_p_values_are_corrected_within_a_group(study):
    p_values = standings(study, "hyperlvq").loc["all data sets"].loc[["forest", "svm"]]

    assert p_values["wilcoxon_holm"].max() >= p_values["wilcoxon"].max()
    assert p_values["wilcoxon_holm"].min() == pytest.approx(2 * p_values["wilcoxon"].min())


def test_a_part_that_holds_nothing_or_everything_is_no_group(record):
    study = summarise_records([record(model=model) for model in ("forest", "svm")])

    assert standings(study, "svm").index.unique("group").tolist() == ["all data sets"]


def test_a_reference_that_was_not_run_is_refused(study):
    with pytest.raises(InputError, match=r"reference must be one of .*, got 'knn'"):
        standings(study, "knn")
