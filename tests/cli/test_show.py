"""`hyperlvq show`: what a model file holds."""

import json
import subprocess

import numpy as np
import pytest
from model_files import changed, put_together, take_apart
from shell import PROGRAM, hyperlvq
from small_tables import fit_colours

import hyperlvq as package
from hyperlvq.model_files import read_path
from hyperlvq.tables.about import from_notes, to_plain


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fit_colours(tmp_path_factory.mktemp("model"))


def test_a_model_shows_settings_training_classes_and_columns(model):
    code, output, errors = hyperlvq("show", model)

    assert (code, errors) == (0, "")
    lines = [line.split() for line in output.splitlines()]
    assert lines[0][:5] == ["model", "intrvfl", "with", "glvq:", "n_units=20,"]
    assert "trained   on 30 rows of colours.csv, 20" in output
    assert "target    colour: blue 10 (33%), green 10 (33%), red 10 (33%)" in output
    assert ["a", "number", "0", "0", "to", "2.29"] in lines
    assert ["kind", "text", "0", "x,", "y"] in lines


def test_json_is_what_the_file_remembers(model):
    _, output, _ = hyperlvq("show", model, "--json")

    assert output == json.dumps(to_plain(from_notes(read_path(model), "m")), indent=2) + "\n"


def test_a_model_comes_from_standard_input_too(model):
    piped = hyperlvq("show", "-", standard_input=model.read_bytes())

    assert piped == hyperlvq("show", model)


def test_a_model_of_python_shows_what_can_be_known(tmp_path):
    X, y = np.arange(12.0).reshape(6, 2), ["u", "v", "w"] * 2
    recipe = package.make_classifier("intrvfl", "centroids", n_units=30, random_state=0)
    package.save(recipe.fit(X, y), tmp_path / "m.hlvq")

    assert hyperlvq("show", tmp_path / "m.hlvq")[1].splitlines() == [
        "model    intrvfl with centroids: n_units=30, clip=3",
        "trained  in Python, on 2 features",
        "columns  without names, so no table can be matched to it",
        "classes  u, v, w",
    ]


def test_notes_of_something_else_are_one_sentence(model, tmp_path):
    other = changed(model.read_bytes(), notes={"target": "colour"})
    values, arrays = take_apart(other)
    arrays = {name: array for name, array in arrays.items() if not name.startswith("notes.")}
    (tmp_path / "m.hlvq").write_bytes(put_together(values, arrays))

    assert hyperlvq("show", tmp_path / "m.hlvq") == (
        2,
        "",
        f"hyperlvq: {tmp_path / 'm.hlvq'} has notes in it that hyperlvq fit did not write\n",
    )


def test_a_closed_standard_input_is_one_sentence():
    process = subprocess.run(
        ["sh", "-c", '"$@" <&-', "sh", *PROGRAM, "show", "-"], stderr=subprocess.PIPE
    )

    assert process.returncode == 2
    assert process.stderr == b"hyperlvq: standard input is closed\n"
