"""What a model remembers."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from small_tables import RECIPE, colour_table, fit_colours, train_table

from hyperlvq import CentroidClassifier
from hyperlvq.checks import InputError
from hyperlvq.costs import FORMS, glvq_flops, kglvq_flops, prediction_cost, rls_flops
from hyperlvq.frames import FrameVectorizer
from hyperlvq.model_files import read_path
from hyperlvq.models import make_classifier
from hyperlvq.registry import hidden_layers, readouts
from hyperlvq.saving import to_parts
from hyperlvq.tables.about import (
    about_python_model,
    columns_of,
    costs_of,
    from_notes,
    settings_of,
    to_notes,
    to_plain,
)
from hyperlvq.tables.columns import Column, Kind
from hyperlvq.tables.read import read_table
from hyperlvq.tables.training import Task


@pytest.mark.parametrize("recipe", [None, *product(hidden_layers(), readouts())])
def test_what_is_known_of_every_model_is_plain_and_comes_back(recipe, tmp_path):
    (tmp_path / "t.csv").write_text(colour_table())
    task = Task("colour", recipe, n_folds=2)

    _, parts, about = train_table(read_table(tmp_path / "t.csv"), task)

    back = from_notes(replace(parts, notes=to_notes(about)), "m")
    plain, plain_back = (
        json.loads(json.dumps(to_plain(each), allow_nan=False)) for each in (about, back)
    )
    assert plain_back == plain
    assert plain["columns"][2]["levels"] == ["x", "y"]
    assert columns_of(back) == columns_of(about)
    assert about["table"] == "t.csv"
    assert about["rows"] == 30


COLOURS = ["red", "green", "blue"] * 10
SIZES = (30, 2, 3)  # rows, features, classes


@pytest.mark.parametrize(
    ("readout", "flops"),
    [
        ("rls", lambda n_iter: rls_flops(*SIZES)),
        ("glvq", lambda n_iter: glvq_flops(*SIZES, 2, n_iter)),
        ("kglvq", lambda n_iter: kglvq_flops(*SIZES, 2, n_iter)),
        ("lvq1", None),
        ("centroids", None),
    ],
)
def test_costs_of_training_are_those_of_the_readouts_formula(readout, flops, rng):
    parameters = {"prototypes_per_class": 2} if "lvq" in readout else {}
    model = make_classifier("features", readout, **parameters).fit(rng.random(SIZES[:2]), COLOURS)
    n_iter = getattr(model[-1], "n_iter_", None)

    costs = costs_of(to_parts(model), SIZES[0])

    assert costs["training_flops"] == (flops and flops(n_iter))
    assert costs.get("iterations") == (n_iter if "lvq" in readout else None)


@pytest.mark.parametrize(
    ("recipe", "forms"),
    [
        (("intrvfl", "rls"), ["float", "integer"]),
        (("rvfl", "centroids"), ["float"]),
        (("features", "glvq"), ["float"]),
        (("features", "kglvq"), []),
    ],
)
def test_costs_of_prediction_are_those_of_the_forms_a_model_has(recipe, forms):
    model = make_classifier(*recipe).fit(np.eye(3), [1, 2, 2])

    costs = costs_of(to_parts(model), 3)

    assert [form for form in FORMS if form in costs] == forms
    width, is_linear = model[-1].n_features_in_, recipe[1] == "rls"
    n_rows = len(model[-1].coef_ if is_linear else model[-1].prototypes_) if forms else 0
    for form in forms:
        cost = prediction_cost(recipe[0], 3, width, n_rows, linear=is_linear, form=form)
        assert costs[form] == cost._asdict()


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        (make_classifier("intrvfl", "centroids", n_units=30, clip=5), {"n_units": 30, "clip": 5}),
        (make_classifier("features", "centroids"), {}),
        (
            make_classifier("features", "glvq", slope="auto", prototypes_per_class=1),
            {"prototypes_per_class": 1, "slope": 6.0},
        ),
    ],
)
def test_settings_are_those_of_the_layer_and_the_readout(model, settings):
    assert settings_of(to_parts(model.fit(np.eye(2), [1, 2]))) == settings


def test_a_model_of_python_is_known_by_its_columns_and_classes():
    frame = pd.DataFrame({"a": [1.0, 2.0], "t": ["x", "y"]})
    model = make_pipeline(FrameVectorizer(["a"], ["t"]), CentroidClassifier()).fit(frame, [1, 2])
    numbers, unnamed = (CentroidClassifier().fit(X, [1, 2]) for X in (frame[["a"]], np.eye(2)))

    about, about_numbers, about_unnamed = (
        about_python_model(to_parts(each), "m") for each in (model, numbers, unnamed)
    )

    assert columns_of(about) == [Column("a", Kind.NUMBER), Column("t", Kind.TEXT)]
    assert columns_of(about_numbers) == [Column("a", Kind.NUMBER)]
    assert (about["classes"], about["target"]) == (["1", "2"], None)
    with pytest.raises(InputError, match="fitted in Python without column names"):
        columns_of(about_unnamed)
    with pytest.raises(InputError, match="m has no fitted classifier in it but a MinMaxScaler"):
        about_python_model(to_parts(MinMaxScaler().fit(np.eye(2))), "m")


ABSENT = object()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return the files of a recipe and of a default classifier."""
    options = {"recipe": RECIPE, "default": ()}
    return {
        name: read_path(fit_colours(tmp_path_factory.mktemp(name), *given, "--cv", "2"))
        for name, given in options.items()
    }


def check_refused(file):
    with pytest.raises(InputError, match=r"^m contains notes that hyperlvq fit did not write$"):
        from_notes(file, "m")


@pytest.mark.parametrize("scale", [[], [("scale", None)]])
def test_table_model_without_its_scaling_is_one_sentence(scale, files):
    columns, _, *rest = files["recipe"].steps

    check_refused(replace(files["recipe"], steps=(columns, *scale, *rest)))


WRONG = {
    "target": [1, ABSENT],
    "seed": [True],
    "fit_seconds": ["1", float("inf")],
    "search": [{"best": {}}],
    "accuracies": [["a"], [0.5, None], [0.5], [0.5, 1.5]],
    "class_counts": [np.array([0, 1, 1]), np.array([1, 2]), np.ones((3, 1), int), np.ones(3)],
    "confusion": [np.zeros((2, 2), dtype=np.int64), ABSENT],
    "columns": [
        ABSENT,
        *(np.array(each, dtype=object) for each in (["a"], ["1"], ["[" * 10**5], [])),
    ],
    "notes": ["a"],
    "log_loss": ["1"],
    "networks": [{}],
    "left_out": [{"accuracy": 0.5, "log_loss": 1.0}],
    "unknown": [0],
}
NETWORKS = {"kind": ["majority"]}, {"n_units": [20, "20", 20, 20]}, {"weight": [1.0]}
WRONG_OF_NETWORKS = {
    "networks": [ABSENT, *NETWORKS],
    "left_out": [ABSENT, {"accuracy": 0.5}, {"accuracy": 0.5, "log_loss": float("nan")}],
}


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        (name, key, value)
        for name, wrong in {"recipe": WRONG, "default": WRONG_OF_NETWORKS}.items()
        for key, values in wrong.items()
        for value in values
    ],
)
def test_notes_of_something_else_are_one_sentence(name, key, value, files):
    notes = dict(files[name].notes)
    assert from_notes(files[name], "m")["target"] == "colour"

    if value is ABSENT:
        del notes[key]
    else:
        is_change = (name, key) == ("default", "networks")
        notes[key] = {**notes[key], **value} if is_change else value

    check_refused(replace(files[name], notes=notes))


@pytest.mark.parametrize(
    "change",
    [
        *({"name": "other"}, {"kind": "text"}, {"kind": "dates"}, {"kind": []}, {"n_missing": -1}),
        *({"minimum": 1e300}, {"minimum": None}, {"maximum": np.inf}, {"levels": ["x"]}),
        *({"reason": 1}, {"unknown": 0}, {"decimal": "x"}, {"grouping": "x"}, {"unit": "$$"}),
    ],
    ids=str,
)
def test_a_column_of_something_else_is_one_sentence(change, files):
    file = files["recipe"]
    first, *others = file.notes["columns"]
    columns = np.array([json.dumps({**json.loads(first), **change}), *others], dtype=object)

    assert from_notes(replace(file, notes={**file.notes, "accuracies": [0.0, 1.0]}), "m")
    check_refused(replace(file, notes={**file.notes, "columns": columns}))
