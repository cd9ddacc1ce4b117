"""What an exporter needs of a fitted pipeline, or a sentence that says why it cannot be had."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.validation import check_is_fitted

from hyperlvq.checks import InputError
from hyperlvq.engines import to_numpy
from hyperlvq.hidden import IntRVFLLayer
from hyperlvq.registry import PARTS, PartRecord, record_of

STEPS = ("scale", "hidden", "readout")
PREPARATION = "columns"
#: Squares of prototypes up to here add up to finite numbers.
LARGEST = 1e100


class FittedParts(NamedTuple):
    """The fitted steps of a pipeline, the names of its features, and its readout's record."""

    scale: MinMaxScaler
    hidden: IntRVFLLayer
    readout: Any
    feature_names: tuple[str, ...]
    record: PartRecord
    output_rows: np.ndarray  # the prototypes or coefficients, one row per output


def fitted_parts(model: Any) -> FittedParts:
    """Return the parts of a fitted pipeline; InputError says what is not supported and why."""
    steps = _steps(to_numpy(model))
    scale, hidden, readout = (steps[name] for name in STEPS)
    _check_step("hidden", "hidden layer", hidden)
    record = _check_step("readout", "readout", readout)
    _check_scaler(scale)
    try:
        for _, step in model.steps:
            check_is_fitted(step)
    except NotFittedError:
        raise InputError("cannot export a model that is not fitted: call fit first") from None
    names, is_missing = _feature_names(steps), ~np.isfinite(scale.data_range_)
    if is_missing.any():
        unknown = names[is_missing.argmax()]
        raise InputError(f"feature {unknown!r} has no range: all its training values are missing")
    output_rows = getattr(readout, str(record.output_rows))
    if not np.abs(output_rows).max() < LARGEST:
        raise InputError("cannot export a readout whose numbers are not finite or too large")
    return FittedParts(scale, hidden, readout, names, record, output_rows)


def device_features(model: Any, X: Any) -> np.ndarray:
    """Return X as the exported model takes it: after the step that prepares columns, if any."""
    if PREPARATION in model.named_steps:
        return np.asarray(model.named_steps[PREPARATION].transform(X), dtype=np.float64)
    return np.asarray(X)


def _steps(model):
    if not isinstance(model, Pipeline):
        raise InputError(
            f"cannot export {type(model).__name__}: only pipelines of make_classifier, "
            "with the steps scale, hidden and readout"
        )
    names = tuple(name for name, _ in model.steps)
    if names not in (STEPS, (PREPARATION, *STEPS)):
        raise InputError(
            f"cannot export a pipeline with the steps {', '.join(names)}: "
            "they must be scale, hidden and readout"
        )
    return dict(model.steps)


def _check_step(role, role_in_words, step):
    record, what = record_of(step), _called(step)
    if record is None or record.role != role:
        able = (k for k, each in PARTS.items() if each.role == role and not each.export_refusal)
        raise InputError(f"cannot export the {role_in_words} {what}: only {', '.join(able)}")
    if record.export_refusal is not None:
        raise InputError(f"cannot export {what}: {record.export_refusal}")
    return record


def _check_scaler(scale):
    if type(scale) is not MinMaxScaler:
        raise InputError(f"cannot export the scaling {_called(scale)}: only MinMaxScaler")
    if tuple(scale.feature_range) != (0, 1):
        raise InputError(
            f"cannot export MinMaxScaler with feature_range={scale.feature_range!r}: "
            "the layer takes features in (0, 1)"
        )


def _called(step):
    return step if isinstance(step, str) else type(step).__name__


def _feature_names(steps):
    if PREPARATION in steps:
        names = steps[PREPARATION].get_feature_names_out()
    else:
        numbered = [f"x{i}" for i in range(steps["scale"].n_features_in_)]
        names = getattr(steps["scale"], "feature_names_in_", numbered)
    return tuple(map(str, names))
