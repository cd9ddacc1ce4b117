"""Read damaged and crafted model files in a process of its own, and tell what came of it.

`python fuzz_model_files.py SEED N_DAMAGED N_CRAFTED MODEL...` prints one JSON object.
"""

import io
import json
import random
import signal
import sys
import time
import warnings
from copy import deepcopy
from pathlib import Path

import numpy as np
from safetensors import numpy as safetensors

from hyperlvq.checks import InputError
from hyperlvq.cli.show import model_lines, python_model_lines
from hyperlvq.model_files import ENTRY, read_stream
from hyperlvq.prediction import Predictor
from hyperlvq.saving import from_parts
from hyperlvq.tables.about import about_python_model, columns_of, from_notes, to_plain
from hyperlvq.tables.columns import Kind

MOST_SECONDS = 5
#: What code of a file would have to do, and reading a file never does.
FORBIDDEN = (
    *("exec", "compile", "import", "open", "os.", "subprocess.", "socket.", "pickle.", "shutil."),
)
VALUES = (
    *(None, True, False, -1, 0, 1, 2, 3, 10**9, 2**63, 10**400, 1e308, -0.5, "", "glvq", "x" * 999),
    *("__import__('os').system('id')", "\x1b[31m\n", "\ud800", [], {}, [[]], [1, 2], ["a", "b"]),
    *({"text": dtype} for dtype in ("O", "<U9", "<U999", "<U99999", "<U99999999")),
    *({"tuple": [0, 1]}, {"pairs": [[1, 2]]}, {"pairs": [[[1], 2]]}),
    *({"class": "FunctionTransformer"}, "GLVQClassifier", "MinMaxScaler"),
)
TYPES = (np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64, np.float16, np.float32)
CELLS = {
    Kind.NUMBER: np.array([0.5, np.nan, 1e300]),
    Kind.TEXT: np.array(["x", None, "new"], dtype=object),
    Kind.DROPPED: np.array([None] * 3),
}
SYNTAX = (b'"', b"{", b"}", b"[", b",", b":", b"\\", b"9", b"null", b"-1")
NUMBERS = (0, 1, -1, 2, 127, -128, 2**31, 2**62, 1e308, np.nan, np.inf, -np.inf)


def take_apart(content):
    """Return our values in the header and the arrays of a model file."""
    n_header = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + n_header])
    arrays = sorted(safetensors.load(content).items())  # in an order that differs from run to run
    return json.loads(header["__metadata__"][ENTRY]), dict(arrays)


def put_together(values, arrays):
    """Return a model file; the values may be anything that JSON has, or its text."""
    text = values if isinstance(values, str) else json.dumps(values)
    return safetensors.save(arrays, {ENTRY: text})


class Watch:
    """Note what a model file must never make Python do, while it is on."""

    def __init__(self):
        self.is_on, self.events = False, set()
        sys.addaudithook(self)

    def __call__(self, event, arguments):
        if self.is_on and event.startswith(FORBIDDEN):
            self.events.add(event)


def damaged(content, rng):
    """Return a file with bytes changed, inserted, removed, copied, or its end cut off."""
    n_header = 8 + int.from_bytes(content[:8], "little")
    for _ in range(rng.choice([1, 1, 1, 2, 5, 50])):
        place = rng.randrange(min(rng.choice([8, n_header, len(content)]), len(content)))
        length = rng.choice([1, 1, 2, 8, 100])
        copied = content[place // 2 : place // 2 + length]
        new = [rng.randbytes(length), bytes(length), b"", copied, rng.choice(SYNTAX)]
        rest = content[place + rng.choice([0, length]) :]
        content = content[:place] + rng.choice(new) + rest or b"\0"
    return content[: rng.randrange(len(content))] if rng.random() < 0.1 else content


def crafted(content, rng):
    """Return a well-formed file whose values, arrays or header say something else."""
    values, arrays = take_apart(content)
    for _ in range(rng.choice([1, 1, 2, 3])):
        if rng.random() < 0.5:
            change_value(values, rng)
        else:
            change_array(arrays, rng)
    return put_together(values, arrays)


def nodes(value):
    """Yield every container of a JSON value with every key in it."""
    for key in range(len(value)) if isinstance(value, list) else [*value]:
        yield value, key
        if isinstance(value[key], list | dict):
            yield from nodes(value[key])


def change_value(values, rng):
    found = list(nodes(values)) or [({0: 0}, 0)]
    (container, key), (other, other_key) = rng.choice(found), rng.choice(found)
    if rng.random() < 0.2:
        del container[key]
    elif rng.random() < 0.25:
        container[key] = deepcopy(other[other_key])
    else:
        names = ["", "memory", "n_jobs", "coef_", "text", "alpha"]
        is_added = isinstance(container, dict) and rng.random() < 0.3
        container[rng.choice(names) if is_added else key] = deepcopy(rng.choice(VALUES))


def change_array(arrays, rng):
    name = rng.choice(sorted(arrays))
    array = arrays.pop(name)
    changed = array.copy()
    shapes = [(array.size,), (1, *array.shape), array.shape[::-1], (array.size, 1)]
    other = [rng.choice([0, 1, 2, 3, 20, 1000]) for _ in range(rng.randrange(3))]
    filled = np.full(rng.choice([other, [0, 10**8]]), rng.choice(NUMBERS[:7]))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if array.size:
            number = np.array([rng.choice(NUMBERS)]).astype(array.dtype)
            changed.flat[rng.randrange(array.size)] = number[0]
        retyped = [each.astype(rng.choice(TYPES)) for each in (array, filled)]
    new = rng.choice([changed, changed, array.reshape(rng.choice(shapes)), *retyped])
    names = ["a", "notes.a", f"{name}_", f"{name}.a", *arrays]
    if rng.random() < 0.9:  # else it is removed
        arrays[name if rng.random() < 0.7 else rng.choice(names)] = np.ascontiguousarray(new)


def attempt(content, watch):
    """Return what came of a file: "refused", or "used"."""
    watch.is_on = True
    try:
        file = read_stream(io.BytesIO(content), "m")
        model = from_parts(file)
        about = (from_notes if file.notes else about_python_model)(file, "m")
    except InputError as refusal:
        sentence = str(refusal)
        assert "\n" not in sentence, sentence
        assert len(sentence) < 400, sentence
        return "refused"
    finally:
        watch.is_on = False
    json.dumps(to_plain(about), allow_nan=False)
    (model_lines if file.notes else python_model_lines)(about)
    check_predictions(model, file, about)
    learn_on(model, file)
    return "used"


def check_predictions(model, file, about):
    """Predict rows with the estimator and with the parts: both give the same, or refuse."""
    if about["columns"] is None:
        X = np.array([[0.5], [1.0], [-3.0]]) * np.ones(about["features"])
        columns = {str(i): column for i, column in enumerate(X.T)}
    else:
        columns = {column.name: CELLS[column.kind] for column in columns_of(about)}
        X = columns if file.notes else np.column_stack([*columns.values()])
    predictor = Predictor(file.parts)
    expected = or_none(lambda: model.predict(X))
    found = or_none(lambda: predictor.labels(predictor.decide(columns)))
    assert (expected is None) == (found is None)
    assert expected is None or (expected == found).all()


def learn_on(model, file):
    """Let the readout learn from one more sample, where it can."""
    readout = model if file.pipeline is None else model[-1]
    if hasattr(readout, "partial_fit"):
        sample = np.zeros((1, readout.n_features_in_))
        or_none(lambda: readout.partial_fit(sample, readout.classes_[:1]))


def or_none(use):
    """Return what a call returns, None where it refuses bad values."""
    try:
        return use()
    except ValueError:
        return None


def memory(what):
    """Return the bytes of memory held now ("VmRSS") or at most since the last reset ("VmHWM")."""
    return int(Path("/proc/self/status").read_text().split(f"{what}:")[1].split()[0]) * 1024


def main(seed, n_damaged, n_crafted, paths):
    rng, watch = random.Random(seed), Watch()
    models = [Path(path).read_bytes() for path in paths]
    warnings.simplefilter("ignore")
    for content in models:
        assert attempt(content, watch) == "used"
    watch.events.clear()  # of modules that were loaded by then
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError()))
    counts, slowest, most_over = {"refused": 0, "used": 0}, 0.0, 0
    base = memory("VmRSS")
    for make, n_files in ((damaged, n_damaged), (crafted, n_crafted)):
        for _ in range(n_files):
            content = make(rng.choice(models), rng)
            Path("/proc/self/clear_refs").write_text("5")  # resets the peak
            signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
            start = time.perf_counter()
            try:
                counts[attempt(content, watch)] += 1
            except BaseException:
                Path("failed.hlvq").write_bytes(content)
                raise
            signal.setitimer(signal.ITIMER_REAL, 0)
            slowest = max(slowest, time.perf_counter() - start)
            most_over = max(most_over, memory("VmHWM") - base - 2 * len(content))
    found = {"slowest": slowest, "megabytes": most_over // 2**20, "events": sorted(watch.events)}
    print(json.dumps(counts | found))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
