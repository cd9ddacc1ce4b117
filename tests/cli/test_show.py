"""`hyperlvq show`: what a model file holds."""

import json
import subprocess

import numpy as np
from shell import PROGRAM, check_is_refused, hyperlvq, output_of

import hyperlvq as package


def test_a_model_of_python_shows_what_can_be_known(tmp_path):
    X, y = np.arange(12.0).reshape(6, 2), ["u", "v", "w"] * 2
    recipe = package.make_classifier("intrvfl", "centroids", n_units=30, random_state=0)
    package.save(recipe.fit(X, y), tmp_path / "m.hlvq")

    assert output_of("show", tmp_path / "m.hlvq").splitlines() == [
        "model    intrvfl with centroids: n_units=30, clip=3",
        "trained  in Python, on 2 features",
        "columns  unnamed, so the model cannot be applied to tables",
        "classes  u, v, w",
    ]


def test_a_closed_standard_input_is_one_sentence():
    command = ["sh", "-c", '"$@" <&-', "sh", *PROGRAM, "show", "-"]
    process = subprocess.run(command, stderr=subprocess.PIPE)

    assert (process.returncode, process.stderr) == (2, b"hyperlvq: standard input is closed\n")


#: Names of columns that would clear a terminal and turn the direction of its text.
NAMES = ["size\x1b[2J", "colo\u202eur"]
ROWS = "1,red,a\n2,blue,b\n3,red,a\n4,blue,b\n5,red,a\n6,blue,b\n"


def test_names_do_not_reach_a_terminal_raw_and_are_the_same_in_json(tmp_path):
    table, model = tmp_path / "table.csv", tmp_path / "a.hlvq"
    table.write_text(f"{','.join(NAMES)},kind\n{ROWS}", encoding="utf-8")
    said = output_of("fit", table, "--target", "kind", "-o", model, "--cv", "2")
    as_json = output_of("show", model, "--json")

    for line in f"{said}\n{output_of('show', model)}\n{as_json}".split("\n"):
        assert line.isprintable()
    assert [column["name"] for column in json.loads(as_json)["columns"]] == NAMES


def test_sentence_about_such_a_name_is_one_printable_line(tmp_path):
    result = hyperlvq("show", tmp_path / "no\x1b[2J\nthing.hlvq")

    check_is_refused(result, "no\\u001b[2J\\u000athing.hlvq cannot be read")
    assert result[2][:-1].isprintable()
