"""Models saved and loaded: what comes back is what was saved."""

import io
from timeit import repeat

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import hyperlvq
from hyperlvq.checks import InputError
from hyperlvq.frames import FrameVectorizer
from hyperlvq.model_files import read_stream, to_bytes
from hyperlvq.models import make_classifier
from hyperlvq.registry import MACHINE_PARAMETERS, PARTS, estimator_class, hidden_layers, readouts
from hyperlvq.saving import from_parts, to_parts

QUICK = {"n_units": 20, "max_iter": 3, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def quick(model):
    given = {name: name.split("__")[-1] for name in model.get_params()}
    return model.set_params(**{name: QUICK[last] for name, last in given.items() if last in QUICK})


def round_trip(model):
    return from_parts(read_stream(io.BytesIO(to_bytes(to_parts(model))), "m"))


def assert_same_state(found, expected):
    assert type(found) is type(expected)
    assert vars(found).keys() == vars(expected).keys()
    for name, value in vars(expected).items():
        other = vars(found)[name]
        assert type(other) is type(value), name
        if isinstance(value, np.ndarray):
            assert other.dtype == value.dtype
            np.testing.assert_array_equal(other, value)
            assert other.flags.writeable
        else:
            assert other == value, name


@pytest.fixture(scope="module")
def digits():
    model = make_classifier("intrvfl", "glvq", prototypes_per_class=3, random_state=0)
    return model.fit(*load_digits(return_X_y=True))


@pytest.mark.parametrize("hidden", hidden_layers())
@pytest.mark.parametrize("readout", readouts())
def test_a_recipe_comes_back_bit_by_bit(hidden, readout, wine, tmp_path):
    X, y = pd.DataFrame(wine[0]).add_prefix("größe\n"), wine[1]
    model = quick(make_classifier(hidden, readout)).fit(X, y)

    hyperlvq.save(model, tmp_path / "m.hlvq")
    loaded = hyperlvq.load(tmp_path / "m.hlvq")

    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert str(loaded.get_params()) == str(model.get_params())
    for step, expected in zip(loaded, model, strict=True):
        if expected != "passthrough":
            assert_same_state(step, expected)


def test_a_file_of_an_earlier_version_predicts_as_it_did(wine, tmp_path):
    X, y = wine
    model = hyperlvq.HyperLVQClassifier(2, n_units=30, random_state=0).fit(X, y)
    del model.medians_, model.class_prior_  # which that version did not learn
    hyperlvq.save(model, tmp_path / "m.hlvq")
    loaded = hyperlvq.load(tmp_path / "m.hlvq")
    holed = X.copy()
    holed[::3, 2] = holed[1] = np.nan

    found = loaded.decision_function(holed)
    np.testing.assert_array_equal(found, model.decision_function(np.nan_to_num(holed, nan=-1e9)))


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "ä", "\ud800"],
        np.array(["cat", "dog", "eel"], dtype=object),
        np.array(["cat", "dog", "eel"], dtype="U40"),
        [-5, 0, 2**40],
        np.array([0, 1, 255], dtype=np.uint8),
        np.array(["cat", "dog", "eel"], dtype=">U3"),
        np.array([1, 2, 3], dtype=">i4"),
        [False, True, True],
        [1.0, 2.0, 3.0],
    ],
    ids=str,
)
@pytest.mark.parametrize("readout", readouts())
def test_labels_of_every_kind_come_back(labels, readout, rng):
    X, y = rng.random((30, 4)), np.asarray(labels)[np.arange(30) % 3]
    model = quick(estimator_class(readouts()[readout])()).fit(X, y)

    loaded = round_trip(model)

    model.classes_ = model.classes_.astype(model.classes_.dtype.newbyteorder("="))
    assert_same_state(loaded, model)
    assert loaded.predict(X).dtype == model.predict(X).dtype


@pytest.mark.parametrize("fill", [True, False])
@pytest.mark.parametrize("text", [[], ["t", "u"]])
def test_columns_of_every_kind_come_back(fill, text):
    texts = {"t": ["x", "\u00e4\n", "", np.nan], "u": ["rare", "x", "x", "x"]}
    dates = {"d": pd.to_datetime(["2020-01-31", "2021-02-28", None, "2021-02-28"])}
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0, 4.0], **texts, **dates})
    fitted = FrameVectorizer(["a"], text, ["d"] if text else [], fill=fill, min_rows=2).fit(frame)

    loaded = round_trip(fitted)

    assert_same_state(loaded, fitted)
    np.testing.assert_array_equal(loaded.transform(frame), fitted.transform(frame))


@pytest.mark.parametrize(
    ("parameters", "as_loaded"),
    [
        ({"prototypes_per_class": {0: 1, 1: 2, 2: 3}, "class_weight": {0: 0.5, 2: 2}}, {}),
        ({"prototypes_per_class": (1, 2, 3), "class_weight": "balanced"}, {}),
        ({"prototypes_per_class": [3, 2, 1], "learning_rate": 0.5, "solver": "sgd"}, {}),
        ({"prototypes_per_class": np.array([1, 2, 1])}, {"prototypes_per_class": [1, 2, 1]}),
        ({"slope": np.float32(8), "random_state": np.int64(1)}, {"slope": 8.0, "random_state": 1}),
    ],
)
def test_parameters_of_every_kind_come_back(parameters, as_loaded, wine):
    model = quick(hyperlvq.GLVQClassifier()).set_params(**parameters).fit(*wine)

    loaded = round_trip(model).get_params()

    assert repr(loaded) == repr(model.get_params() | as_loaded)  # types of numbers and keys, too


def test_a_file_with_a_rate_that_fit_refuses_predicts_and_is_saved_but_learns_no_further(wine):
    model = hyperlvq.PerceptronClassifier(random_state=0).fit(*wine)

    loaded = round_trip(model.set_params(learning_rate=100.0))  # as older versions allowed

    assert loaded.learning_rate == 100
    np.testing.assert_array_equal(loaded.predict(wine[0]), model.predict(wine[0]))
    for learn in (loaded.fit, loaded.partial_fit):
        with pytest.raises(ValueError, match="learning_rate must be at most 1, got 100"):
            learn(*wine)
    with pytest.raises(InputError, match="learning_rate must be a finite number above 0, got -1"):
        round_trip(model.set_params(learning_rate=-1.0))


def test_what_says_how_to_use_a_machine_is_not_saved(wine):
    layer = hyperlvq.IntRVFLLayer(n_units=20, n_jobs=2, random_state=0).fit(wine[0])
    readout = quick(hyperlvq.KGLVQClassifier(max_kernel_bytes=10**6)).fit(*wine)

    assert round_trip(layer).n_jobs is None
    assert round_trip(readout).max_kernel_bytes == 2**31


@pytest.mark.parametrize("weight", [1.3, 0.1])
@pytest.mark.parametrize("readout", ["centroids", "perceptron", "lvq1", "glvq"])
def test_a_loaded_readout_learns_on_as_the_saved_one_would(readout, weight, wine):
    X, y = wine
    model = quick(estimator_class(readouts()[readout])())
    model.partial_fit(X[::2], y[::2], classes=[0, 1, 2], sample_weight=np.full(89, weight))

    loaded = round_trip(model)

    assert_same_state(loaded.partial_fit(X, y), model.partial_fit(X, y))


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_recipe_fitted_on_short_floats_comes_back(dtype, wine):
    X, y = wine[0].astype(dtype), wine[1]
    model = make_classifier("intrvfl", "rls", n_units=50, random_state=0)
    model.set_params(scale__feature_range=(np.float32(0), np.int64(1))).fit(X, y)

    np.testing.assert_array_equal(round_trip(model).predict(X), model.predict(X))


def test_a_pipeline_of_ones_own_comes_back(wine):
    X, y = wine
    steps = [("s", MinMaxScaler((-1, 1))), ("p", None), ("r", hyperlvq.RLSClassifier())]
    model = Pipeline(steps).fit(X, y)

    loaded = round_trip(model)

    assert type(loaded) is Pipeline
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_features_never_seen_in_training_come_back(wine):
    X, y = wine[0].copy(), wine[1]
    X[:, 2] = np.nan
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        model = quick(make_classifier("intrvfl", "centroids")).fit(X, y)

    assert_same_state(round_trip(model)["scale"], model["scale"])


NOT_OURS = "only models of hyperlvq can be saved, got"
UNSAVED = "the model cannot be saved:"
ADVICE = (
    "; other estimators of scikit-learn can be kept by skops.io or, among people who trust each "
    "other, by joblib"
)


class Other(hyperlvq.CentroidClassifier):
    """A model that a file would not tell from a CentroidClassifier."""


def changed(**attributes):
    """Return a model of which somebody has changed what it has learnt."""
    model = hyperlvq.CentroidClassifier().fit(np.eye(2), [0, 1])
    vars(model).update(attributes)
    return model


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ([1, 2], f"{NOT_OURS} a list"),
        (Other().fit(np.eye(2), [0, 1]), f"{NOT_OURS} a Other{ADVICE}"),
        (
            changed(classes_=np.arange(2, dtype=np.longdouble)),
            f"{UNSAVED} an array is of a type that model files do not have: .*",
        ),
        (hyperlvq.GLVQClassifier, f"{NOT_OURS} the class GLVQClassifier"),
        (
            make_pipeline(StandardScaler(), LogisticRegression()),
            f"{NOT_OURS} a StandardScaler{ADVICE}",
        ),
        (make_classifier(), "RangeScaler is not fitted: call fit before saving it"),
        (
            hyperlvq.RVFLLayer(5, random_state=np.random.RandomState(0)).fit(np.eye(2)),
            f"{UNSAVED} random_state is a RandomState, which a model file cannot hold",
        ),
        (
            changed(prototypes_=np.eye(3)),
            f"{UNSAVED} CentroidClassifier: .* must be for 3 prototypes, as the rest .* is, got 2",
        ),
        (
            Pipeline([("a.b", hyperlvq.CentroidClassifier())]).fit(np.eye(2), [0, 1]),
            f"{UNSAVED} a step must not be called 'notes' nor have a point in its name",
        ),
    ],
)
def test_what_a_file_cannot_hold_is_one_sentence(model, sentence, tmp_path):
    path = tmp_path / "m.hlvq"
    path.write_bytes(b"old")

    with pytest.raises(InputError, match=f"^{sentence}$"):
        hyperlvq.save(model, path)

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_path_that_cannot_be_is_one_sentence():
    with pytest.raises(InputError, match="cannot be read: embedded null byte"):
        hyperlvq.load("a\0b")


def test_the_caller_says_how_long_a_file_may_be(digits, tmp_path):
    hyperlvq.save(digits, tmp_path / "m.hlvq")
    n_bytes = (tmp_path / "m.hlvq").stat().st_size

    sentence = f"says that it has {n_bytes} bytes, which is more than max_bytes=1000"
    with pytest.raises(InputError, match=sentence):
        hyperlvq.load(tmp_path / "m.hlvq", max_bytes=1000)
    assert hyperlvq.load(tmp_path / "m.hlvq", max_bytes=n_bytes)
    with pytest.raises(TypeError, match="max_bytes must be an integer, got None"):
        hyperlvq.load("m", max_bytes=None)


def test_a_file_is_little_more_than_its_arrays_and_the_same_every_time(digits):
    values = [value for _, step in digits.steps for value in vars(step).values()]
    n_bytes = sum(value.nbytes for value in values if isinstance(value, np.ndarray))

    content = to_bytes(to_parts(digits))

    assert len(content) < n_bytes + 4096
    assert to_bytes(to_parts(digits)) == content


@pytest.mark.compiled
def test_a_model_is_loaded_in_milliseconds(digits, tmp_path):
    hyperlvq.save(digits, tmp_path / "m.hlvq")

    assert min(repeat(lambda: hyperlvq.load(tmp_path / "m.hlvq"), repeat=5, number=1)) < 0.05


@pytest.mark.parametrize("kind", PARTS)
def test_records_have_the_parameters_of_the_constructors(kind):
    parameters = estimator_class(kind)().get_params().keys() - MACHINE_PARAMETERS

    assert parameters == {*PARTS[kind].saved_parameters}
