"""From a table to a model: what is learnt, checked and told on the way."""

from time import perf_counter

import numpy as np
import pandas as pd
import pytest
from small_tables import colour_table, refusal, train_table

from hyperlvq.checks import InputError
from hyperlvq.learnt import LONGEST_LABEL
from hyperlvq.tables import training
from hyperlvq.tables.columns import Column, Kind
from hyperlvq.tables.training import (
    Task,
    features_classifier,
    table_classifier,
    training_rows,
)

QUICK = {"n_units": 20}
GLVQ = "intrvfl", "glvq"
NUMBER, TEXT = Column("a", Kind.NUMBER), Column("t", Kind.TEXT)


@pytest.mark.parametrize(
    ("recipe", "n_rows", "expected"),
    [
        (None, 19, (False, 1)),
        (None, 1000, (False, 2)),
        (("intrvfl", "centroids"), 19, (False, 1)),
        (("intrvfl", "centroids"), 1000, (False, 5)),
        (("rvfl", "centroids"), 20, (True, 2)),
        (("features", "centroids"), 300, (True, 2)),
    ],
)
def test_columns_are_features_as_the_model_and_the_number_of_rows_ask(recipe, n_rows, expected):
    columns = [TEXT, Column("d", Kind.DROPPED), NUMBER, Column("when", Kind.DATE)]

    vectorizer = table_classifier(columns, n_rows, recipe, seed=0)["columns"]

    assert (vectorizer.numbers, vectorizer.text, vectorizer.dates) == (["a"], ["t"], ["when"])
    assert (vectorizer.fill, vectorizer.min_rows) == expected
    assert vectorizer.max_levels == 100


def test_every_random_state_is_the_seed():
    parameters = features_classifier(GLVQ, 7).get_params()

    seeds = [value for name, value in parameters.items() if name.endswith("random_state")]
    assert seeds == [7, 7]
    assert features_classifier(None, 7)[-1].random_state == 7


@pytest.fixture
def colours(read):
    return read(colour_table())


def test_progress_goes_from_nothing_to_all_of_every_step(colours):
    steps = []

    train_table(
        colours,
        Task("colour", GLVQ, {**QUICK, "clip": 3, "slope": 5.0}, n_folds=2, tune=True),
        lambda *step: steps.append(step),
    )

    tuning = [("tuning", done, 6) for done in range(7)]
    validating = [("cross-validating", done, 2) for done in range(3)]
    assert steps == [*tuning, ("training", 0, 1), ("training", 1, 1), *validating]


@pytest.mark.parametrize(("n_networks", "n_steps"), [(1, 2), (3, 3)])
def test_progress_moves_with_every_network_whose_choices_are_known(colours, n_networks, n_steps):
    steps = []
    task = Task("colour", None, {**QUICK, "n_networks": n_networks}, n_folds=0)

    trained = train_table(colours, task, lambda *step: steps.append(step))

    assert steps == [("training", done, n_steps) for done in range(n_steps + 1)]
    classifier = trained.model[-1]
    assert "_on_network" not in vars(classifier)
    assert trained.about["networks"] == classifier.settings_
    accuracy, log_loss = classifier.left_out_accuracy_, classifier.left_out_log_loss_
    assert trained.about["left_out"] == {"accuracy": accuracy, "log_loss": log_loss}


def test_the_found_settings_are_those_of_the_model(colours):
    task = Task("colour", GLVQ, {**QUICK, "clip": 3}, n_folds=0, tune=True)
    start = perf_counter()
    trained = train_table(colours, task)

    readout = trained.model["readout"]
    found = {"prototypes_per_class": readout.prototypes_per_class, "slope": readout.slope}
    assert trained.about["search"]["best"] == found
    assert 0 < trained.about["fit_seconds"] < perf_counter() - start


@pytest.mark.parametrize(
    ("most_rows", "task", "n_folds"),
    [
        (30, Task("colour", None, QUICK), 5),
        (29, Task("colour", None, QUICK), 0),
        (29, Task("colour", None, QUICK, n_folds=2), 2),
        (30, Task("colour", None, {**QUICK, "time_limit": 1e-4}), 0),
        (29, Task("colour", GLVQ, QUICK), 5),
    ],
)
def test_the_default_classifier_is_cross_validated_where_that_is_quick_or_asked_for(
    colours, monkeypatch, most_rows, task, n_folds
):
    monkeypatch.setattr(training, "MOST_VALIDATED_ROWS", most_rows)

    about = train_table(colours, task).about

    validation = about["validation"]
    assert (validation is None) == (n_folds == 0)
    assert validation is None or len(validation.accuracies) == n_folds
    assert ("networks" in about) == ("left_out" in about) == (task.recipe is None)
    note = "not cross-validated because it takes long; --cv 5 enables it"
    assert (note in about["notes"]) == (n_folds == 0)


@pytest.mark.parametrize("n_sizes", [1, 2])
def test_of_several_sizes_that_fit_the_best_is_found(colours, n_sizes):
    sizes = [{"n_units": 20}, {"n_units": 30}][:n_sizes]
    task = Task("colour", ("intrvfl", "centroids"), n_folds=0, sizes=lambda *_: sizes)

    trained = train_table(colours, task)

    search = trained.about["search"]
    assert (search is None) == (n_sizes == 1)
    best = sizes[0] if search is None else search["best"]
    assert trained.model["hidden"].n_units == best["n_units"]


def test_labels_that_are_noise_have_no_better_figures_than_the_largest_class(read, rng):
    y = rng.permutation(["u"] * 140 + ["v"] * 60)
    rows = [
        f"{a},{b},{label}\n" for (a, b), label in zip(rng.normal(size=(200, 2)), y, strict=True)
    ]

    about = train_table(read("a,b,y\n" + "".join(rows)), Task("y", None, QUICK)).about

    assert about["left_out"]["accuracy"] < 0.75
    assert about["validation"].mean < 0.75
    assert about["validation"].log_loss > 0.58  # of the shares of the classes: 0.61


def test_a_fold_may_have_no_value_of_a_column(read):
    rows = [f"{i % 2},{'' if i else 7},{'uv'[i % 2]}\n" for i in range(20)]
    task = Task("y", None, QUICK, n_folds=2, keep=["b"])

    trained = train_table(read("a,b,y\n" + "".join(rows)), task)

    assert trained.about["validation"].mean == 1


@pytest.mark.parametrize(
    ("recipe", "parameters", "sentence"),
    [
        (None, {"n_networks": 0}, "n_networks must be at least 1, got 0"),
        (None, {"clip": 3}, "unexpected keyword argument 'clip'"),
        (GLVQ, {"slope": -1}, "slope must be a finite number above 0, got -1"),
        (("rvfl", "rls"), {"clip": 3}, "'rvfl' with 'rls' has no parameter 'clip'"),
    ],
)
def test_parameters_are_checked_before_the_table_is_looked_at(
    colours, recipe, parameters, sentence
):
    with pytest.raises(InputError, match=sentence):
        train_table(colours, Task("no such column", recipe, parameters))


def test_a_training_that_does_not_converge_is_noted_not_warned_of(colours):
    trained = train_table(colours, Task("colour", GLVQ, {**QUICK, "max_iter": 1}, n_folds=2))

    assert any("max_iter" in note or "converge" in note for note in trained.about["notes"])


def test_what_a_device_rounds_and_what_it_limits_is_noted(read):
    rows = [f"{i},{i}.5,{50_000 + i},2024-01-01 1{i}:20,t,{'uv'[i % 2]}\n" for i in (3, 1, 4)]
    table = read("whole,part,large,when,text,y\n" + "".join(rows))

    notes = training_rows(table, Task("y", device_input="int16", keep=["text"])).about["notes"]

    assert notes == [
        "--input int16: rounded to integers, as on the device: 'part', 'when'; multiply numbers "
        "in the table to keep fractions",
        "--input int16: clipped to -32768 to 32767, as on the device: 'large'; divide numbers in "
        "the table or choose a wider --input",
    ]
    assert training_rows(table, Task("y", keep=["text"])).about["notes"] == []


@pytest.mark.parametrize(
    ("moment", "rounded"),
    [
        ("0001-01-01 10:29:59", "0001-01-01 10:00:00"),
        ("2024-01-01 10:30:00", "2024-01-01 10:00:00"),
        ("2024-01-01 11:30:00", "2024-01-01 12:00:00"),
        ("2024-01-01 23:45:00", "2024-01-01 23:59:59"),
        ("NaT", "NaT"),
    ],
)
def test_hours_for_a_device_are_rounded_within_their_day(moment, rounded):
    frame = pd.DataFrame({"when": np.array([moment, "2024-01-01"], dtype="M8[us]")})

    training._round_features(frame, "int16")

    expected = np.array([rounded, "2024-01-01"], dtype="M8[us]")
    np.testing.assert_array_equal(frame["when"].to_numpy(), expected)


def test_ten_classes_are_never_too_many(read):
    table = read("a,y\n" + "".join(f"{i % 4},c{i}\n" for i in range(10)))

    about = train_table(table, Task("y", parameters=QUICK)).about

    assert (len(about["classes"]), about["validation"]) == (10, None)
    assert (
        about["notes"][-1] == "not cross-validated because it needs two rows in each of two classes"
    )


QUANTITY = (
    "of the target column 'y', which look like a quantity: --category 'y' treats them as classes"
)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (["1,", "2,"], "has no value in the target column 'y'"),
        (["0,yes", "1,yes", "2,yes"], "has only one class in the target column 'y': 'yes'"),
        (
            ["0,yes", f"1,{'x' * 1001}"],
            "has values of more than 1000 characters in the target column 'y', which are too long "
            "for classes",
        ),
        (["0,yes", "NA,yes", "1,", "2,yes"], "has only one class in the target column 'y': 'yes'"),
        (
            [f"{i % 7},{i % 201}" for i in range(3000)],
            f"has 201 distinct values in 3000 rows {QUANTITY}",
        ),
        (
            [f"{i % 7},{i % 11 / 2}" for i in range(300)],
            f"has 11 distinct values in 300 rows {QUANTITY}",
        ),
        (
            [f"{i % 7},{17 + i % 31}" for i in range(300)],
            f"has 31 distinct values in 300 rows {QUANTITY}",
        ),
        (
            [f"{i % 7},c{i % 11}" for i in range(21)],
            f"has 11 distinct values in 21 rows {QUANTITY}".replace("a quantity", "names or text"),
        ),
    ],
)
def test_a_target_that_is_no_class_is_named(read, rows, sentence):
    table = read("\n".join(["a, y", *rows]))

    assert refusal(train_table, table, Task("y", parameters=QUICK)) == f"table.csv {sentence}"


@pytest.mark.parametrize(
    ("labels", "category"),
    [
        *((range(first, 60), ()) for first in (0, 1)),
        (range(200), ()),
        ([i / 2 for i in range(10)], ()),
        ([i / 2 for i in range(40)], ("y",)),
        (["x" * LONGEST_LABEL, "y"], ()),
        (["none", *range(1, 300)], ()),  # names, of which some are numbers
    ],
)
def test_numbers_and_long_names_may_be_classes(read, labels, category):
    rows = [f"{i % 7},{label}" for i, label in enumerate([*labels] * 2)]
    task = Task("y", ("features", "centroids"), n_folds=0, category=category)

    trained = train_table(read("\n".join(["a,y", *rows])), task)

    assert len(trained.about["classes"]) == len(labels)


def test_a_class_may_have_the_name_of_a_missing_value(read):
    rows = [f"{i % 3},{('NA', 'None', 'x')[i % 3]}" for i in range(18)] + ["1,"]

    about = train_table(read("\n".join(["a,y", *rows])), Task("y", None, QUICK)).about

    assert about["classes"] == {"NA": 6, "None": 6, "x": 6}
    assert about["notes"] == [
        "1 row left out because 'y' is missing",
        "'NA' is treated as a class; --missing 'NA' leaves its rows out",
        "'None' is treated as a class; --missing 'None' leaves its rows out",
    ]


def test_a_column_that_varies_by_rounding_only_is_noted_and_a_small_unit_is_not(read):
    rows = "".join(f"{i % 7}e-17,{1 + i % 7 * 2**-52!r},{'uv'[i % 2]}\n" for i in range(30))

    trained = train_table(read("tiny,level,y\n" + rows), Task("y", GLVQ, n_folds=0))

    (note,) = trained.about["notes"]
    assert note.startswith("'level' varies by only 1.3e-15")
