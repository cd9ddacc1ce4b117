"""What is known about a model of a table: saved with it, shown and printed."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.costs import FORMS, LAYERS, comparison_cost, prediction_cost
from hyperlvq.model_files import ModelFile
from hyperlvq.registry import PARTS, SCALERS
from hyperlvq.tables.columns import MARK_NAMES, Column, Kind
from hyperlvq.tables.dates import ISO, PATTERNS
from hyperlvq.tables.evaluation import Confusion, Validation, in_order

About = Mapping[str, Any]

_SETTINGS = {str: (int, float, str, None, dict, list)}
_FIGURES = ("alpha", "temperature", "left_out_accuracy", "left_out_log_loss", "weight", "seconds")
_NETWORKS = {"kind": [str], "n_units": [int], **{name: [float] for name in _FIGURES}}
_ROUND = {"n_settings": int, "n_rows": int, "best": _SETTINGS, "accuracy": float}
#: What is in the notes of a model file unchanged; a key with a question mark may be missing.
PLAIN_SCHEMA: dict[str, Any] = {
    "target": str,
    "seed": int,
    "table": str,
    "trained": str,
    "fit_seconds": float,
    "search": (None, {"best": _SETTINGS, "rounds": [_ROUND]}),
    "notes": [str],
    "device?": {str: (int, float, str, None)},
    "networks?": _NETWORKS,
    "left_out?": {"accuracy": float, "log_loss": float},
    "missing?": [str],
}
#: All of them. An array is the letters of its possible types, and its number of dimensions.
NOTES_SCHEMA = {
    **PLAIN_SCHEMA,
    "accuracies": (None, [float]),
    "log_loss?": (None, float),
    "class_counts": "i1",
    "confusion?": "iu2",
    "columns": "O1",  # each in JSON
}
_COLUMN = {"name": str, "kind": str, "n_missing": int, "reason?": str, "note?": str}
_RANGE = {**_COLUMN, "minimum": float, "maximum": float}
COLUMN_SCHEMAS = {
    Kind.NUMBER: {**_RANGE, "decimal?": str, "grouping?": str, "unit?": str},
    Kind.DATE: {**_RANGE, "date_form?": str},
    Kind.TEXT: {**_COLUMN, "levels": [str], "n_levels": int},
    Kind.DROPPED: _COLUMN,
}
#: The first parts of a recipe, and all of the default classifier.
RECIPE_PARTS = [["FrameVectorizer", scaler] for scaler in SCALERS]
DEFAULT_PARTS = ["FrameVectorizer", "HyperLVQClassifier"]


def about_parts(model: ModelFile, class_counts: Mapping[str, int]) -> dict[str, Any]:
    """Return what the parts of a model of a table tell, and how many rows each class had."""
    n_rows = sum(class_counts.values())
    return {
        **names_of(model),
        "settings": settings_of(model),
        "classes": class_counts,
        "rows": n_rows,
        "costs": costs_of(model, n_rows),
    }


def to_plain(about: About) -> dict[str, Any]:
    """Return what is known as values that JSON has."""
    plain = dict(about)
    if about["columns"] is not None:
        plain["columns"] = [asdict(column) for column in about["columns"]]
    if about.get("validation") is not None:
        plain["validation"] = about["validation"].to_dict()
    return plain


def to_notes(about: About) -> dict[str, Any]:
    """Return what a model file holds of what is known, its classes apart."""
    validation, counts_of = about["validation"], about["classes"]
    notes = {**_plain_values(about), "accuracies": validation and list(validation.accuracies)}
    if validation:
        notes["log_loss"] = validation.log_loss
        counts = validation.confusion.counts
        notes["confusion"] = counts.astype(np.min_scalar_type(counts.max()))
    notes["class_counts"] = np.array([counts_of[name] for name in sorted(counts_of)])
    columns = [
        json.dumps({name: value for name, value in vars(column).items() if value is not None})
        for column in about["columns"]
    ]
    return {**notes, "columns": np.array(columns, dtype=object)}


def _plain_values(values: Mapping[str, Any]) -> dict[str, Any]:
    keys = (key.removesuffix("?") for key in PLAIN_SCHEMA)
    return {key: values[key] for key in keys if key in values}


def from_notes(model: ModelFile, name: str) -> About:
    """Return what `to_notes` took apart; errors call the file `name`."""
    notes = model.notes
    try:
        _check(_matches(notes, NOTES_SCHEMA) and notes["class_counts"].min() >= 1)
        _check_parts(model)
        labels = map(str, model.parts[-1].learnt["classes_"].tolist())
        by_label = dict(zip(labels, notes["class_counts"].tolist(), strict=True))
        classes = {label: by_label[label] for label in in_order(by_label)}
        columns = [*map(_column_of, json.loads(f"[{','.join(notes['columns'])}]"))]
        _check(_used(columns) == _used(_columns_of_parts(model)))
        return {
            **_plain_values(notes),
            "columns": columns,
            "validation": _validation_of(notes, tuple(classes)),
            **about_parts(model, classes),
        }
    except (ValueError, KeyError, TypeError, RecursionError, ArithmeticError):
        raise InputError(f"{name} contains notes that hyperlvq fit did not write") from None


def _check(is_as_written: bool) -> None:
    if not is_as_written:
        raise ValueError


def _check_parts(model: ModelFile) -> None:
    """Check the parts, and that there are notes on networks where there are any."""
    kinds, notes = [part.kind for part in model.parts], model.notes
    has_networks = kinds == DEFAULT_PARTS
    _check(has_networks or kinds[:2] in RECIPE_PARTS)
    _check(has_networks == ("networks" in notes) == ("left_out" in notes))
    if has_networks:
        lengths = {len(column) for column in notes["networks"].values()}
        _check(len(lengths) == 1 and lengths != {0})


def _column_of(values: dict[str, Any]) -> Column:
    kind = Kind(values["kind"])
    _check(_matches(values, COLUMN_SCHEMAS[kind]) and values["n_missing"] >= 0)
    _check(values.get("minimum", 0) <= values.get("maximum", 0))
    _check(values.get("date_form", ISO) in PATTERNS)
    _check({values.get("decimal", "."), values.get("grouping", ",")} <= MARK_NAMES.keys())
    _check(len(values.get("unit", "$")) == 1)
    levels = tuple(values["levels"]) if kind is Kind.TEXT else None
    return Column(**{**values, "kind": kind, "levels": levels})


def _validation_of(notes: Mapping[str, Any], classes: tuple[str, ...]) -> Validation | None:
    accuracies = notes["accuracies"]
    if accuracies is None:
        return None
    counts = notes["confusion"].astype(np.int64)
    _check(len(accuracies) >= 2 and all(0 <= each <= 1 for each in accuracies))
    _check(counts.shape == (len(classes), len(classes)))
    return Validation(tuple(accuracies), Confusion(classes, counts), notes.get("log_loss"))


def _columns_of_parts(model: ModelFile) -> list[Column]:
    """Return the columns that the first part of a model takes, as far as it knows their names."""
    first = model.parts[0]
    if first.kind == "FrameVectorizer":
        kinds = {"numbers": Kind.NUMBER, "text": Kind.TEXT, "dates": Kind.DATE}
        return [Column(name, kinds[key]) for key in kinds for name in first.parameters[key]]
    return [Column(name, Kind.NUMBER) for name in first.learnt.get("feature_names_in_", ())]


def _used(columns: list[Column]) -> set[tuple[str, Kind]]:
    return {(column.name, column.kind) for column in columns if column.is_used}


def _matches(value: Any, schema: Any) -> bool:
    """Return whether a value of a file is of a schema: a type, a choice, a list, keys, an array."""
    if isinstance(schema, str):
        is_array = isinstance(value, np.ndarray)
        return is_array and value.dtype.kind in schema and str(value.ndim) in schema
    if isinstance(schema, tuple):
        return any(_matches(value, choice) for choice in schema)
    if isinstance(schema, list):
        return isinstance(value, list) and all(_matches(each, schema[0]) for each in value)
    if isinstance(schema, dict):
        return isinstance(value, dict) and _keys_match(value, schema)
    if schema is None:
        return value is None
    return type(value) is schema and (schema is not float or isfinite(value))


def _keys_match(values: Mapping[str, Any], schema: Mapping[Any, Any]) -> bool:
    if str in schema:
        return all(type(key) is str and _matches(each, schema[str]) for key, each in values.items())
    schemas = {key.removesuffix("?"): each for key, each in schema.items()}
    required = {key for key in schema if not key.endswith("?")}
    return required <= values.keys() <= schemas.keys() and all(
        _matches(each, schemas[key]) for key, each in values.items()
    )


def columns_of(about: About) -> list[Column]:
    """Return the columns that a model remembers."""
    if about["columns"] is None:
        raise InputError(
            "the model was fitted in Python without column names, so it cannot be applied to a "
            "table"
        )
    return about["columns"]


def about_python_model(model: ModelFile, name: str) -> About:
    """Return what can be known of a classifier that was fitted and saved in Python."""
    first, last = model.parts[0], model.parts[-1]
    if PARTS[last.kind].output is not None:
        what = last.kind if model.pipeline is None else model.pipeline
        raise InputError(f"{name} has no fitted classifier in it but a {what}")
    return {
        "target": None,
        **names_of(model),
        "settings": settings_of(model),
        "classes": [str(each) for each in last.learnt["classes_"]],
        "features": first.learnt["n_features_in_"],
        "columns": _columns_of_parts(model) or None,
    }


def names_of(model: ModelFile) -> dict[str, Any]:
    """Return what the command line calls the hidden layer and the readout.

    A classifier that is no choice there goes by its class, and has no hidden layer.
    """
    *layers, readout = (PARTS[part.kind].recipe_name for part in model.parts)
    if readout is None:
        return {"hidden": None, "readout": model.parts[-1].kind}
    return {"hidden": next(filter(None, layers), "features"), "readout": readout}


def settings_of(model: ModelFile) -> dict[str, Any]:
    """Return the parameters of the hidden layer and the readout that a user might want to know."""
    settings = {}
    for part in model.parts:
        for name, value in part.parameters.items():
            parameter = PARTS[part.kind].parameters[name]
            if parameter.word is not None and value == parameter.word:
                found = part.learnt.get(f"{name}_")
                value = None if found is None else float(f"{found:.4g}")
            if parameter.option is not None and parameter.shown and value not in (None, "auto"):
                settings[name] = value
    return settings


def costs_of(model: ModelFile, n_rows: int) -> dict[str, Any]:
    """Return the flops of training, and bytes and operations of the model, where a formula is."""
    hidden = names_of(model)["hidden"]
    record, learnt = PARTS[model.parts[-1].kind], model.parts[-1].learnt
    first = next(part for part in model.parts if part.kind != "FrameVectorizer")
    n_features = first.learnt["n_features_in_"]
    n_classes, width = len(learnt["classes_"]), learnt["n_features_in_"]
    costs: dict[str, Any] = {"features": n_features, "training_flops": None}
    if record.training_flops is not None:
        per_class = len(learnt.get("prototype_classes_", ())) / n_classes
        sizes = n_rows, width, n_classes, per_class, learnt.get("n_iter_", 1)
        costs["training_flops"] = record.training_flops(*sizes)
    if "loss_curve_" in learnt:
        costs["iterations"] = learnt["n_iter_"]
    rows = record.output_rows
    units = next((part.learnt for part in model.parts if "kinds_" in part.learnt), None)
    if rows is not None and units is not None:
        counts = len(units["features_"]), len(units["kinds_"]), len(learnt[rows])
        costs["float"] = comparison_cost(*counts, linear=rows == "coef_")._asdict()
    elif rows is not None and hidden in LAYERS:
        outputs = hidden, n_features, width, len(learnt[rows])
        for form in FORMS if hidden == "intrvfl" else FORMS[:1]:
            costs[form] = prediction_cost(*outputs, linear=rows == "coef_", form=form)._asdict()
    return costs
