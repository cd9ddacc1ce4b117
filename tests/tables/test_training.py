"""From a table to a model: what is learnt, checked and told on the way."""

from time import perf_counter

import pytest
from small_tables import colour_table

from hyperlvq.checks import InputError
from hyperlvq.tables.read import read_table
from hyperlvq.tables.training import Task, train

QUICK = {"n_units": 20}


@pytest.fixture
def colours(tmp_path):
    (tmp_path / "t.csv").write_text(colour_table())
    return read_table(tmp_path / "t.csv")


def no_progress(activity, done, total):
    pass


def test_progress_goes_from_nothing_to_all_of_every_step(colours):
    steps = []

    train(
        colours,
        Task("colour", parameters={**QUICK, "clip": 3, "slope": 5.0}, n_folds=2, tune=True),
        lambda *step: steps.append(step),
    )

    tuning = [("tuning", done, 6) for done in range(7)]
    validating = [("cross-validating", done, 2) for done in range(3)]
    assert steps == [*tuning, *validating, ("training", 0, 1), ("training", 1, 1)]


def test_the_found_settings_are_those_of_the_model(colours):
    trained = train(
        colours, Task("colour", parameters={**QUICK, "clip": 3}, n_folds=0, tune=True), no_progress
    )

    readout = trained.model["readout"]
    found = {"prototypes_per_class": readout.prototypes_per_class, "slope": readout.slope}
    assert trained.search.best == found


def test_fit_seconds_are_a_part_of_the_time_it_took(colours):
    start = perf_counter()
    trained = train(colours, Task("colour", parameters=QUICK, n_folds=0), no_progress)

    assert 0 < trained.fit_seconds < perf_counter() - start


def test_parameters_are_checked_before_the_table_is_looked_at(colours):
    with pytest.raises(InputError, match="slope must be a finite number above 0, got -1"):
        train(colours, Task("no such column", parameters={"slope": -1}), no_progress)


def test_a_training_that_does_not_converge_is_noted_not_warned_of(colours):
    trained = train(
        colours, Task("colour", parameters={**QUICK, "max_iter": 1}, n_folds=2), no_progress
    )

    assert any("max_iter" in note or "converge" in note for note in trained.notes)


def test_ten_classes_are_never_too_many(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i % 4},c{i}\n" for i in range(10)))

    trained = train(read_table(tmp_path / "t.csv"), Task("y", parameters=QUICK), no_progress)

    assert len(trained.class_counts) == 10
    assert trained.validation is None


def test_the_texts_that_left_one_class_are_named(read):
    table = read("a, y\n1,yes\n2,NA\n3,yes\n4,\n5,NA\n6,?\n")

    with pytest.raises(InputError) as error:
        train(table, Task("y", parameters=QUICK), no_progress)

    assert str(error.value) == (
        "table.csv has one class only in the column 'y': 'yes'; "
        "3 rows have no label because '?' and 'NA' are read as missing"
    )


def test_the_texts_that_left_no_class_are_named(read):
    with pytest.raises(InputError) as error:
        train(read("a,y\n1,NA\n2,\n"), Task("y", parameters=QUICK), no_progress)

    assert str(error.value) == (
        "table.csv has no value in the target column 'y'; "
        "1 row has no label because 'NA' is read as missing"
    )


@pytest.mark.parametrize("rows", ["1,yes\n2,yes\n", "1,yes\n2,\n", "NA,yes\n2,yes\n"])
def test_one_class_without_such_texts_is_just_one_class(read, rows):
    table = read(f"a,y\n0,yes\n{rows}")

    with pytest.raises(InputError, match=r"has one class only in the column 'y': 'yes'$"):
        train(table, Task("y", parameters=QUICK), no_progress)


def test_many_numbers_are_a_quantity_however_many_rows_there_are(read):
    rows = "".join(f"{i % 7},{i % 300}\n" for i in range(3000))

    with pytest.raises(
        InputError, match=r"300 different values in 3000 rows .* that is a quantity"
    ):
        train(read(f"a,price\n{rows}"), Task("price"), lambda *_: None)
