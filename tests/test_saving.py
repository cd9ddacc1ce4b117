"""Model files: what comes back is what was saved, and nothing else comes back."""

import io
import operator
import pickle
import sys
import threading
import zipfile

import numpy as np
import pytest
import sklearn
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from model_files import with_notes
from scipy.stats import randint
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, get_scorer, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import hyperlvq
from hyperlvq.checks import InputError
from hyperlvq.models import HIDDEN_LAYERS, READOUTS, make_classifier
from hyperlvq.saving import (
    NOTES_FILE,
    SavedModel,
    from_bytes,
    read_model,
    to_bytes,
    write_model,
)

QUICK = {"n_units": 20, "max_iter": 3, "random_state": 0}
BEFORE_1_8 = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)


class ForeignEstimator(LogisticRegression):
    """What a model file must not bring along."""


def quick_model(hidden, readout):
    model = make_classifier(hidden, readout)
    names = {name.split("__")[1]: name for name in model.get_params() if "__" in name}
    return model.set_params(**{names[name]: QUICK[name] for name in QUICK if name in names})


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    return quick_model("intrvfl", "centroids").fit(rng.random((20, 3)), ["a", "b"] * 10)


@pytest.fixture(scope="module")
def content(model):
    return to_bytes(SavedModel(model))


def recipe():
    return quick_model("intrvfl", "centroids")


def calibrated(**settings):
    return CalibratedClassifierCV(recipe(), cv=3, **settings)


def searched(search, **settings):
    return search(recipe(), {"hidden__n_units": [5, 20]}, **{"cv": 3, **settings})


def round_trip(model, tmp_path):
    hyperlvq.save(model, tmp_path / "m.hlvq")
    return hyperlvq.load(tmp_path / "m.hlvq")


def crafted(value, content):
    """Return a file of any value, with the notes of a file that we wrote."""
    buffer = io.BytesIO(skops.io.dumps(value))
    with zipfile.ZipFile(buffer, "a") as archive, zipfile.ZipFile(io.BytesIO(content)) as ours:
        archive.writestr(NOTES_FILE, ours.read(NOTES_FILE))
    return buffer.getvalue()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("hidden", HIDDEN_LAYERS)
@pytest.mark.parametrize("readout", READOUTS)
def test_loaded_model_decides_exactly_as_the_saved_one(hidden, readout, wine, tmp_path):
    X, y = wine
    model = quick_model(hidden, readout).fit(X, y)

    hyperlvq.save(model, tmp_path / "m.hlvq")
    loaded = hyperlvq.load(tmp_path / "m.hlvq")

    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert str(loaded.get_params()) == str(model.get_params())


def test_a_loaded_model_can_be_fitted_again(model, content, wine):
    loaded = from_bytes(content, "m").model

    assert loaded.fit(*wine).score(*wine) > 0.5


def test_notes_come_back(model, tmp_path):
    about = {"target": "größe", "rows": 3, "spread": 0.1, "none": None}

    write_model(SavedModel(model, about), tmp_path / "m")

    assert read_model(tmp_path / "m").about == about


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize(
    "method",
    [
        "sigmoid",
        "isotonic",
        pytest.param("temperature", marks=pytest.mark.skipif(BEFORE_1_8, reason="new in 1.8")),
    ],
)
def test_a_calibrated_model_comes_back_with_its_probabilities(method, ensemble, wine, tmp_path):
    X, y = wine
    model = calibrated(method=method, ensemble=ensemble).fit(X, y)

    loaded = round_trip(model, tmp_path)

    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_model_calibrated_after_its_fit_comes_back(wine, tmp_path):
    X, y = wine
    model = CalibratedClassifierCV(FrozenEstimator(recipe().fit(X, y))).fit(X, y)

    loaded = round_trip(model, tmp_path)

    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy"])
@pytest.mark.parametrize(
    ("search", "settings"),
    [
        (GridSearchCV, {}),
        (GridSearchCV, {"cv": StratifiedKFold(3, shuffle=True, random_state=0)}),
        (GridSearchCV, {"cv": RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)}),
        (RandomizedSearchCV, {"n_iter": 2, "random_state": 0}),
        (HalvingGridSearchCV, {"random_state": 0}),
    ],
)
def test_a_search_comes_back(search, settings, scoring, wine, tmp_path):
    X, y = wine
    model = searched(search, scoring=scoring, **settings).fit(X, y)

    loaded = round_trip(model, tmp_path)

    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.score(X, y) == model.score(X, y)
    assert loaded.cv_results_["params"] == model.cv_results_["params"]
    assert loaded.fit(X, y).best_params_ == model.best_params_


def test_a_search_with_several_scores_comes_back(wine, tmp_path):
    X, y = wine
    scoring = {"accuracy": "accuracy", "f1": make_scorer(f1_score, average="macro")}
    model = searched(GridSearchCV, scoring=scoring, refit="f1").fit(X, y)

    loaded = round_trip(model, tmp_path)

    assert loaded.score(X, y) == model.score(X, y)


def test_a_search_over_calibrated_models_comes_back(wine, tmp_path):
    X, y = wine
    grid = {"method": ["sigmoid", "isotonic"]}
    model = GridSearchCV(calibrated(), grid, scoring="neg_log_loss", cv=3).fit(X, y)

    loaded = round_trip(model, tmp_path)

    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.score(X, y) == model.score(X, y)


@pytest.mark.parametrize(
    "name",
    [
        "accuracy",
        "average_precision",
        "f1_weighted",
        "jaccard_macro",
        "matthews_corrcoef",
        "neg_brier_score",
        "neg_negative_likelihood_ratio",
        "positive_likelihood_ratio",
        "precision",
        "recall",
        "roc_auc_ovr",
        "top_k_accuracy",
    ],
)
def test_a_score_of_classifiers_comes_back(name, tmp_path):
    loaded = round_trip(searched(GridSearchCV, scoring=get_scorer(name)), tmp_path)

    assert str(loaded.scoring) == str(get_scorer(name))


@pytest.mark.parametrize(
    "model",
    [
        VotingClassifier([("a", recipe()), ("b", quick_model("rvfl", "rls"))]),
        VotingClassifier([("a", calibrated()), ("b", LogisticRegression())], voting="soft"),
        BaggingClassifier(recipe(), n_estimators=3, random_state=0),
        StackingClassifier([("a", recipe()), ("b", quick_model("rvfl", "rls"))], cv=3),
        StackingClassifier([("a", searched(GridSearchCV))], cv=3),
        TunedThresholdClassifierCV(calibrated(), cv=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_model_of_several_comes_back(model, wine, tmp_path):
    X, y = wine
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # so that logistic regression converges
    model.fit(X, y == y[0])

    loaded = round_trip(model, tmp_path)

    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ([1, 2], "only a model can be saved, got a list"),
        (hyperlvq.GLVQClassifier, "only a model can be saved, got the class GLVQClassifier"),
        (
            make_pipeline(FunctionTransformer(ForeignEstimator), LogisticRegression()),
            r"the model has .*\.ForeignEstimator in it, which is not among the types that can be "
            "loaded safely",
        ),
        (
            searched(GridSearchCV, scoring=make_scorer(print)),
            "the model has builtins.print in it, which is not among .*",
        ),
        (
            RandomizedSearchCV(recipe(), {"hidden__n_units": randint(5, 20)}),
            r"the model has a scipy\..*rv_discrete_frozen in it, which cannot be saved",
        ),
        (
            StackingClassifier([("a", LogisticRegression(C=[{"b": (i for i in "c")}]))]),
            "the model has a builtins.generator in it, which cannot be saved",
        ),
        (
            LogisticRegression(C=hyperlvq.GLVQClassifier().fit),
            "the model has a builtins.method in it, which cannot be saved",
        ),
        (
            LogisticRegression(C=threading.Lock()),
            "the model has _thread.lock in it, which is not among .*",
        ),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(other, sentence, model, tmp_path):
    path = tmp_path / "m.hlvq"
    hyperlvq.save(model, path)
    before = path.read_bytes()

    with pytest.raises(InputError, match=f"^{sentence}$"):
        hyperlvq.save(other, path)

    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_model_too_large_to_be_loaded_is_not_saved(model, tmp_path, monkeypatch):
    monkeypatch.setattr("hyperlvq.saving.LARGEST_BYTES", 1000)

    with pytest.raises(InputError, match=r"^the model unpacks to more than 1000 bytes"):
        hyperlvq.save(model, tmp_path / "m")

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("foreign", "kind"),
    [
        (ForeignEstimator(), r".*\.ForeignEstimator"),
        (FunctionTransformer(exec), "builtins.exec"),
        (FunctionTransformer(operator.attrgetter("a")), "operator.attrgetter"),
        (FunctionTransformer(operator.methodcaller("a")), "operator.methodcaller"),
        (searched(GridSearchCV, scoring=make_scorer(eval)), "builtins.eval"),
        (VotingClassifier([("a", ForeignEstimator())]), r".*\.ForeignEstimator"),
    ],
)
def test_foreign_types_are_refused(foreign, kind, content):
    with pytest.raises(InputError, match=f"^m has the foreign type {kind} in it, which is refused"):
        from_bytes(crafted(foreign, content), "m")


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused(protocol):
    with pytest.raises(InputError, match="m is a pickle, which could run any code: it is refused"):
        from_bytes(pickle.dumps({}, protocol), "m")


@pytest.mark.parametrize("changes", [{"hyperlvq": "99.0.0"}, {"format": 99}])
def test_a_file_of_a_newer_version_is_refused(content, changes):
    with pytest.raises(InputError, match=r"^m was saved by hyperlvq .*, which is newer than"):
        from_bytes(with_notes(content, **changes), "m")


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (b"", "m is empty"),
        (b"a,b\n1,2\n", "m is not a model that hyperlvq saved"),
        (b"PK\x03\x04", "m is cut off or damaged"),
    ],
)
def test_what_is_no_model_is_refused(other, sentence):
    with pytest.raises(InputError, match=f"^{sentence}$"):
        from_bytes(other, "m")


def test_a_zip_archive_of_something_else_is_refused():
    with pytest.raises(InputError, match="m is a zip archive, but not a model that hyperlvq saved"):
        from_bytes(skops.io.dumps(LogisticRegression()), "m")


def test_a_file_without_a_model_is_refused(content):
    with pytest.raises(InputError, match="m has no model in it but a dict"):
        from_bytes(crafted({"a": 1}, content), "m")


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_file_that_is_cut_off_is_refused(content, data):
    length = data.draw(st.integers(1, len(content) - 1))

    with pytest.raises(InputError, match=r"^m is "):
        from_bytes(content[:length], "m")


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_changed_byte_is_refused_or_harmless(content, model, data):
    position = data.draw(st.integers(0, len(content) - 1))
    changed = bytearray(content)
    changed[position] ^= data.draw(st.integers(1, 255))

    try:
        loaded = from_bytes(bytes(changed), "m").model
    except InputError:
        return
    np.testing.assert_array_equal(loaded[-1].prototypes_, model[-1].prototypes_)


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="gone cannot be read: No such file or directory"):
        hyperlvq.load(tmp_path / "gone")


def test_a_full_disk_is_one_sentence(model):
    with pytest.raises(InputError, match="/dev/full cannot be written: No space left on device"):
        hyperlvq.save(model, "/dev/full")


def test_without_skops_saving_and_loading_say_what_to_install(model, content, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)

    with pytest.raises(ModuleNotFoundError, match=r"needs: pip install 'hyperlvq\[save\]'"):
        to_bytes(SavedModel(model))
    with pytest.raises(ModuleNotFoundError, match=r"needs: pip install 'hyperlvq\[save\]'"):
        from_bytes(content, "m")
