"""Save models to files that cannot hold code, and load them again."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from hyperlvq.checks import InputError
from hyperlvq.engines import to_numpy
from hyperlvq.fitting import kept_parameters
from hyperlvq.learnt import check_usable
from hyperlvq.model_files import ALONE, LARGEST_BYTES, ModelFile, Part, read_path, to_bytes
from hyperlvq.registry import PARTS, PartRecord, estimator_class, record_of
from hyperlvq.writing import write_bytes

OTHER_TOOLS = (
    "; other estimators of scikit-learn can be kept by skops.io or, among people who trust each "
    "other, by joblib"
)


def save(model: BaseEstimator, path: str | Path) -> None:
    """Save a fitted model to a file.

    An existing file is replaced only when the new one is complete.

    Parameters
    ----------
    model : estimator
        A `HyperLVQClassifier`, a pipeline from `make_classifier`, or any hidden layer or readout of
        hyperlvq, alone or in a Pipeline with a scaler. Meta-estimators of scikit-learn are not
        supported: save `best_estimator_` of a `GridSearchCV`, and use skops.io or joblib for others
        such as `CalibratedClassifierCV`. Models fitted on torch tensors are saved with numpy
        arrays. The settings `set_output`, `memory` and `verbose` of a Pipeline are not saved.
    path : path
        File to write. Model files usually end in `.hlvq`.

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
    write_bytes(to_bytes(to_parts(model)), path)


class Predicting(Protocol):
    """Methods that all loaded classifiers share."""

    classes_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Predict class labels."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Compute one score per sample and class."""

    def score(self, X: Any, y: Any) -> float:
        """Compute the accuracy."""


def load(path: str | Path, *, max_bytes: int = LARGEST_BYTES) -> Predicting:
    """Load a model written by `save` or `hyperlvq fit`.

    A model file holds arrays and plain values, never code. Its content is validated completely
    before a model is created, so it is safe to load files from untrusted sources.

    Parameters
    ----------
    path : path
        Model file.
    max_bytes : int, default=2**31
        Size limit of the file in bytes.

    Returns
    -------
    model : estimator
        The fitted model, with the same predictions as the saved one. `n_jobs` and
        `max_kernel_bytes` have their default values.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import hyperlvq
    >>> model = hyperlvq.CentroidClassifier().fit([[0.0], [1.0]], ["low", "high"])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.hlvq"
    ...     hyperlvq.save(model, path)
    ...     loaded = hyperlvq.load(path)
    >>> loaded.predict([[0.2]]).tolist()
    ['low']
    """
    return from_parts(read_path(path, max_bytes))


def to_parts(model: BaseEstimator, notes: dict[str, Any] | None = None) -> ModelFile:
    """Return what a file holds of a model, and notes; InputError names what it cannot hold."""
    if type(model) is Pipeline:
        steps = tuple(
            (name, None if step in (None, "passthrough") else _part(step))
            for name, step in model.steps
        )
        return ModelFile(steps, type(model).__name__, notes or {})
    return ModelFile(((ALONE, _part(model)),), notes=notes or {})


def from_parts(model: ModelFile) -> Any:
    """Return the estimator that the parts make."""
    steps = [
        (name, "passthrough" if part is None else estimator_of(part)) for name, part in model.steps
    ]
    return steps[0][1] if model.pipeline is None else Pipeline(steps)


def estimator_of(part: Part) -> Any:
    """Return one part as a fitted estimator."""
    estimator = estimator_class(part.kind)(**part.parameters)
    vars(estimator).update(part.learnt)
    if part.learnt:
        vars(estimator).update(kept_parameters(PARTS[part.kind], part.parameters))
    return estimator


def part_of(estimator: Any) -> Part:
    """Return what is kept of an estimator, fitted or not: of other libraries', the name alone."""
    kind, record = type(estimator), record_of(estimator)
    if record is None:
        return Part(str(kind) if kind.__name__ in PARTS else kind.__name__)
    estimator = to_numpy(estimator)
    parameters = {name: getattr(estimator, name) for name in record.saved_parameters}
    learnt = {name: vars(estimator)[name] for name in record.learnt if name in vars(estimator)}
    if learnt.get("feature_names_in_", ()) is None:  # which means the same as none at all
        del learnt["feature_names_in_"]
    if next(iter(record.learnt)) not in learnt:
        return Part(kind.__name__, parameters)
    return Part(kind.__name__, parameters | _parameters_of_fit(record, vars(estimator)), learnt)


def _parameters_of_fit(record: PartRecord, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Find the parameters of `fit` that predictions and checks of the file need."""
    found = {name: attributes[f"{name}_"] for name in record.kept}
    given = {name: size for size, name in record.given_sizes.items() if name not in found}
    with suppress(ValueError):  # sizes that contradict each other are refused with the whole model
        sizes = check_usable(record, attributes) if given else {}
        found |= {name: sizes[size] for name, size in given.items()}
    return found


def _part(estimator: Any) -> Part:
    if record_of(estimator) is None:
        got = f"a {type(estimator).__name__}"
        if isinstance(estimator, type):
            got = f"the class {estimator.__name__}"
        elif isinstance(estimator, BaseEstimator):
            got += OTHER_TOOLS
        raise InputError(f"only models of hyperlvq can be saved, got {got}")
    part = part_of(estimator)
    if not part.learnt:
        raise InputError(f"{part.kind} is not fitted: call fit before saving it")
    return part
