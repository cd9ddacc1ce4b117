"""Model files: whatever is not a whole model is refused in one sentence."""

import io
import json
import pickle
import struct

import numpy as np
import pytest
from fuzz_model_files import put_together, take_apart
from safetensors import safe_open

from hyperlvq import CentroidClassifier, HyperLVQClassifier, model_files
from hyperlvq.checks import InputError
from hyperlvq.model_files import read_stream, to_bytes
from hyperlvq.models import make_classifier
from hyperlvq.saving import from_parts, to_parts


@pytest.fixture(scope="module")
def content():
    rng = np.random.default_rng(0)
    model = make_classifier("intrvfl", "glvq", n_units=20, prototypes_per_class=1, random_state=0)
    return to_bytes(to_parts(model.fit(rng.random((20, 3)), ["a", "b"] * 10)))


def refusal(content):
    with pytest.raises(InputError) as refused:
        read_stream(io.BytesIO(content), "m")
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300  # it does not quote whole files
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

    loaded = from_parts(read_stream(io.BytesIO(content), "m"))

    assert loaded.predict(np.zeros((1, 3))).shape == (1,)


def test_a_file_of_another_format_is_one_sentence(content):
    values, arrays = take_apart(content)
    later = put_together({**values, "format": 6, "version": "0.9.0"}, arrays)

    assert refusal(later) == (
        "m is not a model that can be used: it was saved by hyperlvq '0.9.0' in format 6, "
        "and hyperlvq 0.1.0 reads format 5"
    )


NO_MODEL = (
    *(b"a,b\n1,2\n", b"short", struct.pack("<Q", 2**62) + b"{}"),
    *map(with_header, (b"[]", b"{", b"\xff\xff", b"[" * 100_000, b'{"a":1,"a":2}')),
    *(with_header({"a": {"data_offsets": wrong}}) for wrong in ([0, -1], [0, "9"], 9)),
    with_header({f"a{i}": {"data_offsets": [0, 0]} for i in range(1001)}),
)


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (b"", "m is empty"),
        *((other, "m is not a model that hyperlvq saved") for other in NO_MODEL),
        (b"PK\x03\x04", "m is a zip archive, as models of hyperlvq were before their format"),
        (with_header(b"{}"), "m is not a model that can be used: it has no model of hyperlvq in"),
        (with_header({"a": {"data_offsets": [0, 9]}}, b"123"), "m is cut off or damaged"),
        (with_header({"a": {"data_offsets": [0, 2]}}, b"123"), "m is cut off or damaged"),
        (with_header({"a": {"data_offsets": [0, 2**62]}}), "m says that it has 46116860184"),
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
    assert read_stream(io.BytesIO(longer), "m").steps


@pytest.mark.parametrize(
    ("key", "lie"),
    [
        *(("dtype", lie) for lie in ("I64", "BF16", "C64", "X", 1, None)),
        *(("shape", lie) for lie in ([2**40, 2**40], [-1], [2**64], [1] * 100, ["1"], None)),
        *(("data_offsets", lie) for lie in ([0, 0], [60, 0], [0], [-1, 60], [0, 1e3])),
    ],
)
def test_a_header_that_lies_about_an_array_is_one_sentence(key, lie, content):
    n_header = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + n_header])
    header["hidden.keys_"][key] = lie

    sentence = refusal(with_header(header, content[8 + n_header :]))
    assert sentence.startswith(("m is not a model that", "m is cut off or damaged"))


def test_endless_zeros_are_refused_at_once():
    with open("/dev/zero", "rb") as stream, pytest.raises(InputError, match="m is not a model"):
        read_stream(stream, "m")


#: What is wrong, where in the header (in a step, or from the root), and the value there.
VALUES = [
    ("os.system", "readout/class", "os.system"),
    ("the pipeline 'FeatureUnion'", "/pipeline", "FeatureUnion"),
    ("steps must be a list", "/steps", {}),
    ("a step must be", "/steps/2", ["readout"]),
    ("1 to 16 steps", "/steps", [["a", None]] * 17),
    ("different names", "/steps/0", ["hidden", None]),
    ("the model: 'extra' is unknown", "/extra", 1),
    ("'n_jobs' is unknown", "hidden/parameters/n_jobs", 100_000),
    ("'slope' is missing", "readout/parameters/slope", None),
    ("slope must be a finite", "readout/parameters/slope", 10**400),
    ("keys_ must be for 21 units", "hidden/parameters/n_units", 21),
    ("feature_range must be", "scale/parameters/feature_range", [0, 1]),
    (
        "two finite numbers in increasing order",
        "scale/parameters/feature_range",
        {"tuple": [0, 10**400]},
    ),
    ("unknown kind", "readout/parameters/class_weight", {"pairs": [[[], 1]]}),
    ("solver must be one of", "readout/parameters/solver", "\x1b[31m\n" * 10_000),
    ("n_iter_ must be at least 0", "readout/learnt/n_iter_", -1),
    ("_carried_weight must be less than 1", "readout/learnt/_carried_weight", 1e8),
    ("'coef_' is unknown", "readout/learnt/coef_", 1),
    ("'classes_' is given twice", "readout/learnt/classes_", ["a", "b"]),
    ("n_features_in_ must be for 20", "readout/learnt/n_features_in_", 21),
    ("classes_' must be of a type", "readout/learnt/classes_/text", "|S9"),
    ("classes_' must be of a type", "readout/learnt/classes_/text", ["O"]),
    ("too many or too long texts", "readout/learnt/classes_/text", "<U99999999"),
    ("at most 1000 characters", "readout/learnt/classes_/text", "<U1001"),
]
#: What is wrong, which array, and what stands in its place.
ARRAYS = [
    ("keys_ is missing", "hidden.keys_", None),
    ("keys_ must have 2 dimensions", "hidden.keys_", np.ones(60, dtype=np.int8)),
    ("keys_ must be for 20 units", "hidden.keys_", np.ones((3, 21), dtype=np.int8)),
    ("at least one of its features", "hidden.keys_", np.ones((0, 10**8), dtype=np.int8)),
    ("keys_ must be of type int8", "hidden.keys_", np.ones((3, 20))),
    ("keys_ must be -1 and 1 only", "hidden.keys_", np.zeros((3, 20), dtype=np.int8)),
    ("prototypes_ must be finite", "readout.prototypes_", np.full((2, 20), np.nan)),
    ("classes_ must lie between 0 and 1", "readout.prototype_classes_", np.array([0, 2])),
    ("classes_ must lie between 0 and 1", "readout.prototype_classes_", np.array([-1, 0])),
    ("data_min_ must not be infinite", "scale.data_min_", np.full(3, -np.inf)),
    ("loss_curve_ must be finite", "readout.loss_curve_", np.array([np.nan])),
    ("loss_curve_ must be a list", "readout.loss_curve_", np.ones((2, 2))),
    ("'loss_curve_' has more than", "readout.loss_curve_", np.ones(2**20 + 1)),
    ("belongs to nothing", "elsewhere.a", np.ones(2)),
    ("'more_' is unknown", "readout.more_", np.ones(2)),
    ("as long as its lengths say", "readout.classes_.lengths", np.array([1, 2])),
    ("as long as its lengths say", "readout.classes_.lengths", np.array([3, -1])),
    ("different labels in order", "readout.classes_", np.frombuffer(b"ba", np.uint8)),
    ("can't decode byte", "readout.classes_", np.frombuffer(b"\xfe\xff", np.uint8)),
    ("text 'readout.classes_' is missing", "readout.classes_.lengths", None),
    ("must be text", "readout.classes_.lengths", np.ones(2)),
    ("scale_ and min_ must agree", "scale.scale_", np.full(3, -1.0)),
    ("scale_ and min_ must agree", "scale.min_", np.full(3, np.nan)),
    ("scale_ and min_ must agree", "scale.data_max_", np.full(3, -9.0)),
    ("scale_ and min_ must agree", "scale.data_range_", np.zeros(3)),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("factor", [0, -1, 2])
def test_a_scale_must_follow_from_the_range_however_wide_that_is(dtype, factor):
    X = np.array([[0, 1], [3e6, 1 + 4e-16], [1e6, 1]], dtype=dtype)  # the second has no range
    model = make_classifier("features", "centroids").fit(X, [0, 1, 1])
    values, arrays = take_apart(to_bytes(to_parts(model)))
    arrays["scale.scale_"] = arrays["scale.scale_"] * np.array([factor, 1], dtype)
    arrays["scale.min_"] = -arrays["scale.data_min_"] * arrays["scale.scale_"]

    assert_unusable(values, arrays, "scale_ and min_ must agree")


def put(container, key, value):
    """Set a value, or remove what is there where it is None."""
    if value is None:
        del container[key]
    else:
        container[key] = value


def assert_unusable(values, arrays, words):
    sentence = refusal(put_together(values, arrays))

    assert sentence.startswith("m is not a model that can be used: ")
    assert words in sentence


@pytest.mark.parametrize(("words", "place", "value"), VALUES)
def test_a_crafted_header_is_one_sentence(words, place, value, content):
    values, arrays = take_apart(content)
    step, *before, last = (int(key) if key.isdigit() else key for key in place.split("/"))
    container = {"": values, **dict(values["steps"])}[step]
    for key in before:
        container = container[key]
    put(container, last, value)

    assert_unusable(values, arrays, words)


@pytest.mark.parametrize(("words", "name", "value"), ARRAYS)
def test_a_crafted_array_is_one_sentence(words, name, value, content):
    values, arrays = take_apart(content)
    put(arrays, name, value)

    assert_unusable(values, arrays, words)


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        ("class_prior_ must be shares that add up to 1", "class_prior_", np.array([0.5, 0.6])),
        ("class_prior_ must be shares that add up to 1", "class_prior_", np.array([-0.5, 1.5])),
        ("class_prior_ must be for 2 classes", "class_prior_", np.full(3, 1 / 3)),
        ("must be for 4 features", "medians_", np.zeros(4)),
        ("medians_ must not be infinite", "medians_", np.array([0, 0, np.inf])),
    ],
)
def test_a_crafted_array_of_a_vote_is_one_sentence(words, name, value):
    rng = np.random.default_rng(0)
    model = HyperLVQClassifier(1, n_units=10, random_state=0).fit(
        rng.random((20, 3)), ["a", "b"] * 10
    )
    values, arrays = take_apart(to_bytes(to_parts(model)))
    arrays[f"model.{name}"] = value

    assert_unusable(values, arrays, words)


def test_a_classifier_that_is_not_the_last_step_is_one_sentence(content):
    values, arrays = take_apart(content)

    for steps in (values["steps"][::-1], [*values["steps"], ["p", None]]):
        assert_unusable({**values, "steps": steps}, arrays, "a classifier must be the last")


def test_names_of_features_that_are_the_same_are_one_sentence(content):
    values, arrays = take_apart(content)
    values["steps"][1][1]["learnt"]["feature_names_in_"] = {"text": "O"}
    arrays["hidden.feature_names_in_"] = np.frombuffer(b"aaa", np.uint8)
    arrays["hidden.feature_names_in_.lengths"] = np.ones(3, dtype=np.int64)

    assert_unusable(values, arrays, "feature_names_in_ must be different")


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", '{"format":2,"format":2}', "1e999", "9" * 5000]
)
def test_what_json_has_not_is_one_sentence(text, content):
    assert_unusable(text, take_apart(content)[1], "")


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
    model = from_parts(read_stream(io.BytesIO(content), "m"))
    notes = {
        "plain": {"größe": [1, 2.5, None, True], "pairs": {"pairs": 1}, "by number": {1: "a"}},
        "pair": (1, (2,)),
        "counts": np.arange(3, dtype=np.uint8),
        "names": np.array(["", "ü"], dtype=object),
    }

    found = read_stream(io.BytesIO(to_bytes(to_parts(model, notes))), "m").notes

    assert found.keys() == notes.keys()
    assert all(found[key] == notes[key] for key in ("plain", "pair"))
    assert all(found[key].dtype == notes[key].dtype for key in ("counts", "names"))
    assert all(found[key].tolist() == notes[key].tolist() for key in ("counts", "names"))
