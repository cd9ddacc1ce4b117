"""A readout that a stranger registers goes everywhere that ours go."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import toy_readout
from small_tables import colour_table

import hyperlvq
from hyperlvq.checks import InputError
from hyperlvq.export import make_plan
from hyperlvq.registry import PARTS, estimator_class, readouts, record_of
from hyperlvq.study.collection import BuiltinCollection
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.runner import run_study

WITH_TOY = "import toy_readout; toy_readout.register(); from hyperlvq.cli import main; main()"
RECIPE = ("--readout", "medians", "--n-units", "50")


@pytest.fixture(scope="module")
def toy():
    """Yield the toy's class, registered as long as the tests of this module run."""
    toy_readout.register()
    yield toy_readout.MedianClassifier
    del PARTS["MedianClassifier"]


def command(*arguments, folder):
    """Return the output of a command of a program that has registered the toy."""
    run = subprocess.run(
        [sys.executable, "-c", WITH_TOY, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={"PYTHONPATH": f"{Path(__file__).parent}:{Path(hyperlvq.__file__).parents[1]}"},
    )
    assert run.stderr == ""
    return run.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table and a model of it."""
    folder = tmp_path_factory.mktemp("toy")
    (folder / "t.csv").write_text(colour_table())
    command("fit", "t.csv", "-t", "colour", "-o", "m.hlvq", *RECIPE, folder=folder)
    return folder


def test_recipe_learns_is_saved_and_loaded_and_refused_by_export_in_one_sentence(
    toy, wine, tmp_path
):
    recipe = hyperlvq.make_classifier("intrvfl", "medians", n_digits=2, random_state=0)
    model = recipe.fit(*wine)
    hyperlvq.save(model, tmp_path / "m.hlvq")

    assert model.score(*wine) > 0.9
    loaded = hyperlvq.load(tmp_path / "m.hlvq")
    np.testing.assert_array_equal(loaded.predict(wine[0]), model.predict(wine[0]))
    with pytest.raises(InputError, match="cannot export MedianClassifier: it has no integer form"):
        make_plan(model)


def test_study_runs_it(toy, tmp_path, monkeypatch):
    model = replace(
        MODELS["intrvfl_centroids"], name="medians", recipe=("intrvfl", "medians"), columns={}
    )
    monkeypatch.setitem(MODELS, "medians", model)

    steps = run_study(BuiltinCollection(), tmp_path, models=["medians"], sets=["iris"], n_seeds=1)
    assert all(step.record["accuracy"] > 0.8 for step in steps)


def test_commands_take_it(folder):
    options = command("fit", "--help", folder=folder)
    shown = command("show", "m.hlvq", folder=folder)
    predicted = command("predict", "m.hlvq", "t.csv", folder=folder)
    evaluated = json.loads(command("evaluate", "m.hlvq", "t.csv", "--json", folder=folder))

    assert "medians" in options
    assert "--n-digits" in options
    assert "intrvfl with medians: n_units=50, clip=3, n_digits=3\n" in shown
    assert len(predicted.splitlines()) == 31
    assert evaluated["accuracy"] > 0.8


def test_search_tries_its_grid(folder):
    fit = ("fit", "t.csv", "-t", "colour", "-o", "n.hlvq", "--readout", "medians")
    told = json.loads(command(*fit, "--tune", "--cv", "0", "--json", folder=folder))

    assert {"n_units", "clip", "n_digits"} == {*told["search"]["best"]}


@pytest.mark.parametrize("name", readouts())
def test_every_record_is_that_of_its_class(name):
    estimator = estimator_class(readouts()[name])()

    assert record_of(estimator) is estimator._record
