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
from hyperlvq.hidden import IntRVFLLayer, RVFLLayer
from hyperlvq.models import READOUTS as ALL_READOUTS
from hyperlvq.readouts import KGLVQClassifier

STEPS = ("scale", "hidden", "readout")
PREPARATION = "columns"
READOUTS: dict[type, str] = {
    kind: name for name, kind in ALL_READOUTS.items() if kind is not KGLVQClassifier
}
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
        return READOUTS[type(self.readout)]


def fitted_parts(model):
    """Return the parts of a fitted pipeline; InputError says what is not supported and why."""
    steps = _steps(to_numpy(model))
    _check_hidden(steps["hidden"])
    _check_readout(steps["readout"])
    _check_scaler(steps["scale"])
    _check_fitted(model)
    names = _feature_names(steps)
    scale, hidden, readout = (steps[name] for name in STEPS)
    if not np.isfinite(scale.data_range_).all():
        unknown = names[np.flatnonzero(~np.isfinite(scale.data_range_))[0]]
        raise InputError(f"feature {unknown!r} has no range: all its training values are missing")
    parts = FittedParts(scale, hidden, readout, names)
    learnt = readout.coef_ if parts.readout_name == "rls" else readout.prototypes_
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


def _check_hidden(hidden):
    if isinstance(hidden, RVFLLayer):
        raise InputError(
            "cannot export RVFLLayer: its real weights and sigmoids have no integer form; "
            "use IntRVFLLayer"
        )
    if not isinstance(hidden, IntRVFLLayer):
        what = hidden if isinstance(hidden, str) else type(hidden).__name__
        raise InputError(f"cannot export the hidden layer {what}: only IntRVFLLayer has integers")


def _check_readout(readout):
    if isinstance(readout, KGLVQClassifier):
        raise InputError(
            "cannot export KGLVQClassifier: its prototypes are spread over all training samples"
        )
    if type(readout) not in READOUTS:
        known = ", ".join(kind.__name__ for kind in READOUTS)
        raise InputError(f"cannot export the readout {type(readout).__name__}: only {known}")


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
