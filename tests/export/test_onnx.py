"""ONNX models: the plan's labels and scores, in onnxruntime and in the reference evaluator."""

import json
import sys
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
from export.random_models import Settings, draw, draw_comparing, plan_and_samples
from onnx.reference import ReferenceEvaluator

import hyperlvq
from hyperlvq import HyperLVQClassifier, make_classifier
from hyperlvq.checks import InputError
from hyperlvq.export import make_plan
from hyperlvq.export.onnx_graph import to_onnx

SMALL = Settings("centroids", "float", 8, 3, 40, 3, 3, 1)
#: 5 readouts, 3 inputs and 2 widths, drawn in turns, come together in all ways.
N_MODELS = 60


def fitted(rng, X, n_classes=3, **parameters):
    y = np.arange(len(X)) % n_classes
    model = make_classifier("intrvfl", "centroids", random_state=0, **parameters)
    return model.fit(X, rng.permutation(y))


def run_in_onnxruntime(model, values):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    content = model.SerializeToString()
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return session.run(["label", "scores"], {"features": values})


def run_in_reference(model, values):
    return ReferenceEvaluator(model).run(["label", "scores"], {"features": values})


RUNTIMES = (run_in_onnxruntime, run_in_reference)


def assert_same(plan, X):
    model = to_onnx(plan)
    onnx.checker.check_model(model, full_check=True)
    for run in RUNTIMES:
        labels, scores = run(model, plan.values(X))

        assert np.array_equal(labels, plan.predict(X)), run.__name__
        assert np.array_equal(scores, plan.scores(X)), run.__name__
        assert scores.dtype == np.int64


@pytest.mark.parametrize(
    ("draw_settings", "seed"),
    [
        *((draw, seed) for seed in range(0, N_MODELS, 2)),
        *((draw_comparing, seed) for seed in range(12)),
    ],
)
def test_labels_and_scores_are_the_plans(draw_settings, seed, rng):
    settings = draw_settings(seed, most_features=60, most_units=600, most_weights=12_000)
    plan, X = plan_and_samples(settings, seed, shift=0 if seed % 8 else 0.3)
    ends = np.nan_to_num(plan.feature_ranges).T
    far = rng.choice([-1e6, 1e6, -3e9, 3e9, -np.inf, np.inf], size=(20, plan.n_features))

    assert_same(plan, np.vstack([X, ends - 1, ends + 1, far]))


def test_ties_that_no_line_settles_are_the_plans(rng):
    X = np.arange(201)[:, None] * [1, 3, 0.37] + [0, 0, 0.25]
    plan = make_plan(fitted(rng, X, n_units=100), input="int16")

    assert plan.encoder.scaling.settles.tolist() == [True, True, False]
    assert_same(plan, np.arange(-2, 605)[:, None] * [1, 1, 1])


@pytest.mark.parametrize(
    ("n_features", "n_units"),
    [
        *((3, n_units) for n_units in (1, 63, 64, 65, 128)),  # words of 64 are full or not
        *((n_features, 70) for n_features in (1, 2, 31, 32, 33, 255, 256, 300)),
    ],
)
def test_any_number_of_features_and_units_is_counted(n_features, n_units):
    settings = replace(SMALL, n_features=n_features, n_units=n_units, clip=127)

    assert_same(*plan_and_samples(settings))


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("clip", [127, 300])
def test_largest_products_do_not_overflow_or_saturate(rng, bits, clip):
    X = rng.integers(2, size=(40, 300)).astype(float)
    X[:2] = [[0], [1]]
    plan = make_plan(fitted(rng, X, n_units=600, clip=clip), bits=bits)
    # The activations of samples 0 and 1 are at their limits where all keys are equal.
    plan = replace(
        plan,
        encoder=replace(plan.encoder, packed_keys=np.full_like(plan.encoder.packed_keys, 255)),
        weights=np.full_like(plan.weights, 2 ** (bits - 1) - 1),
    )

    assert np.abs(plan.scores(X)).max() > 600 * clip * 2 ** (bits - 1)
    assert_same(plan, X)


def test_first_of_equal_scores_wins():
    plan, X = plan_and_samples(SMALL)
    plan = replace(plan, weights=np.zeros_like(plan.weights), biases=np.zeros_like(plan.biases))

    assert_same(plan, X)
    assert set(run_in_onnxruntime(to_onnx(plan), plan.values(X))[0]) == {plan.classes[0]}


@pytest.mark.parametrize(
    "classes",
    [["ja", "nein", "vielleicht, später"], [-5, 7, 300], [1.0, 2.0, 4.0], [False, True, True]],
)
def test_labels_are_of_the_classes_own_type(rng, classes):
    X = rng.uniform(size=(60, 4))
    y = np.array(classes)[np.arange(60) % 3]
    plan = make_plan(make_classifier("intrvfl", "centroids", n_units=40, random_state=0).fit(X, y))

    assert_same(plan, X)
    assert run_in_onnxruntime(to_onnx(plan), plan.values(X))[0].dtype.kind in (y.dtype.kind, "O")


def test_batches_have_any_size():
    plan, X = plan_and_samples(SMALL)

    assert_same(plan, X[:1])
    labels, scores = run_in_onnxruntime(to_onnx(plan), np.empty((0, 3), dtype=np.float32))
    assert labels.shape == (0,)
    assert scores.shape == (0, plan.n_outputs)


@pytest.mark.parametrize("run", RUNTIMES)
def test_nan_counts_as_the_smallest_value(run):
    plan, X = plan_and_samples(SMALL)
    missing = plan.values(X)
    missing[:, 1] = np.nan
    X[:, 1] = X[:, 1].min()

    assert np.array_equal(run(to_onnx(plan), missing)[1], plan.scores(X))


def test_missing_values_are_the_plans_where_units_compare(rng):
    X = rng.uniform(size=(80, 5))
    X[rng.uniform(size=X.shape) < 0.3] = np.nan
    model = HyperLVQClassifier(3, n_units=100, random_state=0).fit(X, np.arange(80) % 3)

    assert_same(make_plan(model), X)


@pytest.mark.parametrize("n_missing_in_training", [0, 5])
def test_values_missing_only_at_prediction_are_the_plans(n_missing_in_training, rng):
    X = rng.uniform(size=(80, 5))
    X[:n_missing_in_training, 1] = np.nan
    model = HyperLVQClassifier(3, n_units=100, random_state=0).fit(X, np.arange(80) % 7 % 3)
    X[rng.uniform(size=X.shape) < 0.3] = np.nan
    X[:2] = np.nan
    plan = make_plan(model)

    assert_same(plan, X)


def test_model_says_what_it_is_in_operators_of_the_standard(rng):
    model = to_onnx(fitted(rng, rng.uniform(size=(50, 3)), n_units=40), name="three")

    about = {entry.key: entry.value for entry in model.metadata_props}

    assert model.graph.name == about["name"] == "three"
    assert about["hyperlvq_version"] == model.producer_version == hyperlvq.__version__
    assert json.loads(about["feature_names"]) == ["x0", "x1", "x2"]
    assert json.loads(about["classes"]) == ["0", "1", "2"]
    assert json.loads(about["output_classes"]) == [0, 1, 2]
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 18)]
    assert model.ir_version == 8


def test_file_holds_the_model_or_is_named(tmp_path):
    plan, _ = plan_and_samples(SMALL)

    model = to_onnx(plan, tmp_path / "three.onnx")

    assert onnx.load(tmp_path / "three.onnx") == model
    assert [file.name for file in tmp_path.iterdir()] == ["three.onnx"]
    with pytest.raises(InputError, match=r"missing/three\.onnx cannot be written: No such file"):
        to_onnx(plan, tmp_path / "missing" / "three.onnx")


def test_missing_package_is_one_sentence(monkeypatch):
    plan, _ = plan_and_samples(SMALL)
    monkeypatch.setitem(sys.modules, "onnx", None)

    with pytest.raises(ModuleNotFoundError, match=r"^ONNX export needs: pip install 'hyperlvq\["):
        to_onnx(plan)
