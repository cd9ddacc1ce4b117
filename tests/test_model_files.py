"""Model files: whatever is not a whole model is refused in one sentence."""

import io
import json
import pickle
import struct

import numpy as np
import pytest
from model_files import changed, put_together, take_apart
from safetensors import safe_open

from hyperlvq import CentroidClassifier, model_files
from hyperlvq.checks import InputError
from hyperlvq.model_files import read, to_bytes
from hyperlvq.models import make_classifier
from hyperlvq.saving import from_parts, to_parts


@pytest.fixture(scope="module")
def content():
    rng = np.random.default_rng(0)
    model = make_classifier("intrvfl", "glvq", n_units=20, prototypes_per_class=1, random_state=0)
    return to_bytes(to_parts(model.fit(rng.random((20, 3)), ["a", "b"] * 10)))


def refusal(content):
    with pytest.raises(InputError) as refused:
        read(io.BytesIO(content), "m")
    assert "\n" not in str(refused.value)
    return str(refused.value)


def with_header(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_other_tools_read_the_arrays(content, tmp_path):
    (tmp_path / "m.hlvq").write_bytes(content)

    with safe_open(tmp_path / "m.hlvq", framework="numpy") as file:
        assert file.get_tensor("hidden.keys_").shape == (3, 20)
        assert json.loads(file.metadata()["hyperlvq"])["version"] == "0.1.0"


def test_a_file_of_one_version_is_read_by_the_next(content, monkeypatch):
    monkeypatch.setattr(model_files, "__version__", "0.2.0")

    loaded = from_parts(read(io.BytesIO(content), "m"))

    assert loaded.predict(np.zeros((1, 3))).shape == (1,)


def test_a_file_of_another_format_is_one_sentence(content):
    assert refusal(changed(content, format=3, version="0.9.0")) == (
        "m is not a model that can be used: it was saved by hyperlvq '0.9.0' in format 3, "
        "and hyperlvq 0.1.0 reads format 2"
    )


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (b"", "m is empty"),
        (b"a,b\n1,2\n", "m is not a model that hyperlvq saved"),
        (b"short", "m is not a model that hyperlvq saved"),
        (
            b"PK\x03\x04",
            "m is a zip archive, as models of hyperlvq were before their format changed",
        ),
        (
            with_header(b"{}"),
            "m is not a model that can be used: it has no model of hyperlvq in it",
        ),
        (with_header(b"[]"), "m is not a model that hyperlvq saved"),
        (with_header(b"{"), "m is not a model that hyperlvq saved"),
        (with_header(b"\xff\xff"), "m is not a model that hyperlvq saved"),
        (with_header(b"[" * 100_000), "m is not a model that hyperlvq saved"),
        (with_header(b'{"a":1,"a":2}'), "m is not a model that hyperlvq saved"),
        (with_header({"a": {"data_offsets": [0, -1]}}), "m is not a model that hyperlvq saved"),
        (with_header({"a": {"data_offsets": [0, "9"]}}), "m is not a model that hyperlvq saved"),
        (with_header({"a": {"data_offsets": 9}}), "m is not a model that hyperlvq saved"),
        (with_header({"a": {"data_offsets": [0, 9]}}, b"123"), "m is cut off or damaged"),
        (with_header({"a": {"data_offsets": [0, 2]}}, b"123"), "m is cut off or damaged"),
        (with_header({"a": {"data_offsets": [0, 2**62]}}), "m says that it has 46116860184"),
        (struct.pack("<Q", 2**62) + b"{}", "m is not a model that hyperlvq saved"),
        (with_header({"__metadata__": {"hyperlvq": "[]"}}), "m is not a model that can be used"),
        (with_header({"__metadata__": {"hyperlvq": "{"}}), "m is not a model that can be used"),
        (with_header({"__metadata__": {"hyperlvq": 1}}), "m is not a model that can be used"),
    ],
)
def test_what_is_no_model_is_one_sentence(other, sentence):
    assert refusal(other).startswith(sentence)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused(protocol):
    sentence = "m is a pickle, which could run any code: it is refused"

    assert refusal(pickle.dumps(list(range(9)), protocol)) == sentence


@pytest.mark.parametrize("n_header", [0x0480, 0x0580])
def test_a_header_is_not_taken_for_the_start_of_a_pickle(n_header):
    model = CentroidClassifier().fit([[0.0], [1.0]], [0, 1])
    values, arrays = take_apart(to_bytes(to_parts(model)))
    size = len(put_together(values, arrays)) - sum(array.nbytes for array in arrays.values()) - 8
    values["version"] = "9" * (n_header - size + len(values["version"]))
    longer = put_together(values, arrays)

    assert longer[:2] == n_header.to_bytes(2, "little")
    assert read(io.BytesIO(longer), "m").steps


def test_endless_zeros_are_refused_at_once():
    with open("/dev/zero", "rb") as stream, pytest.raises(InputError, match="m is not a model"):
        read(stream, "m")


def change(path, value):
    """Return what sets a value deep in the header."""

    def act(values, arrays):
        *before, last = path
        for key in before:
            values = values[key]
        values[last] = value

    return act


def array(name, value):
    """Return what replaces an array, or removes it."""

    def act(values, arrays):
        if value is None:
            del arrays[name]
        else:
            arrays[name] = value

    return act


READOUT = ("steps", 2, 1)
HIDDEN = ("steps", 1, 1)


def add_names(values, arrays, names):
    """Give the layer names of its features."""
    values["steps"][1][1]["learnt"]["feature_names_in_"] = {"text": "O"}
    arrays["hidden.feature_names_in_"] = np.frombuffer(names.encode(), np.uint8)
    arrays["hidden.feature_names_in_.lengths"] = np.ones(len(names), dtype=np.int64)


CRAFTED = [
    ("HuberRegressor", change((*READOUT, "class"), "HuberRegressor")),
    ("os.system", change((*READOUT, "class"), "os.system")),
    ("['a'] is not one", change((*READOUT, "class"), ["a"])),
    ("the pipeline 'FeatureUnion'", change(("pipeline",), "FeatureUnion")),
    ("steps must be a list", change(("steps",), {})),
    ("a step must be", change(("steps", 2), ["readout"])),
    ("1 to 16 steps", change(("steps",), [])),
    ("1 to 16 steps", change(("steps",), [["a", None]] * 17)),
    ("text 'hidden.classes_' is missing", change(("steps", 2, 0), "hidden")),
    ("different names", change(("steps", 0), ["hidden", None])),
    ("a classifier must be the last", lambda values, _: values["steps"].reverse()),
    ("the model: 'extra' is unknown", change(("extra",), 1)),
    ("'memory' is unknown", change((*READOUT, "parameters", "memory"), "cache")),
    ("'n_jobs' is unknown", change((*HIDDEN, "parameters", "n_jobs"), 100_000)),
    ("'slope' is missing", lambda values, _: values["steps"][2][1]["parameters"].pop("slope")),
    ("slope must be a number", change((*READOUT, "parameters", "slope"), "steep")),
    ("slope must be a finite", change((*READOUT, "parameters", "slope"), 10**400)),
    ("clip must be at least 1", change((*HIDDEN, "parameters", "clip"), 0)),
    ("clip must be at most 32767", change((*HIDDEN, "parameters", "clip"), 10**9)),
    ("keys_ must be for 21 units", change((*HIDDEN, "parameters", "n_units"), 21)),
    ("feature_range must be", change(("steps", 0, 1, "parameters", "feature_range"), [0, 1])),
    (
        "two finite numbers in order",
        change(("steps", 0, 1, "parameters", "feature_range"), {"tuple": [0, 10**400]}),
    ),
    (
        "two finite numbers in order",
        change(("steps", 0, 1, "parameters", "feature_range"), {"tuple": [1, 0]}),
    ),
    ("random_state must be", change((*HIDDEN, "parameters", "random_state"), "__import__")),
    ("max_iter must be an integer", change((*READOUT, "parameters", "max_iter"), True)),
    ("class_weight must be", change((*READOUT, "parameters", "class_weight"), 3)),
    ("unknown kind", change((*READOUT, "parameters", "class_weight"), {"pairs": [[[], 1]]})),
    ("n_iter_ must be an integer", change((*READOUT, "learnt", "n_iter_"), "many")),
    ("n_iter_ must be at least 0", change((*READOUT, "learnt", "n_iter_"), -1)),
    ("'coef_' is unknown", change((*READOUT, "learnt", "coef_"), 1)),
    ("'classes_' is given twice", change((*READOUT, "learnt", "classes_"), ["a", "b"])),
    ("prototypes_' is given twice", change((*READOUT, "learnt", "prototypes_"), [[1.0]])),
    ("n_features_in_ must be for 20", change((*READOUT, "learnt", "n_features_in_"), 21)),
    ("classes_' must be of a type", change((*READOUT, "learnt", "classes_", "text"), "|S9")),
    ("too many or too long texts", change((*READOUT, "learnt", "classes_", "text"), "<U99999999")),
    ("classes_' must be of a type", change((*READOUT, "learnt", "classes_", "text"), ["O"])),
    ("keys_ is missing", array("hidden.keys_", None)),
    ("keys_ must have 2 dimensions", array("hidden.keys_", np.ones(60, dtype=np.int8))),
    ("keys_ must be for 20 units", array("hidden.keys_", np.ones((3, 21), dtype=np.int8))),
    ("at least one of its features", array("hidden.keys_", np.ones((0, 20), dtype=np.int8))),
    ("at least one of its features", array("hidden.keys_", np.ones((0, 10**8), dtype=np.int8))),
    ("keys_ must be of type int8", array("hidden.keys_", np.ones((3, 20)))),
    ("keys_ must be -1 and 1 only", array("hidden.keys_", np.zeros((3, 20), dtype=np.int8))),
    ("prototypes_ must be finite", array("readout.prototypes_", np.full((2, 20), np.nan))),
    ("prototype_classes_ must be for 3", array("readout.prototypes_", np.ones((3, 20)))),
    (
        "prototype_classes_ must lie between 0 and 1",
        array("readout.prototype_classes_", np.array([0, 2])),
    ),
    (
        "prototype_classes_ must lie between 0 and 1",
        array("readout.prototype_classes_", np.array([-1, 0])),
    ),
    ("data_min_ must not be infinite", array("scale.data_min_", np.full(3, -np.inf))),
    ("min_ must be for 3 features", array("scale.min_", np.zeros(4))),
    ("loss_curve_ must be finite", array("readout.loss_curve_", np.array([np.nan]))),
    ("loss_curve_ must be a list", array("readout.loss_curve_", np.ones((2, 2)))),
    ("'loss_curve_' has more than", array("readout.loss_curve_", np.ones(2**20 + 1))),
    ("belongs to nothing", array("elsewhere.a", np.ones(2))),
    ("'more_' is unknown", array("readout.more_", np.ones(2))),
    ("as long as its lengths say", array("readout.classes_.lengths", np.array([1, 2]))),
    ("as long as its lengths say", array("readout.classes_.lengths", np.array([3, -1]))),
    ("different labels in order", array("readout.classes_", np.frombuffer(b"ba", np.uint8))),
    ("different labels in order", array("readout.classes_", np.frombuffer(b"aa", np.uint8))),
    ("can't decode byte", array("readout.classes_", np.frombuffer(b"\xfe\xff", np.uint8))),
    ("text 'readout.classes_' is missing", array("readout.classes_.lengths", None)),
    ("must be text", array("readout.classes_.lengths", np.ones(2))),
    ("n_iter_ must be at most", change((*READOUT, "learnt", "n_iter_"), 10**400)),
    ("_carried_weight must be less than 1", change((*READOUT, "learnt", "_carried_weight"), 1e8)),
    (
        "prototypes_per_class must be at most",
        change((*READOUT, "parameters", "prototypes_per_class"), 10**30),
    ),
    ("at most 1000 characters", change((*READOUT, "learnt", "classes_", "text"), "<U1001")),
    (
        "feature_names_in_ must be different",
        lambda values, arrays: add_names(values, arrays, "aaa"),
    ),
    ("scale_ and min_ must follow", array("scale.scale_", np.full(3, -1.0))),
    ("scale_ and min_ must follow", array("scale.scale_", np.full(3, 1e308))),
    ("scale_ and min_ must follow", array("scale.min_", np.full(3, np.nan))),
    ("scale_ and min_ must follow", array("scale.data_max_", np.full(3, -9.0))),
    ("scale_ and min_ must follow", array("scale.data_range_", np.zeros(3))),
    ("a classifier must be the last", lambda values, _: values["steps"].append(["p", None])),
]


@pytest.mark.parametrize(("words", "act"), CRAFTED)
def test_a_crafted_file_is_one_sentence(words, act, content):
    values, arrays = take_apart(content)
    act(values, arrays)

    sentence = refusal(put_together(values, arrays))

    assert sentence.startswith("m is not a model that can be used: ")
    assert words in sentence


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", '{"format":2,"format":2}', "1e999", "9" * 5000]
)
def test_what_json_has_not_is_one_sentence(text, content):
    _, arrays = take_apart(content)

    assert refusal(put_together(text, arrays)).startswith("m is not a model that can be used: ")


def test_sentences_do_not_quote_whole_files(content):
    values, arrays = take_apart(content)
    values["steps"][2][1]["parameters"]["solver"] = "\x1b[31m\n" * 10_000

    assert len(refusal(put_together(values, arrays))) < 300


def test_texts_of_a_file_together_take_little_memory(content):
    values, arrays = take_apart(content)
    for i in range(20):
        values["notes"][f"x{i}"] = {"text": "<U999999"}
        arrays[f"notes.x{i}"] = np.zeros(0, np.uint8)
        arrays[f"notes.x{i}.lengths"] = np.zeros(1, np.int64)

    assert "too many or too long texts" in refusal(put_together(values, arrays))


def test_notes_that_are_too_long_are_not_saved():
    model = CentroidClassifier().fit([[0.0], [1.0]], [0, 1])

    with pytest.raises(InputError, match="the model has too long names or notes to be saved"):
        to_bytes(to_parts(model, {"a": "b" * 2**21}))


def test_notes_come_back(content):
    model = from_parts(read(io.BytesIO(content), "m"))
    notes = {
        "plain": {"größe": [1, 2.5, None, True], "pairs": {"pairs": 1}, "by number": {1: "a"}},
        "pair": (1, (2,)),
        "counts": np.arange(3, dtype=np.uint8),
        "names": np.array(["", "ü"], dtype=object),
    }

    found = read(io.BytesIO(to_bytes(to_parts(model, notes))), "m").notes

    assert found.keys() == notes.keys()
    assert all(found[key] == notes[key] for key in ("plain", "pair"))
    assert all(found[key].dtype == notes[key].dtype for key in ("counts", "names"))
    assert all(found[key].tolist() == notes[key].tolist() for key in ("counts", "names"))
