"""Save models to files that cannot run code, and load them again.

A file is a zip archive as skops writes it, with our notes in `hyperlvq.json` beside skops's own
members: which version wrote it, and what the command line knows about the model.
"""

import io
import json
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sklearn
from sklearn.base import BaseEstimator

from hyperlvq import __version__
from hyperlvq.checks import InputError
from hyperlvq.models import HIDDEN_LAYERS, READOUTS, ClassifierPipeline
from hyperlvq.tensors import to_numpy
from hyperlvq.trusted_types import SCIKIT_LEARN_PARTS
from hyperlvq.writing import write_bytes

FORMAT = 1
NOTES_FILE = "hyperlvq.json"
#: What skops takes for suspicious and we know: our own types and the type of an array's values.
OUR_TYPES = frozenset(
    f"{kind.__module__}.{kind.__qualname__}"
    for kind in (*HIDDEN_LAYERS.values(), *READOUTS.values(), ClassifierPipeline)
    if kind is not None
) | {"numpy.dtype"}
TRUSTED = OUR_TYPES | SCIKIT_LEARN_PARTS
#: skops walks through all of scikit-learn, which would load these: seconds for nothing.
HEAVY_MODULES = ("torch", "dask", "cupy", "jax")
LARGEST_BYTES = 2**31  # unpacked; a file of more is a trap
_ZIP_START = b"PK\x03\x04"
_PICKLE_STARTS = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


@dataclass(frozen=True)
class SavedModel:
    """A model and what is known about it, as plain values that JSON has."""

    model: BaseEstimator
    about: Mapping[str, Any] = field(default_factory=dict)


def save(model: BaseEstimator, path: str | Path) -> None:
    """Save a model; what was at `path` is replaced when the new file is complete.

    Parameters
    ----------
    model : estimator
        A model of hyperlvq, or a scikit-learn estimator such as `CalibratedClassifierCV` or
        `GridSearchCV` around one. What could not be loaded safely is refused, among it functions,
        decision trees and scipy's distributions; of a search over distributions save the
        `best_estimator_`. A model that was fitted on torch tensors is saved with numpy arrays.
    path : path
        Where to save it. Models are usually called `*.hlvq`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import hyperlvq
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = hyperlvq.make_classifier("intrvfl", "rls", random_state=0).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     hyperlvq.save(model, Path(folder) / "iris.hlvq")
    ...     loaded = hyperlvq.load(Path(folder) / "iris.hlvq")
    >>> bool((loaded.predict(X) == model.predict(X)).all())
    True
    """
    write_model(SavedModel(model), path)


def load(path: str | Path) -> BaseEstimator:
    """Return the model that `save` or `hyperlvq fit` wrote.

    No code of the file is run: it can hold hyperlvq's types and those of scikit-learn, numpy and
    scipy that are data only, and anything else is refused, as are pickles and files of a newer
    version.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    model : estimator
        It predicts exactly what the saved one did.
    """
    return read_model(path).model


def write_model(saved: SavedModel, path: str | Path) -> None:
    """Save a model with its notes."""
    write_bytes(to_bytes(saved), path)


def read_model(path: str | Path) -> SavedModel:
    """Load a model with its notes."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    return from_bytes(content, str(path))


def to_bytes(saved: SavedModel) -> bytes:
    """Return the content of a model file; raise if it could not be loaded again."""
    _check_is_model(saved.model)
    content = _with_notes(_dumped(to_numpy(saved.model)), saved.about)
    _check_size(content, "the model")
    return content


def from_bytes(content: bytes, name: str) -> SavedModel:
    """Return the model of a file's content; errors call the file `name`."""
    _skops()  # here, lest its absence be taken for damage
    _check_is_ours(content, name)
    with _refusing_damage(name):
        _check_size(content, name)
        notes = _read_notes(content, name)
        _check_version(notes, name)
        foreign = _foreign_types(content)
        if foreign:
            raise InputError(f"{name} has the foreign type {foreign[0]} in it, which is refused")
        model = _loaded(content)
    if not isinstance(model, BaseEstimator):
        raise InputError(f"{name} has no model in it but a {type(model).__name__}")
    return SavedModel(model, notes["about"])


def _skops() -> Any:
    try:
        with _hidden_modules(*HEAVY_MODULES):
            import skops.io
    except ModuleNotFoundError as error:
        sentence = "saving and loading models needs: pip install 'hyperlvq[save]'"
        raise ModuleNotFoundError(sentence, name=error.name) from None
    return skops.io


@contextmanager
def _hidden_modules(*names: str) -> Iterator[None]:
    """Make modules that are not loaded yet impossible to load for a while."""
    hidden = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


def _dumped(model: BaseEstimator) -> bytes:
    """Return what skops writes of a model; raise unless it can be read again."""
    skops = _skops()
    try:
        content = skops.dumps(model, compression=zipfile.ZIP_DEFLATED)
        foreign = _foreign_types(content)
        if not foreign:
            _loaded(content)
    except Exception:  # skops asks the objects for their state, which may raise anything
        kind = _path(type(_unsavable_part(model)))
        raise InputError(f"the model has a {kind} in it, which cannot be saved") from None
    if foreign:
        raise InputError(
            f"the model has {foreign[0]} in it, which is not among the types that can be loaded "
            "safely"
        )
    return content


def _unsavable_part(value: Any) -> Any:
    """Return the innermost part of a value that skops cannot write and read again."""
    for part in _parts(value):
        try:
            _loaded(_skops().dumps(part))
        except Exception:
            return _unsavable_part(part)
    return value


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list | tuple):
        return value
    is_known = isinstance(value, BaseEstimator) or _path(type(value)) in TRUSTED
    return vars(value).values() if is_known else ()


def _path(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _with_notes(content: bytes, about: Mapping[str, Any]) -> bytes:
    notes = {
        "format": FORMAT,
        "hyperlvq": __version__,
        "scikit-learn": sklearn.__version__,
        "about": about,
    }
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(NOTES_FILE, json.dumps(notes, ensure_ascii=False, allow_nan=False))
    return buffer.getvalue()


def _loaded(content: bytes) -> Any:
    return _skops().loads(content, trusted=sorted(TRUSTED))


def _foreign_types(content: bytes) -> list[str]:
    return sorted(set(_skops().get_untrusted_types(data=content)) - TRUSTED)


def _check_is_model(model: Any) -> None:
    if not isinstance(model, BaseEstimator):
        is_class = isinstance(model, type)
        got = f"the class {model.__name__}" if is_class else f"a {type(model).__name__}"
        raise InputError(f"only a model can be saved, got {got}")


def _check_is_ours(content: bytes, name: str) -> None:
    if not content:
        raise InputError(f"{name} is empty")
    if content.startswith(_PICKLE_STARTS):
        raise InputError(f"{name} is a pickle, which could run any code: it is refused")
    if not content.startswith(_ZIP_START):
        raise InputError(f"{name} is not a model that hyperlvq saved")


@contextmanager
def _refusing_damage(name: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except Exception:  # whatever skops, zipfile or json make of a file that was tampered with
        raise InputError(f"{name} is cut off or damaged") from None


def _check_size(content: bytes, name: str) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(member.file_size for member in archive.infolist()) > LARGEST_BYTES:
            raise InputError(f"{name} unpacks to more than {LARGEST_BYTES} bytes: it is refused")


def _read_notes(content: bytes, name: str) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if NOTES_FILE not in archive.namelist():
            raise InputError(f"{name} is a zip archive, but not a model that hyperlvq saved")
        return json.loads(archive.read(NOTES_FILE))


def _check_version(notes: dict[str, Any], name: str) -> None:
    written_by = notes["hyperlvq"]
    if notes["format"] > FORMAT or _release(written_by) > _release(__version__):
        raise InputError(
            f"{name} was saved by hyperlvq {written_by}, which is newer than this {__version__}"
        )


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3])
