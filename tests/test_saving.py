"""Model files: what comes back is what was saved, and nothing else comes back."""

import io
import pickle
import zipfile

import numpy as np
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from model_files import with_notes
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import hyperlvq
from hyperlvq.checks import InputError
from hyperlvq.models import HIDDEN_LAYERS, READOUTS, make_classifier
from hyperlvq.saving import NOTES_FILE, SavedModel, from_bytes, read_model, to_bytes, write_model

QUICK = {"n_units": 20, "max_iter": 3, "random_state": 0}


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


def test_a_file_that_could_not_be_loaded_is_not_saved(tmp_path):
    foreign = make_pipeline(FunctionTransformer(ForeignEstimator), LogisticRegression())

    with pytest.raises(
        InputError, match=r"the model has .*ForeignEstimator in it, which is not among"
    ):
        hyperlvq.save(foreign, tmp_path / "m")

    assert not list(tmp_path.iterdir())


def test_foreign_types_are_refused(content):
    foreign = skops.io.dumps(ForeignEstimator())
    buffer = io.BytesIO(foreign)
    with zipfile.ZipFile(buffer, "a") as archive, zipfile.ZipFile(io.BytesIO(content)) as ours:
        archive.writestr(NOTES_FILE, ours.read(NOTES_FILE))

    with pytest.raises(InputError, match=r"^m has the foreign type .*ForeignEstimator in it"):
        from_bytes(buffer.getvalue(), "m")


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
    no_model = to_bytes(SavedModel({"a": 1}))

    with pytest.raises(InputError, match="m has no model in it but a dict"):
        from_bytes(no_model, "m")


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
