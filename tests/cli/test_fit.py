"""`hyperlvq fit`: what it learns from, what it says, what it writes."""

import gzip
import json
import os
import subprocess
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from shell import PROGRAM, hyperlvq, hyperlvq_bytes
from small_tables import QUICK, colour_table

import hyperlvq as package
from hyperlvq.model_files import read_path
from hyperlvq.tables.about import from_notes, to_plain


def refuse_constant(name):
    raise AssertionError(f"{name} is no JSON")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "colours.csv"
    path.write_text(colour_table())
    return path


def fit(table, folder, *options, target="colour"):
    """Fit a model, as quickly as can be, and return its path."""
    model = folder / "m.hlvq"
    result = hyperlvq("fit", table, "-t", target, "-o", model, *QUICK, *options)
    assert (result[0], result[2]) == (0, "")
    return model


def test_the_report_names_what_was_learnt_and_how_well(table, tmp_path):
    code, output, errors = hyperlvq("fit", table, "-t", "colour", "-o", tmp_path / "m.hlvq")

    assert (code, errors) == (0, "")
    assert "table    colours.csv: 30 rows" in output
    assert "target   colour: blue 10 (33%), green 10 (33%), red 10 (33%)" in output
    assert "columns  3 used: 2 of numbers, 1 of text" in output
    assert "in 5-fold cross-validation (always blue: 0.333)" in output
    assert "true \\ predicted  blue  green  red" in output
    assert "intrvfl with glvq: n_units=1000, clip=7" in output
    assert "flops" in output
    assert f"saved: {tmp_path / 'm.hlvq'} (" in output


def test_the_same_seed_gives_the_same_model(table, tmp_path):
    frame = pd.read_csv(table)
    first, again, other = (
        package.load(fit(table, tmp_path, "--seed", seed)).decision_function(frame)
        for seed in (1, 1, 2)
    )

    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_every_recipe_can_be_saved_and_used(table, tmp_path):
    for hidden in ("features", "rvfl", "intrvfl"):
        for readout in ("rls", "centroids", "perceptron", "lvq1", "glvq", "kglvq"):
            recipe = ("--hidden", hidden, "--readout", readout, "--cv", "0")
            code, _, errors = hyperlvq(
                "fit", table, "-t", "colour", "-o", tmp_path / "m.hlvq", *recipe
            )
            assert (code, errors) == (0, "")

            code, output, errors = hyperlvq("predict", tmp_path / "m.hlvq", table)
            assert (code, errors, output.count("\n")) == (0, "", 31)


def test_parameters_reach_the_model(table, tmp_path):
    hidden = {"--clip": 5}
    readout = {"--slope": 9, "--max-iter": 2, "--tol": 0.5, "--init-noise": 0.25}
    readout["--class-weight"] = "balanced"
    options = [part for pair in {**hidden, **readout}.items() for part in pair]

    model = package.load(fit(table, tmp_path, *options))

    assert model["hidden"].n_units == 20
    for step, given in (("hidden", hidden), ("readout", readout)):
        for option, value in given.items():
            assert getattr(model[step], option[2:].replace("-", "_")) == value


@pytest.mark.parametrize(
    ("recipe", "taken"),
    [
        (("intrvfl", "centroids"), "--n-units, --clip"),
        (
            ("features", "lvq1"),
            "--prototypes-per-class, --learning-rate, --max-iter, --init-noise, --class-weight",
        ),
        (("features", "centroids"), "no parameters"),
    ],
)
def test_a_parameter_that_a_recipe_has_not_is_told_with_the_options_it_has(
    table, tmp_path, recipe, taken
):
    hidden, readout = recipe
    options = ("--hidden", hidden, "--readout", readout, "--alpha", "3")
    result = hyperlvq("fit", table, "-t", "colour", "-o", tmp_path / "m", *options)

    sentence = f"hyperlvq: {hidden} with {readout} takes no --alpha; it takes {taken}\n"
    assert result == (2, "", sentence)


def test_kept_and_dropped_columns_are_as_asked(tmp_path):
    rows = [f"{i},{i % 2},{'uv'[i % 2]}\n" for i in range(20)]
    table = tmp_path / "t.csv"
    table.write_text("id,a,y\n" + "".join(rows))

    kept = from_notes(
        read_path(fit(table, tmp_path, "--keep", "id", "--drop", "a", target="y")), "m"
    )

    assert [(column.name, column.kind) for column in kept["columns"]] == [
        ("id", "number"),
        ("a", "dropped"),
    ]


LEFT_OUT = "".join(f"{i},2024-01-{i + 1:02d},1,,{i % 5},{'uv'[i % 2]}\n" for i in range(28))
NUMBERS = "".join(f"{i % 3},{(2, 10, 1)[i % 3]}\n" for i in range(30))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "id,date,same,nothing,a,y\n" + LEFT_OUT,
            [
                "left out  id: an identifier\n",
                "left out  date: dates\n",
                "left out  same: always the same\n",
                "left out  nothing: empty\n",
            ],
        ),
        ("a,y\n" + "1,u\n2,v\n" * 9 + "1,\n", ["18 rows", "note     left out: 1 row has no 'y'"]),
        ("a,y\n" + "1,u\n2,v\n" * 9 + "9,mauve\n", ["mauve 1 (5%)"]),
        ("a,y\n1,u\n2,v\n", ["not cross-validated: that takes two rows in each of two classes"]),
        (
            "a,y\n" + "1,u\n" * 9 + "2,v\n" * 3,
            [
                "cross-validated in 3 folds, not 5: the classes are small",
                "in 3-fold cross-validation",
            ],
        ),
        (
            "a,y\n" + NUMBERS,
            ["target   y: 1 10 (33%), 2 10 (33%), 10 10 (33%)", "true \\ predicted   1   2  10"],
        ),
    ],
)
def test_what_is_left_out_or_unusual_is_said(content, said, tmp_path):
    (tmp_path / "t.csv").write_text(content)

    code, output, _ = hyperlvq(
        "fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m", "--n-units", "20"
    )

    assert code == 0
    for words in said:
        assert words in output


@pytest.mark.parametrize(
    "label", ["a, b", 'say "no"', "🐧", "two\nlines", "O'Neill", "naïve", "a;b", "$x^2$", "[red]"]
)
def test_labels_of_any_text_come_back_as_they_were(label, tmp_path):
    frame = pd.DataFrame({"a": range(20), "b": [1, 2] * 10, "y": [label, "other"] * 10})
    frame.to_csv(tmp_path / "t.csv", index=False)

    model = fit(tmp_path / "t.csv", tmp_path, "--keep", "a", target="y")
    code, _, errors = hyperlvq("predict", model, tmp_path / "t.csv", "-o", tmp_path / "p.csv")

    assert (code, errors) == (0, "")
    assert pd.read_csv(tmp_path / "p.csv")["y"].tolist() == frame["y"].tolist()


def test_labels_lose_surrounding_blanks(tmp_path):
    (tmp_path / "t.csv").write_text("a, y\n" + "1, u\n2, v \n" * 5)

    model = package.load(fit(tmp_path / "t.csv", tmp_path, target="y"))

    assert model.classes_.tolist() == ["u", "v"]


@pytest.mark.parametrize("name", ["my column", 'a "quoted" one', "🐧", "a,b", "größe", "x" * 300])
def test_columns_of_any_name_are_used(name, tmp_path):
    frame = pd.DataFrame({name: [1, 2] * 10, "y": ["u", "v"] * 10})
    frame.to_csv(tmp_path / "t.csv", index=False)

    about = from_notes(read_path(fit(tmp_path / "t.csv", tmp_path, target="y")), "m")

    assert [column.name for column in about["columns"]] == [name]


FORMS = {
    "a byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "semicolons": lambda text: text.replace(",", ";").encode(),
    "tabs": lambda text: text.replace(",", "\t").encode(),
    "bars": lambda text: text.replace(",", "|").encode(),
    "gzip": lambda text: gzip.compress(text.encode()),
    "no last line end": lambda text: text.rstrip().encode(),
    "decimal commas": lambda text: text.replace(",", ";").replace(".", ",").encode(),
    "Parquet": lambda text: pd.read_csv(StringIO(text)).to_parquet(),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_a_table_does_not_matter(form, table, tmp_path):
    frame = pd.read_csv(table)
    expected = package.load(fit(table, tmp_path)).decision_function(frame)
    table.write_bytes(FORMS[form](colour_table()))

    found = package.load(fit(table, tmp_path)).decision_function(frame)

    np.testing.assert_array_equal(found, expected)


def test_standard_input_and_output_are_a_table_and_a_model(tmp_path):
    code, model, errors = hyperlvq_bytes(
        "fit", "-", "-t", "colour", "-o", "-", *QUICK, standard_input=colour_table().encode()
    )
    assert code == 0
    assert "table    standard input: 30 rows" in errors
    assert "saved: standard output (" in errors
    (tmp_path / "new.csv").write_text("a,b,kind\n0,1,x\n2,1,y\n")

    code, output, errors = hyperlvq("predict", "-", tmp_path / "new.csv", standard_input=model)

    assert (code, errors) == (0, "")
    assert output == "colour\nred\nblue\n"


def test_a_model_that_nobody_reads_is_not_saved(table):
    reader, writer = os.pipe()
    os.close(reader)

    process = subprocess.run(
        [*PROGRAM, "fit", str(table), "-t", "colour", "-o", "-", *QUICK],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)

    sentence = "hyperlvq: standard output cannot be written: Broken pipe\n"
    assert (process.returncode, process.stderr) == (2, sentence)


def test_json_holds_what_the_model_remembers(table, tmp_path):
    model = tmp_path / "m.hlvq"
    options = ("--n-units", "20", "--tune", "--cv", "2", "--json")
    code, output, _ = hyperlvq("fit", table, "-t", "colour", "-o", model, *options)

    assert code == 0
    known = json.dumps(to_plain(from_notes(read_path(model), "m")))
    assert json.loads(output, parse_constant=refuse_constant) == json.loads(known)


def test_an_accuracy_not_reached_is_exit_code_1_and_no_model(table, tmp_path):
    options = ("--n-units", "1", "--cv", "2", "--min-accuracy", "1")
    code, output, errors = hyperlvq("fit", table, "-t", "b", "-o", tmp_path / "m.hlvq", *options)

    assert (code, errors) == (1, "")
    assert output.endswith("not saved: the accuracy is below --min-accuracy\n")
    assert [path.name for path in tmp_path.iterdir()] == ["colours.csv"]


def test_an_accuracy_reached_is_a_model_and_quiet_says_nothing(table, tmp_path):
    options = ("--n-units", "20", "--cv", "2", "--min-accuracy", "0.1", "-q")

    result = hyperlvq("fit", table, "-t", "colour", "-o", tmp_path / "m", *options)

    assert result == (0, "", "")
    assert (tmp_path / "m").exists()


def test_tuning_shows_its_rounds_and_keeps_what_is_given(table, tmp_path):
    options = ("--tune", "--n-units", "20", "--clip", "3", "--cv", "0")
    code, output, _ = hyperlvq("fit", table, "-t", "colour", "-o", tmp_path / "m", *options)

    assert code == 0
    assert "tuned     4 settings on 30 rows: " in output
    assert "note      chosen on these rows: expect a little less than this accuracy" in output
    assert "n_units=20, clip=3" in output


def test_a_model_replaces_an_earlier_one(table, tmp_path):
    (tmp_path / "m.hlvq").write_text("old")

    fit(table, tmp_path)

    assert from_notes(read_path(tmp_path / "m.hlvq"), "m")["rows"] == 30
    assert sorted(path.name for path in tmp_path.iterdir()) == ["colours.csv", "m.hlvq"]


def test_help_has_an_example():
    code, output, _ = hyperlvq("fit", "--help")

    assert code == 0
    assert "Example: hyperlvq fit train.csv --target species -o model.hlvq" in output
