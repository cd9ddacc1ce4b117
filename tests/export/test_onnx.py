"""ONNX models: the plan's labels and scores, in onnxruntime and in the reference evaluator."""

import json
import sys
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx.reference import ReferenceEvaluator

import hyperlvq
from hyperlvq import make_classifier
from hyperlvq.checks import InputError
from hyperlvq.export import make_plan
from hyperlvq.export.onnx_graph import render, to_onnx

READOUTS = ("centroids", "perceptron", "lvq1", "glvq", "rls")
INPUTS = ("float", "int16", "int32")
WIDTHS = (8, 16)
#: 5 readouts, 3 inputs and 2 widths, taken in turns, come together in all ways.
N_MODELS = 30

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fitted(rng, X, readout="centroids", n_classes=3, **settings):
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=len(X) - n_classes)])
    model = make_classifier("intrvfl", readout, random_state=0)
    known = model.get_params()
    settings = {**settings, "readout__max_iter": 4, "readout__alpha": 1.0}
    model.set_params(**{name: value for name, value in settings.items() if name in known})
    return model.fit(X, y)


def random_model(seed):
    """Return a fitted model and the raw features to try it with."""
    rng = np.random.default_rng(seed)
    n_features, n_units = rng.integers(1, 61), rng.integers(8, 601)
    spans = rng.choice([1, 7, n_units, 2 * n_units, 4 * n_units + 1, 30000], size=n_features)
    minimum = rng.integers(-2000, 2000, size=n_features).astype(float)
    if seed % 4 == 0:
        minimum += rng.uniform(0, 1, size=n_features)
    X = minimum + spans * np.vstack([rng.uniform(size=(80, n_features)), np.zeros(n_features)])
    X[0] = minimum + spans
    if seed % 4:
        X = np.rint(X)
    model = fitted(
        rng,
        X,
        READOUTS[seed % len(READOUTS)],
        n_classes=rng.integers(2, 11),
        hidden__n_units=int(n_units),
        hidden__clip=int(rng.integers(1, 128)),
        readout__prototypes_per_class=int(rng.integers(1, 5)),
    )
    return model, np.vstack([X, samples_at_the_edges(rng, minimum, spans, n_units)])


def samples_at_the_edges(rng, minimum, spans, n_units):
    """Return ties between levels and values at, next to and far beyond the ends of ranges."""
    halves = rng.integers(0, n_units, size=(60, len(spans))) + 0.5
    ends = minimum + spans * rng.integers(0, 2, size=(30, len(spans)))
    far = rng.choice([-1e6, 1e6, -3e9, 3e9, -np.inf, np.inf], size=(20, len(spans)))
    return np.vstack([minimum + halves * spans / n_units, ends, ends - 1, ends + 1, far])


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
    model = render(plan)
    onnx.checker.check_model(model, full_check=True)
    for run in RUNTIMES:
        labels, scores = run(model, plan.values(X))

        assert np.array_equal(labels, plan.predict(X)), run.__name__
        assert np.array_equal(scores, plan.scores(X)), run.__name__
        assert scores.dtype == np.int64


@pytest.mark.parametrize("seed", range(N_MODELS))
def test_labels_and_scores_are_the_plans(seed):
    model, X = random_model(seed)
    plan = make_plan(model, input=INPUTS[seed % 3], bits=WIDTHS[seed % 2])

    assert_same(plan, X)


def test_ties_that_no_line_settles_are_the_plans(rng):
    X = np.arange(201)[:, None] * [1, 3, 0.37] + [0, 0, 0.25]
    plan = make_plan(fitted(rng, X, hidden__n_units=100), input="int16")

    assert plan.scaling.settles.tolist() == [True, True, False]
    assert_same(plan, np.arange(-2, 605)[:, None] * [1, 1, 1])


@pytest.mark.parametrize("n_units", [1, 63, 64, 65, 128])
def test_units_fill_words_or_not(rng, n_units):
    X = rng.uniform(size=(50, 3))

    assert_same(make_plan(fitted(rng, X, hidden__n_units=n_units)), X)


@pytest.mark.parametrize("n_features", [1, 2, 3, 31, 32, 33, 255, 256, 300])
def test_any_number_of_features_is_counted(rng, n_features):
    X = rng.uniform(size=(40, n_features))
    X[:2] = [[0], [1]]

    assert_same(make_plan(fitted(rng, X, hidden__n_units=70, hidden__clip=127)), X)


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("clip", [127, 300])
def test_largest_products_do_not_overflow_or_saturate(rng, bits, clip):
    X = rng.integers(2, size=(40, 300)).astype(float)
    X[:2] = [[0], [1]]
    plan = make_plan(fitted(rng, X, hidden__n_units=600, hidden__clip=clip), bits=bits)
    # The activations of samples 0 and 1 are at their limits where all keys are equal.
    all_equal = {
        "packed_keys": np.full_like(plan.packed_keys, 255),
        "weights": np.full_like(plan.weights, 2 ** (bits - 1) - 1),
    }
    plan = replace(plan, **all_equal)

    assert np.abs(plan.scores(X)).max() > 600 * clip * 2 ** (bits - 1)
    assert_same(plan, X)


def test_first_of_equal_scores_wins(rng):
    X = rng.uniform(size=(40, 4))
    plan = make_plan(fitted(rng, X, hidden__n_units=40))
    plan = replace(plan, weights=np.zeros_like(plan.weights), biases=np.zeros_like(plan.biases))

    assert_same(plan, X)
    assert set(run_in_onnxruntime(render(plan), plan.values(X))[0]) == {plan.classes[0]}


@pytest.mark.parametrize(
    "classes",
    [["ja", "nein", "vielleicht, später"], [-5, 7, 300], [1.0, 2.0, 4.0], [False, True, True]],
)
def test_labels_are_of_the_classes_own_type(rng, classes):
    X = rng.uniform(size=(60, 4))
    y = np.array(classes)[np.arange(60) % 3]
    plan = make_plan(make_classifier("intrvfl", "centroids", n_units=40, random_state=0).fit(X, y))

    assert_same(plan, X)
    assert run_in_onnxruntime(render(plan), plan.values(X))[0].dtype.kind in (y.dtype.kind, "O")


@pytest.mark.parametrize("n_samples", [1, 5])
def test_batches_have_any_size(rng, n_samples):
    X = rng.uniform(size=(50, 3))

    assert_same(make_plan(fitted(rng, X, hidden__n_units=40)), X[:n_samples])


def test_no_samples_have_no_labels(rng):
    plan = make_plan(fitted(rng, rng.uniform(size=(50, 3)), hidden__n_units=40))

    labels, scores = run_in_onnxruntime(render(plan), np.empty((0, 3), dtype=np.float32))

    assert labels.shape == (0,)
    assert scores.shape == (0, plan.n_outputs)


@pytest.mark.parametrize("run", RUNTIMES)
def test_nan_counts_as_the_smallest_value(rng, run):
    X = rng.uniform(size=(50, 3))
    plan = make_plan(fitted(rng, X, hidden__n_units=40))
    missing = plan.values(X)
    missing[:, 1] = np.nan
    smallest = X.copy()
    smallest[:, 1] = X[:, 1].min()

    assert np.array_equal(run(render(plan), missing)[1], plan.scores(smallest))


def test_model_says_what_it_is(rng):
    X = rng.uniform(size=(50, 3))
    model = to_onnx(fitted(rng, X, hidden__n_units=40), name="three", input="float")

    about = {entry.key: entry.value for entry in model.metadata_props}

    assert model.graph.name == about["name"] == "three"
    assert about["hyperlvq_version"] == model.producer_version == hyperlvq.__version__
    assert json.loads(about["feature_names"]) == ["x0", "x1", "x2"]
    assert json.loads(about["classes"]) == ["0", "1", "2"]
    assert json.loads(about["output_classes"]) == [0, 1, 2]


def test_only_operators_of_the_standard_are_used(rng):
    model = to_onnx(fitted(rng, rng.uniform(size=(50, 3)), hidden__n_units=40))

    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 18)]
    assert model.ir_version == 8


def test_file_holds_the_model(rng, tmp_path):
    plan = make_plan(fitted(rng, rng.uniform(size=(50, 3)), hidden__n_units=40))

    model = to_onnx(plan, tmp_path / "three.onnx")

    assert onnx.load(tmp_path / "three.onnx") == model
    assert [file.name for file in tmp_path.iterdir()] == ["three.onnx"]


def test_file_that_cannot_be_written_is_named(rng, tmp_path):
    model = fitted(rng, rng.uniform(size=(50, 3)), hidden__n_units=40)

    with pytest.raises(InputError, match=r"missing/three\.onnx cannot be written: No such file"):
        to_onnx(model, tmp_path / "missing" / "three.onnx")


def test_missing_package_is_one_sentence(rng, monkeypatch):
    model = fitted(rng, rng.uniform(size=(50, 3)), hidden__n_units=40)
    monkeypatch.setitem(sys.modules, "onnx", None)

    with pytest.raises(ModuleNotFoundError, match=r"^ONNX export needs: pip install 'hyperlvq\["):
        to_onnx(model)
