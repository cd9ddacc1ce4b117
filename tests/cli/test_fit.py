"""`hyperlvq fit`: what it learns from, what it says beyond the tutorial, what it writes."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from shell import hyperlvq, hyperlvq_bytes, in_process, output_of
from small_tables import QUICK, colour_table

import hyperlvq as package
from hyperlvq.checks import InputError
from hyperlvq.model_files import read_path
from hyperlvq.tables import training
from hyperlvq.tables.about import from_notes, to_plain


def refuse_constant(name):
    raise AssertionError(f"{name} is no JSON")


@pytest.fixture
def path(tmp_path):
    """Return where models go."""
    return tmp_path / "m.hlvq"


@pytest.fixture
def quick_fit(path):
    """Return what fits a model as quickly as can be, and returns its path."""

    def fitted(table, *options, target="colour"):
        output_of("fit", table, "-t", target, "-o", path, *QUICK, *options)
        return path

    return fitted


@pytest.fixture
def decisions(table):
    """Return what a model says of the small table."""
    return lambda path: package.load(path).decision_function(pd.read_csv(table))


@pytest.mark.parametrize(("options", "is_shown"), [((), True), (["--quiet"], False)])
def test_a_terminal_shows_the_table_before_training(options, is_shown, table, path, monkeypatch):
    def stop(*_):
        raise InputError("training began")

    monkeypatch.setattr(training, "train", stop)
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal

    code, output, errors = hyperlvq("fit", table, "-t", "colour", "-o", path, *options)

    assert (code, output) == (2, "")
    assert errors.endswith("hyperlvq: training began\n")
    assert ("columns  3 used: 2 numeric, 1 text" in errors) == is_shown


@pytest.mark.parametrize(
    ("options", "guessing"),
    [
        (("--time-limit", "0.0001"), "always predicting blue: 0.333"),
        (
            ("--networks", "1", "--cv", "0", "--class-weight", "balanced"),
            "all classes weighted",
        ),
    ],
)
def test_without_cross_validation_the_accuracy_is_that_of_left_out_rows(
    options, guessing, table, path
):
    output = output_of("fit", table, "-t", "colour", "-o", path, *options)

    note = "note     not cross-validated because it takes long; --cv 5 enables it\n"
    assert (note in output) == ("--time-limit" in options)
    assert f"accuracy  1.000 by leave-one-out ({guessing}" in output
    assert (
        "note      the accuracy is optimistic because the settings were chosen on these rows\n"
        in output
    )
    assert "majority" not in output


@pytest.mark.parametrize(
    "option",
    [
        *("--hidden=rvfl", "--readout=rls", "--clip=3", "--slope=5", "--prototypes-per-class=2"),
        "--tune",
    ],
)
def test_an_option_that_only_recipes_have_trains_a_recipe(option, table, quick_fit):
    model = package.load(quick_fit(table, option))

    assert [*model.named_steps] == ["columns", "scale", "hidden", "readout"]


def test_options_of_the_default_classifier_reach_it(table, quick_fit):
    options = ("--networks", "2", "--time-limit", "100", "--class-weight", "balanced")
    model = package.load(quick_fit(table, *options))

    assert [*model.named_steps] == ["columns", "classifier"]
    classifier = model["classifier"]
    assert (classifier.n_networks, classifier.n_units) == (2, 20)
    assert classifier.class_weight == "balanced"
    assert len(classifier.kinds_) == 41


def test_the_same_seed_gives_the_same_model(table, default_model, quick_fit, decisions):
    expected = decisions(default_model)

    np.testing.assert_array_equal(decisions(quick_fit(table, "--seed", 0)), expected)
    assert (decisions(quick_fit(table, "--seed", 2)) != expected).any()


@pytest.mark.parametrize(
    ("readout", "parameters"),
    [
        (
            "glvq",
            {"clip": 5, "slope": 9, "max_iter": 2, "tol": 0.5, "class_weight": "balanced"},
        ),
        ("glvq", {"slope": "auto", "tol": "auto", "init_noise": 0.25}),
        ("rls", {"alpha": "loo"}),
        ("kglvq", {"gamma": "scale", "tol": 0.1}),
    ],
)
def test_parameters_reach_the_model(table, quick_fit, readout, parameters):
    options = [f"--{name.replace('_', '-')}={value}" for name, value in parameters.items()]

    model = package.load(quick_fit(table, "--readout", readout, *options))

    found = model["hidden"].get_params() | model["readout"].get_params()
    assert {name: found[name] for name in parameters} == parameters
    assert found["n_units"] == 20


LEFT_OUT = "".join(f"{i},2024-01-{i + 1:02d},1,,{i % 5},{'uv'[i % 2]}\n" for i in range(28))
NUMBERS = "".join(f"{i % 3},{(2, 10, 1)[i % 3]}\n" for i in range(30))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "id,date,same,nothing,a,y\n" + LEFT_OUT,
            [
                "left out  id: identifier\n",
                "columns   2 used: 1 numeric, 0 text, 1 date\n",
                "left out  same: constant\n",
                "left out  nothing: empty\n",
            ],
        ),
        (
            "a,y\n" + "1,u\n2,v\n" * 9 + "1,\n",
            ["18 rows", "note     1 row left out because 'y' is missing"],
        ),
        (
            "a,y\n" + "1,u\n" * 9 + "2,v\n" * 3,
            [
                "3 cross-validation folds instead of 5 because the classes are small",
                "in 3-fold cross-validation",
            ],
        ),
        (
            "a,y\n" + NUMBERS,
            ["target   y: 1 10 (33%), 2 10 (33%), 10 10 (33%)", "true \\ predicted   1   2  10"],
        ),
    ],
)
def test_what_is_left_out_or_unusual_is_said(content, said, tmp_path, path):
    (tmp_path / "t.csv").write_text(content)

    output = output_of("fit", tmp_path / "t.csv", "-t", "y", "-o", path, "--n-units", "20")

    for words in said:
        assert words in output


@pytest.mark.parametrize(
    "text",
    [
        *("a, b", 'say "no"', "🐧", "O'Neill", "naïve", "a;b", "$x^2$", "[red]", "two\nlines"),
        *("my column", 'a "quoted" one', "a,b", "x" * 300),
    ],
)
def test_labels_and_columns_of_any_text_come_back_as_they_were(text, quick_fit, tmp_path):
    name = text.replace("\n", " ")
    frame = pd.DataFrame({"a": range(20), "b": 0.5, name: [1, 2] * 10, "y": [text, "other"] * 10})
    frame.to_csv(tmp_path / "t.csv", index=False)

    model = quick_fit(tmp_path / "t.csv", "--keep", "a", "--drop", "b", target="y")
    output_of("predict", model, tmp_path / "t.csv", "-o", tmp_path / "p.csv")

    columns = from_notes(read_path(model), "m")["columns"]
    kinds = [("a", "number"), ("b", "dropped"), (name, "number")]
    assert [(column.name, column.kind) for column in columns] == kinds
    assert pd.read_csv(tmp_path / "p.csv")["y"].tolist() == frame["y"].tolist()


def test_standard_input_and_output_are_a_table_and_a_model(tmp_path):
    code, model, errors = hyperlvq_bytes(
        "fit", "-", "-t", "colour", "-o", "-", *QUICK, standard_input=colour_table().encode()
    )
    assert code == 0
    assert "table    standard input: 30 rows" in errors
    assert "saved: standard output (" in errors
    (tmp_path / "new.csv").write_text("a,b,kind\n0,1,x\n2,1,y\n")

    output = output_of("predict", "-", tmp_path / "new.csv", standard_input=model)

    assert output == "colour\nred\nblue\n"


def test_a_model_that_nobody_reads_is_not_saved(table):
    reader, writer = os.pipe()
    os.close(reader)
    code, _, errors = in_process("fit", table, "-t", "colour", "-o", "-", *QUICK, stdout=writer)
    os.close(writer)

    sentence = "hyperlvq: standard output cannot be written: Broken pipe\n"
    assert (code, errors) == (2, sentence)


@pytest.mark.parametrize("further", [("--tune", "--cv", "2"), ("--cv", "2"), ("--cv", "0")])
def test_json_holds_what_the_model_remembers_and_shows(further, table, path):
    options = ("--n-units", "20", *further, "--json")
    output = output_of("fit", table, "-t", "colour", "-o", path, *options)

    known = json.dumps(to_plain(from_notes(read_path(path), "m")), indent=2)
    assert json.loads(output, parse_constant=refuse_constant) == json.loads(known)
    assert output_of("show", path, "--json") == f"{known}\n"


def test_a_model_replaces_the_old_if_it_has_the_accuracy_asked_for_and_quiet_says_nothing(
    table, path
):
    path.write_text("old")
    fit = ("fit", table, "-t", "colour", "-o", path, "--n-units", "20", "--cv", "2")
    code, output, errors = hyperlvq(*fit, "--min-accuracy", "1")

    assert (code, errors, path.read_text()) == (1, "", "old")
    assert output.endswith("not saved: the accuracy is below --min-accuracy\n")
    assert output_of(*fit, "--min-accuracy", "0.1", "-q") == ""
    assert from_notes(read_path(path), "m")["rows"] == 30
    assert list(path.parent.iterdir()) == [path]
