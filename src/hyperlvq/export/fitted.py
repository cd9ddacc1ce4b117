"""What an exporter needs of a fitted pipeline, or a sentence that says why it cannot be had."""

from typing import Any, NamedTuple

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.kernels.features import feature_names
from hyperlvq.model_files import ALONE, ModelFile, Part
from hyperlvq.registry import PARTS, SCALERS, PartRecord

STEPS = ("scale", "hidden", "readout")
PREPARATION = "columns"
#: The classifier that is a model by itself, its units included.
WHOLE = "HyperLVQClassifier"
#: Squares of prototypes up to here add up to finite numbers.
LARGEST = 1e100
NOT_FITTED = "cannot export a model that is not fitted: call fit first"


class FittedParts(NamedTuple):
    """The fitted parts of a model, the names of its features, and its readout's record."""

    scale: Part | None  # None where features are not scaled
    hidden: Part  # the same as the readout where that has units of its own
    readout: Part
    feature_names: tuple[str, ...]
    record: PartRecord
    output_rows: np.ndarray  # the prototypes or coefficients, one row per output


def fitted_parts(model: Any) -> FittedParts:
    """Return the parts of a fitted pipeline or a model file; InputError says what is wrong."""
    steps = _steps(model if isinstance(model, ModelFile) else _as_file(model))
    *before, readout = (part or Part("passthrough") for part in steps.values())
    scale, hidden = None, readout
    if readout.kind != WHOLE:
        scale, hidden = before[-2:]
        _check_recipe(scale, hidden, readout)
    record, first = PARTS[readout.kind], scale or readout
    if not (first.learnt and hidden.learnt and readout.learnt):
        raise InputError(NOT_FITTED)
    names = _feature_names(steps.get(PREPARATION), first, model)
    is_known = np.isfinite(scale.learnt["data_range_"] if scale else 0)
    if not is_known.all():
        unknown = names[is_known.argmin()]
        raise InputError(f"feature {unknown!r} has no range: all its training values are missing")
    output_rows = readout.learnt[str(record.output_rows)]
    if not np.abs(output_rows).max() < LARGEST:
        raise InputError("cannot export a readout whose weights are not finite or too large")
    return FittedParts(scale, hidden, readout, names, record, output_rows)


def _as_file(model: Any) -> ModelFile:
    """Return what a file holds of a model, fitted or not."""
    from sklearn.pipeline import Pipeline

    from hyperlvq.saving import part_of

    if not isinstance(model, Pipeline):
        return ModelFile(((ALONE, part_of(model)),))
    steps = tuple(
        (name, None if step in (None, "passthrough") else part_of(step))
        for name, step in model.steps
    )
    return ModelFile(steps, type(model).__name__)


def _steps(model: ModelFile) -> dict[str, Part | None]:
    *_, (last_name, last) = model.steps
    own: tuple[str, ...] = STEPS
    if last and last.kind == WHOLE:
        own = (last_name,)
    elif model.pipeline is None:
        raise InputError(
            f"cannot export {model.parts[0].kind}: only {WHOLE} and pipelines with "
            "the steps scale, hidden and readout, as from make_classifier, are supported"
        )
    if tuple(dict(model.steps)) not in (own, (PREPARATION, *own)):
        raise InputError(
            f"cannot export a pipeline with the steps {', '.join(dict(model.steps))}: "
            f"they must be scale, hidden and readout, or a {WHOLE} alone, optionally after "
            f"{PREPARATION}"
        )
    return dict(model.steps)


def _check_recipe(scale, hidden, readout):
    steps = (("hidden", "hidden layer", hidden), ("readout", "readout", readout))
    for role, in_words, part in steps:
        record = PARTS.get(part.kind)
        if record is None or record.role != role:
            able = (k for k, each in PARTS.items() if each.role == role and not each.export_refusal)
            raise InputError(
                f"cannot export the {in_words} {part.kind}: it must be {' or '.join(able)}"
            )
        if record.export_refusal is not None:
            raise InputError(f"cannot export {part.kind}: {record.export_refusal}")
    if scale.kind not in SCALERS:
        scalers = " or ".join(SCALERS)
        raise InputError(f"cannot export the scaler {scale.kind}: it must be {scalers}")
    limits = scale.parameters["feature_range"]
    if tuple(limits) != (0, 1):
        raise InputError(
            f"cannot export {scale.kind} with feature_range={limits!r}: it must be (0, 1)"
        )


def _feature_names(preparation: Part | None, first: Part, model: Any) -> tuple[str, ...]:
    if preparation is None:
        numbered = [f"x{i}" for i in range(first.learnt["n_features_in_"])]
        names = first.learnt.get("feature_names_in_", numbered)
    elif preparation.kind == "FrameVectorizer" and preparation.learnt:
        names = feature_names(preparation.parameters, preparation.learnt)
    else:
        from sklearn.exceptions import NotFittedError

        from hyperlvq.saving import from_parts

        pipeline = from_parts(model) if isinstance(model, ModelFile) else model
        try:  # it may be any transformer
            names = pipeline[0].get_feature_names_out()
        except NotFittedError:
            raise InputError(NOT_FITTED) from None
    return tuple(map(str, names))
