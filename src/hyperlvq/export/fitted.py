"""What an exporter needs of a fitted pipeline, or a sentence that says why it cannot be had.

scikit-learn is needed for pipelines only: a model file has the parts that they are taken apart to.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.kernels.features import feature_names, level_lookups
from hyperlvq.model_files import ALONE, ModelFile, Part
from hyperlvq.registry import PARTS, PartRecord, record_of

STEPS = ("scale", "hidden", "readout")
PREPARATION = "columns"
#: Squares of prototypes up to here add up to finite numbers.
LARGEST = 1e100


class FittedParts(NamedTuple):
    """The fitted parts of a model, the names of its features, and its readout's record."""

    scale: Part
    hidden: Part
    readout: Part
    feature_names: tuple[str, ...]
    record: PartRecord
    output_rows: np.ndarray  # the prototypes or coefficients, one row per output


def fitted_parts(model: Any) -> FittedParts:
    """Return the parts of a fitted pipeline or a model file; InputError says what is wrong."""
    steps = _steps(model if isinstance(model, ModelFile) else _as_file(model))
    scale, hidden, readout = (steps[name] for name in STEPS)
    _check_step("hidden", "hidden layer", hidden)
    record = _check_step("readout", "readout", readout)
    _check_scaler(scale)
    if not (scale.learnt and hidden.learnt and readout.learnt):
        raise InputError("cannot export a model that is not fitted: call fit first")
    names = _feature_names(steps.get(PREPARATION), scale)
    is_missing = ~np.isfinite(scale.learnt["data_range_"])
    if is_missing.any():
        unknown = names[is_missing.argmax()]
        raise InputError(f"feature {unknown!r} has no range: all its training values are missing")
    output_rows = readout.learnt[str(record.output_rows)]
    if not np.abs(output_rows).max() < LARGEST:
        raise InputError("cannot export a readout whose numbers are not finite or too large")
    return FittedParts(scale, hidden, readout, names, record, output_rows)


def device_features(model: Any, X: Any) -> np.ndarray:
    """Return X as the exported model takes it: after the step that prepares columns, if any."""
    if PREPARATION in model.named_steps:
        return np.asarray(model.named_steps[PREPARATION].transform(X), dtype=np.float64)
    return np.asarray(X)


def _as_file(model: Any) -> ModelFile:
    """Return what a file holds of a model, fitted or not.

    The step that prepares columns may be any transformer, which leaves its names to the scaling.
    """
    from sklearn.exceptions import NotFittedError
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, Pipeline):
        return ModelFile(((ALONE, Part(type(model).__name__)),))
    steps = {name: _as_part(step) for name, step in model.steps}
    scale, preparation = steps.get("scale"), model.named_steps.get(PREPARATION)
    if scale and scale.learnt and steps.get(PREPARATION):
        try:
            check_is_fitted(preparation)
            names = {"feature_names_in_": preparation.get_feature_names_out()}
            steps["scale"] = replace(scale, learnt={**scale.learnt, **names})
        except NotFittedError:
            steps["scale"] = replace(scale, learnt={})
        steps[PREPARATION] = None
    return ModelFile(tuple(steps.items()), type(model).__name__)


def _as_part(step: Any) -> Part | None:
    if step in (None, "passthrough"):
        return None
    if record := record_of(step):
        from hyperlvq.saving import part_of

        return part_of(step, record)
    kind = type(step)
    is_ours_by_name = kind.__name__ in PARTS
    return Part(f"{kind.__module__}.{kind.__name__}" if is_ours_by_name else kind.__name__)


def _steps(model: ModelFile) -> dict[str, Any]:
    if model.pipeline is None:
        raise InputError(
            f"cannot export {model.parts[0].kind}: only pipelines of make_classifier, "
            "with the steps scale, hidden and readout"
        )
    names = tuple(name for name, _ in model.steps)
    if names not in (STEPS, (PREPARATION, *STEPS)):
        raise InputError(
            f"cannot export a pipeline with the steps {', '.join(names)}: "
            "they must be scale, hidden and readout"
        )
    return dict(model.steps)


def _check_step(role: str, role_in_words: str, part: Part | None) -> PartRecord:
    kind = _called(part)
    record = PARTS.get(kind)
    if record is None or record.role != role:
        able = (k for k, each in PARTS.items() if each.role == role and not each.export_refusal)
        raise InputError(f"cannot export the {role_in_words} {kind}: only {', '.join(able)}")
    if record.export_refusal is not None:
        raise InputError(f"cannot export {kind}: {record.export_refusal}")
    return record


def _check_scaler(scale: Part | None) -> None:
    if scale is None or scale.kind != "MinMaxScaler":
        raise InputError(f"cannot export the scaling {_called(scale)}: only MinMaxScaler")
    limits = scale.parameters["feature_range"]
    if tuple(limits) != (0, 1):
        raise InputError(
            f"cannot export MinMaxScaler with feature_range={limits!r}: "
            "the layer takes features in (0, 1)"
        )


def _called(part: Part | None) -> str:
    return "passthrough" if part is None else part.kind


def _feature_names(preparation: Part | None, scale: Part) -> tuple[str, ...]:
    if preparation is None:
        numbered = [f"x{i}" for i in range(scale.learnt["n_features_in_"])]
        names = scale.learnt.get("feature_names_in_", numbered)
    elif preparation.kind == "FrameVectorizer":
        columns = preparation.parameters["numbers"], preparation.parameters["text"]
        lookups = level_lookups(preparation.learnt)
        names = feature_names(*columns, lookups, preparation.learnt["n_features_out_"])
    else:
        from hyperlvq.saving import estimator_of

        names = estimator_of(preparation).get_feature_names_out()
    return tuple(map(str, names))
