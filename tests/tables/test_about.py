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
    numbers = CentroidClassifier().fit(frame[["a"]], [1, 2])

    about, about_numbers = (about_python_model(to_parts(each), "m") for each in (model, numbers))

    assert columns_of(about) == [Column("a", Kind.NUMBER), Column("t", Kind.TEXT)]
    assert columns_of(about_numbers) == [Column("a", Kind.NUMBER)]
    assert about["classes"] == ["1", "2"]
    assert about["target"] is None


def test_no_table_can_be_matched_to_a_model_without_column_names():
    about = about_python_model(to_parts(CentroidClassifier().fit(np.eye(2), [1, 2])), "m")

    with pytest.raises(InputError, match="fitted in Python without column names"):
        columns_of(about)


def test_what_is_no_classifier_is_refused():
    scaler = to_parts(MinMaxScaler().fit(np.eye(2)))

    with pytest.raises(InputError, match="m has no fitted classifier in it but a MinMaxScaler"):
        about_python_model(scaler, "m")


ABSENT = object()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return read_path(fit_colours(tmp_path_factory.mktemp("model"), *RECIPE, "--cv", "2"))


@pytest.fixture(scope="module")
def default_file(tmp_path_factory):
    return read_path(fit_colours(tmp_path_factory.mktemp("default"), "--cv", "2"))


@pytest.mark.parametrize("scale", [[], [("scale", None)]])
def test_table_model_without_its_scaling_is_one_sentence(scale, file):
    columns, _, *rest = file.steps

    with pytest.raises(InputError, match=r"^m has notes in it that hyperlvq fit did not write$"):
        from_notes(replace(file, steps=(columns, *scale, *rest)), "m")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("target", 1),
        ("seed", True),
        ("fit_seconds", "1"),
        ("fit_seconds", float("inf")),
        ("search", {"best": {}}),
        ("accuracies", ["a"]),
        ("accuracies", [0.5, None]),
        ("accuracies", [0.5]),
        ("accuracies", [0.5, 1.5]),
        ("class_counts", np.array([0, 1, 1])),
        ("notes", "a"),
        ("class_counts", np.array([1, 2])),
        ("class_counts", np.ones((3, 1), dtype=np.int64)),
        ("class_counts", np.ones(3)),
        ("confusion", np.zeros((2, 2), dtype=np.int64)),
        ("columns", np.array(["a"], dtype=object)),
        ("columns", np.array(["[" * 10**5], dtype=object)),
        ("columns", np.array(["1"], dtype=object)),
        ("columns", np.array([], dtype=object)),
        ("log_loss", "1"),
        ("networks", {}),
        ("left_out", {"accuracy": 0.5, "log_loss": 1.0}),
        ("unknown", 0),
        ("target", ABSENT),
        ("columns", ABSENT),
        ("confusion", ABSENT),
    ],
)
def test_notes_of_something_else_are_one_sentence(key, value, file):
    notes = {name: each for name, each in {**file.notes, key: value}.items() if each is not ABSENT}

    with pytest.raises(InputError, match=r"^m has notes in it that hyperlvq fit did not write$"):
        from_notes(replace(file, notes=notes), "m")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("networks", ABSENT),
        ("left_out", ABSENT),
        ("left_out", {"accuracy": 0.5}),
        ("left_out", {"accuracy": 0.5, "log_loss": float("nan")}),
        ("networks", {"kind": ["majority"]}),
        ("networks", {"n_units": [20, "20", 20, 20]}),
        ("networks", {"weight": [1.0]}),
    ],
)
def test_notes_on_networks_of_something_else_are_one_sentence(key, value, default_file):
    notes = dict(default_file.notes)
    if value is ABSENT:
        del notes[key]
    else:
        notes[key] = value if key == "left_out" else {**notes[key], **value}

    assert from_notes(default_file, "m")["readout"] == "HyperLVQClassifier"
    with pytest.raises(InputError, match=r"^m has notes in it that hyperlvq fit did not write$"):
        from_notes(replace(default_file, notes=notes), "m")


@pytest.mark.parametrize(
    "change",
    [
        *({"name": "other"}, {"kind": "text"}, {"kind": "dates"}, {"kind": []}, {"n_missing": -1}),
        *({"minimum": 1e300}, {"minimum": None}, {"maximum": np.inf}, {"levels": ["x"]}),
        *({"reason": 1}, {"unknown": 0}, {"decimal": "x"}, {"grouping": "x"}, {"unit": "$$"}),
    ],
    ids=str,
)
def test_a_column_of_something_else_is_one_sentence(change, file):
    first, *others = file.notes["columns"]
    columns = np.array([json.dumps({**json.loads(first), **change}), *others], dtype=object)

    assert from_notes(replace(file, notes={**file.notes, "accuracies": [0.0, 1.0]}), "m")
    with pytest.raises(InputError, match=r"^m has notes in it that hyperlvq fit did not write$"):
        from_notes(replace(file, notes={**file.notes, "columns": columns}), "m")
