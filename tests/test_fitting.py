"""A fitted estimator keeps what `fit` used, and a failing fit changes nothing."""

from copy import deepcopy

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

import hyperlvq
from hyperlvq.readouts.base import BatchReadout
from hyperlvq.registry import PARTS, SCALERS, estimator_class

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X, Y = load_iris(return_X_y=True, as_frame=True)
X.columns = ["a", "b", "c", "d"]
MIXED = X.assign(text=np.where(X["a"] > 5, "long", "short"), b=X["b"].where(X["b"] > 2.5))
SMALL = {"n_units": 30, "n_networks": 2, "max_iter": 20, "random_state": 0, "clip": 5}
#: Another value of each parameter, which the defaults and SMALL do not have.
OTHERS = {
    "n_units": 7,
    "clip": 1,
    "kinds": "parity",
    "random_state": 5,
    "n_networks": 1,
    "alpha": 100.0,
    "penalty": "identity",
    "solver": "fista",
    "max_iter": 3,
    "tol": 0.5,
    "prototypes_per_class": 2,
    "slope": 99.0,
    "kernel": "linear",
    "gamma": 9.0,
    "learning_rate": 0.9,
    "init_noise": 0.7,
    "shuffle": False,
    "warm_start": True,
    "class_weight": {0: 5.0},
    "time_limit": 1.0,
    "max_kernel_bytes": 1,
    "init": "published",
    "feature_range": (-7, 7),
    "copy": False,
    "numbers": ["a"],
    "text": ["text"],
    "dates": [],
    "fill": True,
    "min_rows": 60,
    "max_levels": 2,
}
OTHERS_OF = {
    ("RangeScaler", "clip"): True,
    ("GLVQClassifier", "solver"): "sgd",
}
KINDS = [kind for kind in PARTS if kind != "MinMaxScaler"]
CLASSIFIERS = [kind for kind in KINDS if PARTS[kind].output is None]
METHODS = ("predict", "predict_proba", "decision_function", "transform", "inverse_transform")


def unfitted(kind, **others):
    estimator = estimator_class(kind)()
    given = {**SMALL, **({"clip": False} if kind == "RangeScaler" else {}), **others}
    names = estimator.get_params()
    return estimator.set_params(**{name: given[name] for name in given if name in names})


def table(kind):
    return MIXED if kind == "FrameVectorizer" else X


def fitted(kind):
    return unfitted(kind).fit(table(kind), Y)


def outputs(estimator, kind):
    """Return what all methods make of samples, some of them out of the range of training."""
    frame = table(kind)
    samples = frame.assign(**{name: frame[name] * 1.2 - 0.3 for name in "acd"})
    found = {n: getattr(estimator, n)(samples) for n in METHODS if hasattr(estimator, n)}
    if hasattr(estimator, "get_feature_names_out"):
        found["names"] = estimator.get_feature_names_out()
    return found


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


CHANGES = [
    pytest.param(kind, name, id=f"{kind}-{name}")
    for kind in KINDS
    for name in estimator_class(kind)().get_params()
    if name not in ("n_jobs", "verbose")
]


@pytest.mark.parametrize(("kind", "name"), CHANGES)
def test_parameter_changed_after_fit_changes_no_prediction(kind, name, tmp_path):
    estimator = fitted(kind)
    expected = outputs(estimator, kind)
    value = OTHERS_OF.get((kind, name), OTHERS[name])
    assert getattr(estimator, name) != value
    estimator.set_params(**{name: value})

    assert_same(outputs(estimator, kind), expected)
    hyperlvq.save(estimator, tmp_path / "m.hlvq")
    assert_same(outputs(hyperlvq.load(tmp_path / "m.hlvq"), kind), expected)


@pytest.mark.parametrize(("kind", "name"), CHANGES)
def test_parameter_changed_after_load_changes_no_prediction(kind, name, tmp_path):
    hyperlvq.save(fitted(kind), tmp_path / "m.hlvq")
    loaded = hyperlvq.load(tmp_path / "m.hlvq")
    expected = outputs(loaded, kind)
    loaded.set_params(**{name: OTHERS_OF.get((kind, name), OTHERS[name])})

    assert_same(outputs(loaded, kind), expected)


def test_columns_changed_in_place_after_fit_change_no_features():
    names = ["a", "b"]
    vectorizer = hyperlvq.FrameVectorizer(numbers=names).fit(MIXED)
    names.append("c")

    assert vectorizer.transform(MIXED).shape[1] == 2


def test_export_takes_the_clip_of_fit():
    from hyperlvq.export import make_plan

    model = hyperlvq.make_classifier("intrvfl", "glvq", n_units=50, clip=7, random_state=0)
    model.fit(X, Y)
    expected = make_plan(model, bits=16).predict(X)
    model.set_params(hidden__clip=1, scale__clip=False)

    np.testing.assert_array_equal(make_plan(model, bits=16).predict(X), expected)


def bad_calls(kind):
    """Yield functions that call `fit` of an estimator so that it raises, and the error."""
    good = table(kind)
    renamed = good.rename(columns={"a": "b", "b": "a"})
    infinite = renamed.assign(c=np.inf)
    if kind == "FrameVectorizer":
        yield lambda e: e.set_params(text=["a"]).fit(renamed), TypeError
        yield lambda e: e.set_params(numbers=["z"]).fit(renamed), KeyError
        yield lambda e: e.fit(renamed.assign(a=1j)), TypeError
        return
    yield lambda e: e.fit(infinite, Y), ValueError
    yield lambda e: e.fit(renamed.assign(a="word"), Y), ValueError
    yield lambda e: e.fit(renamed.iloc[:0], Y[:0]), ValueError
    if kind in CLASSIFIERS:
        yield lambda e: e.fit(renamed, np.zeros(len(Y))), ValueError
        yield lambda e: e.fit(renamed, Y[:-1]), ValueError
        yield lambda e: e.fit(renamed, Y, -np.ones(len(Y))), ValueError
        yield lambda e: e.fit(renamed.iloc[:, :2], Y.astype("datetime64[s]")), ValueError


def state(estimator):
    """Return a copy of everything but the parameters, which a call may set."""
    names = estimator.get_params(deep=False)
    return deepcopy({name: v for name, v in vars(estimator).items() if name not in names})


def assert_unchanged(estimator, before):
    assert vars(estimator).keys() - estimator.get_params() == before.keys()
    for name, value in before.items():
        assert joblib.hash(vars(estimator)[name]) == joblib.hash(value), name


@pytest.mark.parametrize("starts_fitted", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_failing_fit_leaves_the_estimator_as_it_was(kind, starts_fitted):
    for call, error in bad_calls(kind):
        estimator = fitted(kind) if starts_fitted else unfitted(kind)
        before = state(estimator)
        with pytest.raises(error):
            call(estimator)
        assert_unchanged(estimator, before)


@pytest.mark.parametrize("starts_fitted", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_fit_that_is_interrupted_leaves_the_estimator_as_it_was(
    kind, starts_fitted, error, monkeypatch
):
    estimator = fitted(kind) if starts_fitted else unfitted(kind)
    before = state(estimator)
    hooks = ("_fit_samples", "_draw", "_learn", "_scale_small_features")
    hook = next(name for name in hooks if hasattr(estimator, name))
    learn = getattr(type(estimator), hook)

    def interrupted(self, *given):
        learn(self, *given)
        raise error

    monkeypatch.setattr(type(estimator), hook, interrupted)
    frame = table(kind)
    with pytest.raises(error):
        estimator.fit(frame.assign(a=frame["b"].fillna(0), b=frame["a"]), Y)

    assert_unchanged(estimator, before)


@pytest.mark.parametrize("n_before", [0, 1, 3])
@pytest.mark.parametrize(
    "kind", [k for k in CLASSIFIERS if issubclass(estimator_class(k), BatchReadout)]
)
def test_failing_batch_leaves_the_readout_as_it_was(kind, n_before, monkeypatch):
    readout, twin = unfitted(kind, solver="sgd"), unfitted(kind, solver="sgd")
    batches = np.array_split(np.random.RandomState(0).permutation(len(Y)), 4)
    for rows in batches[:n_before]:
        for each in (readout, twin):
            each.partial_fit(X.iloc[rows], Y.iloc[rows], classes=[0, 1, 2])
    before = state(readout)
    rows = batches[n_before]
    learn = type(readout)._learn_batch

    def interrupted(self, *given):
        learn(self, *given)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(readout), "_learn_batch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        readout.partial_fit(X.iloc[rows], Y.iloc[rows], classes=[0, 1, 2])
    monkeypatch.undo()
    assert_unchanged(readout, before)
    for bad in (Y.iloc[rows] + 9, Y.iloc[rows][:-1]):
        with pytest.raises(ValueError, match=r"labels|inconsistent"):
            readout.partial_fit(X.iloc[rows], bad, classes=[0, 1, 2])
    assert_unchanged(readout, before)

    for each in (readout, twin):  # as if nothing had happened
        each.partial_fit(X.iloc[rows], Y.iloc[rows], classes=[0, 1, 2])
    assert_same(outputs(readout, kind), outputs(twin, kind))


def test_swapped_columns_are_refused_after_a_failing_fit():
    readout = fitted("GLVQClassifier")
    swapped = X[["b", "a", "c", "d"]]
    with pytest.raises(ValueError, match="at least two classes"):
        readout.fit(swapped, np.zeros(len(Y)))

    with pytest.raises(ValueError, match="feature names"):
        readout.predict(swapped)


@pytest.mark.parametrize("kind", [k for k in KINDS if "n_jobs" in PARTS[k].parameters])
@pytest.mark.parametrize(
    ("value", "error", "sentence"),
    [
        (0, ValueError, "n_jobs must be None or an integer other than 0, got 0"),
        ("2", TypeError, "n_jobs must be None or an integer, got '2'"),
        (True, TypeError, "n_jobs must be None or an integer, got True"),
        (2.0, TypeError, r"n_jobs must be None or an integer, got 2\.0"),
    ],
)
def test_number_of_threads_is_checked_in_fit(kind, value, error, sentence):
    with pytest.raises(error, match=f"^{sentence}$"):
        unfitted(kind, n_jobs=value).fit(X, Y)


@pytest.mark.parametrize("kind", [k for k in KINDS if "n_jobs" in PARTS[k].parameters])
@pytest.mark.parametrize("value", [None, 1, 2, np.int64(2), -1, -2])
def test_number_of_threads_changes_nothing(kind, value):
    found = unfitted(kind, n_jobs=value).fit(X, Y)

    assert_same(outputs(found, kind), outputs(fitted(kind), kind))


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_has_a_check(kind):
    assert estimator_class(kind)().get_params().keys() == PARTS[kind].parameters.keys()


@pytest.mark.parametrize("kind", [k for k in KINDS if "verbose" in PARTS[k].parameters])
def test_verbose_true_is_one(kind, capsys):
    unfitted(kind, verbose=True).fit(X, Y)

    assert capsys.readouterr().out


@pytest.mark.parametrize("kind", [k for k in KINDS if "random_state" in PARTS[k].parameters])
def test_generator_as_random_state_is_refused_with_the_accepted_types(kind):
    estimator = unfitted(kind, random_state=np.random.default_rng(0))

    sentence = r"^random_state must be None, an integer or a numpy\.random\.RandomState, got Gen"
    with pytest.raises(TypeError, match=sentence):
        estimator.fit(X, Y)


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("FrameVectorizer", *SCALERS)])
def test_names_set_to_none_on_a_copy_are_no_names(kind, tmp_path):
    """shap.KernelExplainer does so, to give arrays to a model of a frame."""
    estimator = fitted(kind)
    nameless = deepcopy(estimator)
    nameless.feature_names_in_ = None
    method = "transform" if hasattr(estimator, "transform") else "predict"

    expected = getattr(estimator, method)(X)
    np.testing.assert_array_equal(getattr(nameless, method)(X.to_numpy()), expected)
    hyperlvq.save(nameless, tmp_path / "m.hlvq")
    assert not hasattr(hyperlvq.load(tmp_path / "m.hlvq"), "feature_names_in_")
    assert hasattr(clone(nameless).fit(X, Y), "feature_names_in_")
