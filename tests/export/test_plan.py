"""The plan: what it holds, what it predicts, what it refuses."""

import dataclasses
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from export.random_models import READOUTS, VOTE, Settings, fit, training_data
from scipy.spatial.distance import cdist
from sklearn.compose import make_column_transformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from hyperlvq import HyperLVQClassifier, make_classifier
from hyperlvq.checks import InputError
from hyperlvq.export import compare, encoders, make_plan
from hyperlvq.frames import FrameVectorizer
from hyperlvq.kernels.units import Units, compare_rows
from hyperlvq.saving import to_parts


@pytest.fixture
def model(iris):
    return make_classifier(
        "intrvfl", "glvq", n_units=90, prototypes_per_class=2, random_state=0
    ).fit(*iris)


def fitted(readout, data, **parameters):
    return make_classifier("intrvfl", readout, n_units=120, random_state=0, **parameters).fit(*data)


@pytest.mark.parametrize(
    ("hidden", "readout"),
    [
        *(("intrvfl", readout) for readout in READOUTS),
        *(("comparisons", readout) for readout in ("centroids", "glvq", "rls")),
    ],
)
@pytest.mark.parametrize(("kind", "factor"), [("float", 1), ("int16", 10)])  # millimetres
def test_labels_agree_with_the_float_model(hidden, readout, kind, factor, iris):
    bits = 16 if hidden == "intrvfl" else 8
    X, y = factor * iris[0], iris[1]
    model = fit(Settings(readout, kind, bits, 4, 150, 3, 3, 1, hidden), X, y)

    assert compare(model, make_plan(model, input=kind, bits=bits), X, y).agreement >= 0.99


@pytest.mark.parametrize(
    ("readout", "bits", "tolerance"),
    [("glvq", 8, 0.01), ("glvq", 16, 1e-4), (VOTE, 8, 0.03), (VOTE, 16, 1e-3)],
)
def test_scores_differ_as_those_of_the_float_model_do(readout, bits, tolerance, iris):
    model = fit(Settings(readout, "float", bits, 4, 200, 3, 3, 2), *iris)
    plan = make_plan(model, bits=bits)
    scores = plan.weight_scale * plan.scores(iris[0])
    if readout == VOTE:
        expected = model.decision_function(iris[0])
    else:
        expected = -cdist(plan.activations(iris[0]), model[-1].prototypes_, "sqeuclidean")

    differences = (scores - scores[:, :1]) - (expected - expected[:, :1])
    assert np.abs(differences).max() < tolerance * np.ptp(expected)


def test_plan_is_read_only_and_shares_no_memory_with_the_model(model):
    plan = make_plan(model)

    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.encoder.clip = 4
    for array in (
        plan.weights,
        plan.biases,
        plan.encoder.packed_keys,
        plan.encoder.scaling.minimum,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    np.testing.assert_array_equal(plan.encoder.signs, model[1].keys_)
    model[-1].prototype_classes_[0] = 1
    model[-1].classes_[0] = 5
    assert plan.output_classes[0] == 0
    assert plan.classes[0] == 0


def test_step_that_prepares_columns_stays_outside(iris):
    X, y = iris
    columns = make_column_transformer(("passthrough", [2, 0]), verbose_feature_names_out=False)
    steps = make_classifier("intrvfl", "centroids", n_units=50, random_state=0).steps
    model = Pipeline([("columns", columns), *steps]).fit(X, y)
    plan = make_plan(model, bits=16)

    assert plan.feature_names == ("x2", "x0")
    assert compare(model, plan, X, y).agreement >= 0.98
    np.testing.assert_array_equal(plan.predict(X[:, [2, 0]]), plan.predict(columns.transform(X)))


@pytest.mark.parametrize("kind", ["float", "int16"])
def test_activations_are_those_of_the_layer_for_constant_features_too(kind, rng):
    X = rng.integers(0, 50, size=(60, 3)) + (0.3 if kind == "float" else 0)
    X[:, 1] = 7
    model = fitted("centroids", (X, np.arange(60) % 2))

    plan = make_plan(model, input=kind)
    for shift in ([0, 0, 0], [0, 1, 0], [9, 0, -9]):
        samples = X + np.array(shift)
        np.testing.assert_array_equal(plan.activations(samples), model[:-1].transform(samples))


@pytest.mark.parametrize("columns", [{}, {"columns": MinMaxScaler((0, 9))}])
def test_plan_of_a_file_is_that_of_its_pipeline_with_the_names_of_the_data(columns, model, iris):
    table = pd.DataFrame(iris[0], columns=["a", "b", "c", "d"])
    labels = np.array(["setosa", "versicolor", "virginica"])[iris[1]]
    pipeline = Pipeline([*columns.items(), *model.steps]).fit(table, labels)

    found, expected = make_plan(to_parts(pipeline)), make_plan(pipeline)
    assert found.feature_names == expected.feature_names == ("a", "b", "c", "d")
    assert found.class_names == ("setosa", "versicolor", "virginica")
    assert set(found.predict(iris[0])) == set(labels)
    np.testing.assert_array_equal(found.scores(iris[0]), expected.scores(iris[0]))


@pytest.mark.parametrize("kind", ["float", "int16", "int32"])
@pytest.mark.parametrize("readout", [VOTE, "rls"])
def test_units_compare_as_in_the_float_model_at_every_threshold(readout, kind, rng):
    settings = Settings(readout, kind, 8, 5, 90, 0, 3, 3, "comparisons")
    X, y = training_data(settings, rng, shift=0.3)
    model = fit(settings, X, y)
    classifier = model if readout == VOTE else model[-1]
    classifier.coef_ = rng.normal(size=classifier.coef_.shape)  # so that all units count
    plan = make_plan(model, input=kind, bits=16)
    encoder = plan.encoder

    at = np.repeat(X[:1], len(encoder.thresholds), axis=0).astype(encoder.thresholds.dtype)
    places = np.arange(len(at)), encoder.features
    at[places] = encoder.thresholds
    below = at.copy()
    below[places] = np.nextafter(at, -np.inf)[places] if kind == "float" else at[places] - 1
    samples = np.concatenate([at, below]).astype(np.float64)
    if readout == VOTE:
        units = Units(model.features_, model.thresholds_, model.keys_, model.kinds_)
        expected = compare_rows(samples, units)
    else:
        expected = model[:-1].transform(samples)
    found = plan.activations(samples)
    assert sorted(map(bytes, found.T)) == sorted(map(bytes, expected[:, :-1].T))


def test_units_that_change_no_winner_are_left_out(iris):
    model = HyperLVQClassifier(1, n_units=20, random_state=0).fit(*iris)
    n_units = make_plan(model, bits=16).n_units
    model.coef_[:, np.ptp(model.coef_[:, :-1], axis=0).argmax()] = 5  # for all classes

    plan = make_plan(model, bits=16)
    assert plan.n_units == plan.weights.shape[1] == len(plan.encoder.kinds) == n_units - 1
    assert compare(model, plan, *iris).agreement == 1


@pytest.mark.parametrize("weight", [0.0, 1e-18])
def test_intercepts_decide_where_no_unit_does(weight, iris):
    model = HyperLVQClassifier(1, n_units=20, random_state=0).fit(*iris)
    model.coef_[:, :-1] = weight
    model.coef_[:, -1] = [0.1, 0.3, 0.2999]

    assert set(make_plan(model).predict(iris[0])) == {1}


def test_plan_of_a_vote_behind_columns_or_in_a_file_is_that_of_the_vote(iris):
    frame = pd.DataFrame(iris[0], columns=["a", "b", "c", "d"])
    frame["e"] = np.where(iris[0][:, 0] > 5.8, "long", "short")
    vote = HyperLVQClassifier(1, n_units=50, random_state=0)
    pipeline = Pipeline([("columns", FrameVectorizer(list("abcd"), ["e"])), ("classifier", vote)])
    X = pipeline.fit(frame, iris[1])[0].transform(frame)

    plans = [make_plan(model) for model in (pipeline, to_parts(pipeline), to_parts(vote))]
    assert [plan.feature_names[-2] for plan in plans] == ["e_long", "e_long", "x4"]
    assert compare(pipeline, plans[0], frame).agreement > 0.99
    for plan in plans:
        np.testing.assert_array_equal(plan.scores(X), make_plan(vote).scores(X))


@pytest.mark.parametrize(
    ("factor", "kind", "message"),
    [
        (
            1e4,
            "int16",
            r"feature 'x\d' has the threshold \S+, outside the range of int16: use input int32",
        ),
        (-1e9, "int32", "outside the range of int32: use input float"),
        (1e38, "float", "outside the range of float32$"),
        (-1e38, "float", "outside the range of float32$"),
    ],
)
@pytest.mark.parametrize("readout", [VOTE, "rls"])
def test_threshold_that_the_input_cannot_hold_is_named(readout, factor, kind, message, iris):
    settings = Settings(readout, kind, 8, 4, 40, 0, 3, 1, "comparisons")

    with pytest.raises(InputError, match=message):
        make_plan(fit(settings, factor * iris[0], iris[1]), input=kind)


@pytest.mark.parametrize(
    ("factor", "shift", "kind", "notes"),
    [
        (1, 0, "float", []),
        (1, 0, "int16", ["the thresholds of feature 'x0' (and 3 more) lie within 16 integers"]),
        (
            [1, 1, 1000, 1000],
            0,
            "int16",
            ["the thresholds of feature 'x0' (and 1 more) lie within"],
        ),
        (1e-13, 1e3, "float", ["float32 has fewer than 16 values between the thresholds of"]),
    ],
)
def test_thresholds_that_the_input_cannot_tell_apart_are_told_to_the_user(
    factor, shift, kind, notes, iris
):
    model = HyperLVQClassifier(1, n_units=40, random_state=0).fit(factor * iris[0] + shift, iris[1])

    found = make_plan(model, input=kind).notes
    assert [told[: len(note)] for told, note in zip(found, notes, strict=True)] == notes


def scaled(scaler):
    """Return what puts another scaler into a pipeline."""
    return lambda model, iris: Pipeline([("scale", scaler.fit(iris[0])), *model.steps[1:]])


def recipe(*names, **parameters):
    return lambda model, iris: make_classifier(*names, **parameters).fit(*iris)


def with_prototype(value):
    def changed(model, iris):
        model[-1].prototypes_[0, 0] = value
        return model

    return changed


def with_missing_feature(model, iris):
    iris[0][:, 2] = np.nan
    return fitted("centroids", iris)


UNSUPPORTED = {
    "that is not fitted: call fit first": lambda model, iris: make_classifier(),
    "not fitted: call fit first": lambda model, iris: Pipeline(
        [("columns", make_column_transformer(("passthrough", [0]))), *model.steps]
    ),
    "a model that is not fitted": lambda model, iris: HyperLVQClassifier(),
    "GLVQClassifier: only HyperLVQClassifier and pipelines": lambda model, iris: model[-1],
    "NoneType: only HyperLVQClassifier and pipelines": lambda model, iris: None,
    "ndarray: only HyperLVQClassifier and pipelines": lambda model, iris: iris[0],
    "RVFLLayer: its real weights and sigmoids have no integer form": recipe("rvfl", "glvq"),
    "KGLVQClassifier: its prototypes": recipe("intrvfl", "kglvq", max_iter=3),
    "layer passthrough: it must be IntRVFLLayer or ComparisonLayer$": recipe(
        "features", "centroids"
    ),
    "cannot export a layer of constant units": recipe("comparisons", "rls", n_units=1),
    "scaler StandardScaler: it must be RangeScaler or MinMaxScaler": scaled(StandardScaler()),
    "the scaler .*test_plan.*MinMaxScaler.*: it must be RangeScaler or MinMaxScaler": scaled(
        type("MinMaxScaler", (MinMaxScaler,), {"__module__": __name__})()
    ),
    r"feature_range=\(-1, 1\)": scaled(MinMaxScaler((-1, 1))),
    "steps log, scale, hidden, readout: they must": lambda model, iris: Pipeline(
        [("log", FunctionTransformer()), *model.steps]
    ),
    "HyperLVQClassifier alone, optionally after columns": lambda model, iris: make_pipeline(
        MinMaxScaler(), HyperLVQClassifier()
    ),
    "feature 'x2' has no range": with_missing_feature,
    "weights are not finite": with_prototype(np.nan),
    "weights are not finite or too large": with_prototype(1e200),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:All-NaN")
@pytest.mark.parametrize("message", UNSUPPORTED)
def test_unsupported_model_is_refused_with_the_reason_as_its_file_is(message, model, iris):
    forms = [UNSUPPORTED[message](model, iris)]
    with suppress(InputError):  # of what a file cannot hold
        forms.append(to_parts(forms[0]))

    for form in forms:
        with pytest.raises(InputError, match=message):
            make_plan(form)


def test_more_outputs_than_a_device_counts_are_refused(iris, monkeypatch):
    monkeypatch.setattr(encoders, "MOST_UNITS_OR_FEATURES", 2)
    X, y = iris
    model = make_classifier("intrvfl", "centroids", n_units=2).fit(X[:, :2], y)

    with pytest.raises(InputError, match="cannot export 3 outputs: at most 2"):
        make_plan(model)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *[("name", name) for name in ("", "9lives", "my-model", "naïve", "for", "class", "math")],
        *(("name", "a" * 32), ("name", None), ("input", "double")),
        *(("bits", 12), ("bits", True), ("bits", None)),
    ],
)
def test_wrong_option_is_named(option, value, model):
    with pytest.raises(InputError, match=f"{option} must"):
        make_plan(model, **{option: value})


def test_samples_that_the_plan_cannot_take_are_named(model, iris):
    X = iris[0].copy()
    X[3, 1] = np.nan

    with pytest.raises(InputError, match="sample 3: feature 'x1' is missing"):
        make_plan(model).predict(X)
    with pytest.raises(
        InputError, match=r"the shape \(n_samples, 4\) for the plan 'model', got \(2, 3\)"
    ):
        make_plan(model).predict(np.zeros((2, 3)))


@pytest.mark.filterwarnings("ignore:feature .x1. .and 8 more. varies by")
def test_feature_that_hardly_varies_acts_as_in_the_float_model(rng):
    X = rng.normal(size=(300, 10)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    X[:, 1:] *= 1e-7  # which scikit-learn's MinMaxScaler takes for constant in float32
    model = make_classifier("intrvfl", "glvq", n_units=300, random_state=0).fit(X, y)

    np.testing.assert_array_equal(make_plan(model, bits=16).predict(X), model.predict(X))
