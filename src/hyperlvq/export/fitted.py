"""What an exporter needs of a fitted pipeline, or a sentence that says why it cannot be had."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.validation import check_is_fitted

from hyperlvq.checks import InputError
from hyperlvq.engines import to_numpy
from hyperlvq.hidden import IntRVFLLayer
from hyperlvq.registry import PARTS, record_of

STEPS = ("scale", "hidden", "readout")
PREPARATION = "columns"
#: Squares of prototypes up to here add up to finite numbers.
LARGEST = 1e100


@dataclass(frozen=True)
class FittedParts:
    """The fitted steps of a pipeline and the names of its features."""

    scale: MinMaxScaler
    hidden: IntRVFLLayer
    readout: Any
    feature_names: tuple[str, ...]

    @property
    def readout_name(self):
        """The readout's name, as `make_classifier` has it."""
        return PARTS[type(self.readout).__name__].recipe_name


def fitted_parts(model):
    """Return the parts of a fitted pipeline; InputError says what is not supported and why."""
    steps = _steps(to_numpy(model))
    _check_step("hidden", "hidden layer", steps["hidden"])
    _check_step("readout", "readout", steps["readout"])
    _check_scaler(steps["scale"])
    _check_fitted(model)
    names = _feature_names(steps)
    scale, hidden, readout = (steps[name] for name in STEPS)
    if not np.isfinite(scale.data_range_).all():
        unknown = names[np.flatnonzero(~np.isfinite(scale.data_range_))[0]]
        raise InputError(f"feature {unknown!r} has no range: all its training values are missing")
    parts = FittedParts(scale, hidden, readout, names)
    learnt = getattr(readout, str(PARTS[type(readout).__name__].output_rows))
    if not np.abs(learnt).max() < LARGEST:
        raise InputError("cannot export a readout whose numbers are not finite or too large")
    return parts


def device_features(model, X):
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
    names = [name for name, _ in model.steps]
    if names not in ([*STEPS], [PREPARATION, *STEPS]):
        raise InputError(
            f"cannot export a pipeline with the steps {', '.join(names)}: "
            "they must be scale, hidden and readout"
        )
    return dict(model.steps)


def _check_step(role, role_in_words, step):
    record = record_of(step)
    what = step if isinstance(step, str) else type(step).__name__
    if record is None or record.role != role:
        able = [
            kind
            for kind, each in PARTS.items()
            if each.role == role and each.export_refusal is None
        ]
        raise InputError(f"cannot export the {role_in_words} {what}: only {', '.join(able)}")
    if record.export_refusal is not None:
        raise InputError(f"cannot export {what}: {record.export_refusal}")


def _check_scaler(scale):
    if type(scale) is not MinMaxScaler:
        what = scale if isinstance(scale, str) else type(scale).__name__
        raise InputError(f"cannot export the scaling {what}: only MinMaxScaler")
    if tuple(scale.feature_range) != (0, 1):
        raise InputError(
            f"cannot export MinMaxScaler with feature_range={scale.feature_range!r}: "
            "the layer takes features in (0, 1)"
        )


def _check_fitted(model):
    try:
        for _, step in model.steps:
            check_is_fitted(step)
    except NotFittedError:
        raise InputError("cannot export a model that is not fitted: call fit first") from None


def _feature_names(steps):
    if PREPARATION in steps:
        return tuple(map(str, steps[PREPARATION].get_feature_names_out()))
    n_features = steps["scale"].n_features_in_
    names = getattr(steps["scale"], "feature_names_in_", [f"x{i}" for i in range(n_features)])
    return tuple(map(str, names))
