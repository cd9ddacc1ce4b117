"""Model files: the parts of a model as arrays and plain values, which cannot hold code.

A file is a safetensors file, whose header has one entry of ours in its metadata, `hyperlvq`: JSON
with the format's number, the version that wrote it, the class, parameters and plain attributes of
each part, and notes. All arrays are tensors, called `step.attribute`; text is one tensor of UTF-8
bytes and one of lengths. Reading compares everything with the records of `hyperlvq.registry` before
anything is built; writing does, too, so that what was written can be read.

scikit-learn is not needed here: `hyperlvq.saving` makes estimators of the parts.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from hyperlvq.checks import InputError, check_integer
from hyperlvq.learnt import check_whole
from hyperlvq.registry import PARTS, check_parameters
from hyperlvq.version import __version__

FORMAT = 5
ENTRY = "hyperlvq"
NOTES = "notes"
PARAMETERS = "parameters"
#: The name of the only step of a model that is not a pipeline.
ALONE = "model"
#: Files of more bytes are refused unless the caller says otherwise.
LARGEST_BYTES = 2**31
#: JSON takes up to 25 times its length when it is read.
LARGEST_HEADER = 2**21
MOST_STEPS = 16
MOST_TENSORS = 1000
LONGEST_LIST = 2**20
#: Characters of a sentence that says what is wrong, which may quote the file.
LONGEST_REASON = 200
#: All arrays of text together, each of which has room for its longest one in every place.
LARGEST_TEXT = 2**26
LENGTHS = ".lengths"
#: The keys of JSON objects that stand for something else.
MARKS = ({"tuple"}, {"pairs"}, {"text"})
_TEXT_TYPE = re.compile(r"O|<U([1-9][0-9]{0,7})")
_NO_MODEL = "is not a model that hyperlvq saved"
#: What a file may be that does not begin with the length of a header.
_OTHER_STARTS = {
    rb"\Z": "is empty",
    rb"\x80[\x02-\x05]": "is a pickle, which could run any code: it is refused",
    rb"PK\x03\x04": "is a zip archive, as models of hyperlvq were before their format changed: "
    "train it again",
    rb"": _NO_MODEL,
}


@dataclass(frozen=True)
class Part:
    """One fitted part of a model: the name of its class, its parameters, what it has learnt."""

    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    learnt: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds.

    Attributes
    ----------
    steps : tuple of (str, Part or None)
        The parts in the order that samples pass them; None lets samples pass as they are.
    pipeline : str or None
        The class of pipeline that holds the steps; None for a single part.
    notes : mapping
        What else is known about the model: plain values that JSON has, and arrays.
    """

    steps: tuple[tuple[str, Part | None], ...]
    pipeline: str | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parts(self) -> list[Part]:
        """The parts in their order."""
        return [part for _, part in self.steps if part is not None]


def to_bytes(model: ModelFile) -> bytes:
    """Return the content of a file; raise InputError for what could not be read again."""
    with _one_sentence("the model cannot be saved"):
        check_model(model)
        arrays = _Arrays({})
        values = {
            "format": FORMAT,
            "version": __version__,
            "pipeline": model.pipeline,
            "steps": [
                [name, part and _plain_part(name, part, arrays)] for name, part in model.steps
            ],
            "notes": arrays.put_all(NOTES, model.notes),
        }
        text = json.dumps(values, allow_nan=False, separators=(",", ":"))
        try:
            content = safetensors.save(arrays.tensors, {ENTRY: text})
        except (SafetensorError, KeyError) as error:  # labels may be of any type that numpy has
            unknown = f"an array is of a type that model files do not have: {error}"
            raise ValueError(unknown) from None
    if int.from_bytes(content[:8], "little") > LARGEST_HEADER:
        raise InputError("the model has too long names or notes to be saved")
    return content


def read_path(path: str | Path, max_bytes: int = LARGEST_BYTES) -> ModelFile:
    """Return what a file holds."""
    check_integer("max_bytes", max_bytes, minimum=1)
    try:
        with open(path, "rb") as stream:
            return read_stream(stream, str(path), max_bytes)
    except InputError:
        raise
    except (OSError, ValueError) as error:  # ValueError for a path with a null character
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}") from None


def read_stream(stream: BinaryIO, name: str, max_bytes: int = LARGEST_BYTES) -> ModelFile:
    """Return what a stream holds; errors call it `name`."""
    with _one_sentence(f"{name} is not a model that can be used"):
        header, content = _read_content(stream, name, max_bytes)
        values = _our_values(header)
        try:
            arrays = _Arrays(safetensors.load(content))
        except (SafetensorError, ValueError, KeyError, TypeError, OverflowError):
            raise ValueError("its arrays are damaged") from None
        del content  # before arrays are looked at, which takes memory
        model = _model_of(values, arrays)
        check_model(model)
        if arrays.tensors:
            raise ValueError(f"the array {_shown(min(arrays.tensors))} belongs to nothing")
    return model


def check_model(model: ModelFile) -> None:
    """Raise ValueError or TypeError unless the parts are known, whole and fit together."""
    names = [name for name, _ in model.steps]
    if not 1 <= len(set(names)) == len(names) <= MOST_STEPS:
        raise ValueError(f"a model must have 1 to {MOST_STEPS} steps of different names")
    if NOTES in names or any("." in name for name in names):
        raise ValueError(f"a step must not be called {NOTES!r} nor have a point in its name")
    if not model.parts or (model.pipeline is None and len(names) > 1):
        raise ValueError("a model must have a part")
    if any(part and PARTS[part.kind].output is None for _, part in model.steps[:-1]):
        raise ValueError("a classifier must be the last step")
    if any(part.kind == "FrameVectorizer" for part in model.parts[1:]):
        raise ValueError("a FrameVectorizer must be the first part")
    given: int | None = None
    for part in model.parts:
        record, learnt = PARTS[part.kind], part.learnt
        with _naming_part(part.kind):
            check_parameters(record, part.parameters, in_file=True)
            sizes = check_whole(record, learnt, part.parameters)
            if given not in (None, learnt["n_features_in_"]):
                raise ValueError(
                    f"n_features_in_ must be {given}, which the part before it gives, "
                    f"got {learnt['n_features_in_']}"
                )
            given = sizes[record.output or "classes"]


class _Arrays:
    """The arrays of a file by their names, text as bytes and lengths."""

    def __init__(self, tensors: dict[str, np.ndarray]):
        self.tensors = tensors
        self._n_texts = self._n_text_bytes = 0

    def put_all(self, owner: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Keep the arrays among some values; return the others, and the types of text, plain."""
        plain = {}
        for name, value in values.items():
            if not isinstance(value, np.ndarray):
                plain[name] = _plain(name, value)
            elif value.dtype.kind in "OU":
                self._put_text(f"{owner}.{name}", value)
                plain[name] = {"text": value.dtype.newbyteorder("<").str.lstrip("|")}
            else:
                self.tensors[f"{owner}.{name}"] = np.ascontiguousarray(value)
        return plain

    def take_all(
        self, owner: str, plain: Mapping[str, Any], lists: Collection[str] = ()
    ) -> dict[str, Any]:
        """Return the values that `put_all` took apart; the arrays among `lists` become such."""
        values = {
            name: self._take_text(f"{owner}.{name}", value["text"])
            if isinstance(value, dict) and value.keys() == {"text"}
            else _from_plain(name, value)
            for name, value in plain.items()
        }
        for tensor in [name for name in self.tensors if name.startswith(f"{owner}.")]:
            name = tensor.removeprefix(f"{owner}.")
            if name in values:
                raise ValueError(f"{_shown(name)} is given twice")
            values[name] = self.tensors.pop(tensor)
        for name, value in values.items():
            if name in lists and isinstance(value, np.ndarray):
                values[name] = _listed(name, value).tolist()
        return values

    def _put_text(self, name: str, texts: np.ndarray) -> None:
        self._count_text(len(texts), texts.dtype.itemsize)
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        self.tensors[name] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        self.tensors[name + LENGTHS] = np.array([*map(len, encoded)], dtype=np.int64)

    def _take_text(self, name: str, dtype: Any) -> np.ndarray:
        """Return the texts that `_put_text` took apart: UTF-8 bytes, of which each has so many."""
        if not {name, name + LENGTHS} <= self.tensors.keys():
            raise ValueError(f"the text {_shown(name)} is missing")
        content, lengths = self.tensors.pop(name), self.tensors.pop(name + LENGTHS)
        match = _TEXT_TYPE.fullmatch(dtype) if isinstance(dtype, str) else None
        if match is None:
            raise ValueError(f"{_shown(name)} must be of a type of text")
        width = int(match[1] or 0)  # in characters; 0 of objects
        self._count_text(lengths.size, 4 * width or 8)
        types = content.dtype.name, content.ndim, lengths.dtype.name, lengths.ndim
        if types != ("uint8", 1, "int64", 1):
            raise ValueError(f"{_shown(name)} must be text")
        in_range = not len(lengths) or (lengths.min() >= 0 and lengths.max() <= len(content))
        if not in_range or lengths.sum() != len(content):
            raise ValueError(f"{_shown(name)} must be as long as its lengths say")
        stream = BytesIO(content.tobytes())
        texts = [stream.read(each).decode("utf-8", "surrogatepass") for each in lengths.tolist()]
        if width and max(map(len, texts), default=0) > width:
            raise ValueError(f"{_shown(name)} has longer texts than its type says")
        return np.array(texts, dtype=f"<U{width}" if width else object)

    def _count_text(self, n_texts: int, width: int) -> None:
        """Refuse text that takes much more room in arrays than it does in the file."""
        self._n_texts += n_texts
        self._n_text_bytes += n_texts * width
        if self._n_texts > LONGEST_LIST or self._n_text_bytes > LARGEST_TEXT:
            raise ValueError("it has too many or too long texts")


def _plain_part(step: str, part: Part, arrays: _Arrays) -> dict[str, Any]:
    record = PARTS[part.kind]
    learnt = {name: part.learnt[name] for name in record.learnt if name in part.learnt}
    for name in learnt.keys() & record.learnt_of_type("losses"):
        learnt[name] = _listed(name, np.array(learnt[name], dtype=np.float64))
    parameters = {name: part.parameters[name] for name in record.saved_parameters}
    for name, value in parameters.items():
        if isinstance(value, list | tuple) and value and isinstance(value[0], str):
            parameters[name] = np.array(value, dtype=object)
    return {
        "class": part.kind,
        "parameters": arrays.put_all(f"{step}.{PARAMETERS}", parameters),
        "learnt": arrays.put_all(step, learnt),
    }


def _model_of(values: Mapping[str, Any], arrays: _Arrays) -> ModelFile:
    _object("the model", values, {"format", "version", "pipeline", "steps", "notes"})
    if values["pipeline"] not in (None, "Pipeline"):
        raise ValueError(f"the pipeline {_shown(values['pipeline'])} is unknown")
    if not isinstance(values["steps"], list):
        raise ValueError("steps must be a list")
    steps = tuple(_step_of(step, arrays) for step in values["steps"])
    return ModelFile(
        steps, values["pipeline"], arrays.take_all(NOTES, _object(NOTES, values["notes"]))
    )


def _step_of(named: Any, arrays: _Arrays) -> tuple[str, Part | None]:
    if not (isinstance(named, list) and len(named) == 2 and isinstance(named[0], str)):
        raise ValueError("a step must be a name and a part")
    step, values = named
    if values is None:
        return step, None
    kind = _object("a part", values, {"class", PARAMETERS, "learnt"})["class"]
    if not isinstance(kind, str) or kind not in PARTS:
        raise ValueError(f"the class {_shown(kind)} is not one of hyperlvq's models")
    record = PARTS[kind]
    with _naming_part(kind):
        saved, losses = record.saved_parameters, record.learnt_of_type("losses")
        plain = _object(PARAMETERS, values[PARAMETERS])
        parameters = arrays.take_all(f"{step}.{PARAMETERS}", plain, lists=saved)
        _object(PARAMETERS, parameters, {*saved})
        learnt = arrays.take_all(step, _object("learnt", values["learnt"]), lists=losses)
        for name in learnt.keys() & losses & values["learnt"].keys():
            raise ValueError(f"{name} must be an array")
        if unknown := learnt.keys() - record.learnt.keys():
            raise ValueError(f"{_shown(min(unknown))} is unknown")
        return step, Part(kind, parameters, learnt)


def _object(what: str, value: Any, known: set[str] | None = None) -> dict[str, Any]:
    """Return an object of JSON; raise if it is none, or has other keys than the known ones."""
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be an object")
    if known is not None and (differences := value.keys() ^ known):
        key = min(differences)
        raise ValueError(f"{what}: {_shown(key)} is {'missing' if key in known else 'unknown'}")
    return value


def _plain(name: str, value: Any) -> Any:
    """Return a value as JSON has it; tuples, and keys that are not text, are marked."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value) and value.keys() not in MARKS:
            return {key: _plain(name, v) for key, v in value.items()}
        return {"pairs": [[_plain(name, key), _plain(name, v)] for key, v in value.items()]}
    if isinstance(value, list | tuple):
        items = [_plain(name, item) for item in value]
        return {"tuple": items} if isinstance(value, tuple) else items
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{name} is a {type(value).__name__}, which a model file cannot hold")


def _from_plain(name: str, value: Any) -> Any:
    """Return what `_plain` made plain."""
    if isinstance(value, list):
        return [_from_plain(name, item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"tuple"} and isinstance(value["tuple"], list):
        return tuple(_from_plain(name, item) for item in value["tuple"])
    if value.keys() == {"pairs"} and isinstance(value["pairs"], list):
        if not all(map(_is_pair, value["pairs"])):
            raise ValueError(f"{_shown(name)} has a value of an unknown kind")
        return {key: _from_plain(name, item) for key, item in value["pairs"]}
    return {key: _from_plain(name, item) for key, item in value.items()}


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and not isinstance(value[0], list | dict)


def _listed(name: str, values: np.ndarray) -> np.ndarray:
    """Return an array that may become a list, which takes several times its memory."""
    if values.size > LONGEST_LIST:
        raise ValueError(f"{_shown(name)} has more than {LONGEST_LIST} entries")
    return values


def _read_content(stream: BinaryIO, name: str, max_bytes: int) -> tuple[Any, bytes]:
    """Return the header and all bytes of a safetensors file, read no further than it says."""
    cut_off = InputError(f"{name} is cut off or damaged: it is not as long as it says")
    start = stream.read(8)
    n_header = int.from_bytes(start, "little")
    if len(start) < 8 or n_header > LARGEST_HEADER:
        what = next(words for other, words in _OTHER_STARTS.items() if re.match(other, start))
        raise InputError(f"{name} {what}")
    raw_header = stream.read(n_header)
    if len(raw_header) < n_header:
        raise cut_off
    try:
        header = _load_json(raw_header.decode())
        tensors = [entry for key, entry in header.items() if key != "__metadata__"]
        check_integer("the number of tensors", len(tensors), minimum=0, maximum=MOST_TENSORS)
        ends = [check_integer("the end", each["data_offsets"][1], minimum=0) for each in tensors]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        raise InputError(f"{name} {_NO_MODEL}") from None
    n_data = max(ends, default=0)
    n_bytes = 8 + n_header + n_data
    if n_bytes > max_bytes:
        raise InputError(
            f"{name} says that it has {n_bytes} bytes, which is more than max_bytes={max_bytes}"
        )
    data = stream.read(n_data + 1)  # one more, which should not be there
    if len(data) != n_data:
        raise cut_off
    return header, b"".join([start, raw_header, data])


def _load_json(text: str) -> Any:
    return json.loads(
        text, object_pairs_hook=_without_doubles, parse_float=_finite, parse_constant=_finite
    )


def _without_doubles(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a name is given twice")
    return values


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{_shown(text)} is not a number")
    return number


def _our_values(header: Mapping[str, Any]) -> dict[str, Any]:
    metadata = header.get("__metadata__")
    if not (isinstance(metadata, dict) and isinstance(metadata.get(ENTRY), str)):
        raise ValueError("it has no model of hyperlvq in it")
    values = _object("the model", _load_json(metadata[ENTRY]))
    if values.get("format") != FORMAT:
        raise ValueError(
            f"it was saved by hyperlvq {_shown(values.get('version'))} in format "
            f"{_shown(values.get('format'))}, and hyperlvq {__version__} reads format {FORMAT}"
        )
    return values


def _shown(value: Any) -> str:
    """Return a value of a file as text, short and printable."""
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


@contextmanager
def _one_sentence(what: str) -> Iterator[None]:
    """Make one sentence of what is wrong, short though it may quote the file."""
    try:
        yield
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"{what}: it is nested too deeply") from None
    except MemoryError:
        raise InputError(f"{what}: it takes more memory than there is") from None
    except (ValueError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{what}: {reason[:LONGEST_REASON]}") from None


@contextmanager
def _naming_part(kind: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ValueError(f"{kind}: {error}") from None
