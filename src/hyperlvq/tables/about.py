"""What is known about a model of a table, as plain values: saved with it, shown and printed."""

from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.costs import glvq_flops, prediction_cost, rls_flops
from hyperlvq.model_files import ModelFile
from hyperlvq.registry import PARTS
from hyperlvq.tables.columns import Column, Kind, pack_columns, unpack_columns
from hyperlvq.tables.confusion import Confusion, Validation, in_order

if TYPE_CHECKING:
    from hyperlvq.tables.training import Task, Trained

About = Mapping[str, Any]

#: Parameters that say what a model is; the others say how training goes about it.
SHOWN_SETTINGS = (
    "n_units",
    "clip",
    "prototypes_per_class",
    "slope",
    "alpha",
    "gamma",
    "learning_rate",
    "class_weight",
)


class ArrayOf(NamedTuple):
    """The kinds of an array's type, and its number of dimensions."""

    kinds: str
    n_dimensions: int


_SETTINGS = {str: (int, float, str, None, dict, list)}
#: What the notes of a model file are; a key with a question mark may be missing.
NOTES_SCHEMA = {
    "target": str,
    "seed": int,
    "table": str,
    "trained": str,
    "fit_seconds": float,
    "search": (
        None,
        {
            "best": _SETTINGS,
            "rounds": [
                {"n_settings": int, "n_rows": int, "best": _SETTINGS, "accuracy": float},
            ],
        },
    ),
    "accuracies": (None, [float]),
    "notes": [str],
    "device?": {str: (int, float, str, None)},
    "class_counts": ArrayOf("i", 1),
    "confusion?": ArrayOf("iu", 2),
    "columns": ArrayOf("O", 1),
    "figures": ArrayOf("f", 2),
    "levels": ArrayOf("O", 1),
    "reasons": {str: str},
    "remarks": {str: str},
}
#: Keys that are copied to the notes unchanged.
PLAIN_KEYS = ("target", "seed", "table", "trained", "fit_seconds", "search", "notes", "device")


def about_training(
    trained: "Trained", task: "Task", table: str, model: ModelFile
) -> dict[str, Any]:
    """Return what a model remembers of its training."""
    validation = trained.validation
    return {
        "target": task.target,
        "seed": task.seed,
        "columns": [column.to_dict() for column in trained.columns],
        "table": Path(table).name,
        "trained": datetime.now(UTC).isoformat(timespec="seconds"),
        "fit_seconds": round(trained.fit_seconds, 3),
        "search": trained.search and trained.search.to_dict(),
        "validation": validation and validation.to_dict(),
        "notes": list(trained.notes),
        **_about_parts(model, trained.class_counts),
    }


def _about_parts(model: ModelFile, class_counts: Mapping[str, int]) -> dict[str, Any]:
    """Return what the parts of a model of a table tell."""
    n_rows = sum(class_counts.values())
    return {
        **names_of(model),
        "settings": settings_of(model),
        "classes": class_counts,
        "rows": n_rows,
        "costs": costs_of(model, n_rows),
    }


def to_notes(about: About) -> dict[str, Any]:
    """Return what a model file holds of what is known, its classes apart."""
    notes = {key: about[key] for key in PLAIN_KEYS if key in about}
    validation = about["validation"]
    notes["accuracies"] = validation and validation["accuracies"]
    if validation:
        counts = np.array(validation["confusion"]["counts"], dtype=np.int64)
        notes["confusion"] = counts.astype(np.min_scalar_type(counts.max()))
    counts_of = about["classes"]
    notes["class_counts"] = np.array([counts_of[name] for name in sorted(counts_of)])
    return {**notes, **pack_columns(columns_of(about))}


def from_notes(model: ModelFile, name: str) -> About:
    """Return what `to_notes` took apart; errors call the file `name`."""
    notes = model.notes
    try:
        if not _matches(notes, NOTES_SCHEMA):
            raise ValueError
        if model.parts[0].kind != "FrameVectorizer" or notes["class_counts"].min() < 1:
            raise ValueError
        counts = notes["class_counts"].tolist()
        labels = model.parts[-1].learnt["classes_"].tolist()
        by_label = {str(label): n for label, n in zip(labels, counts, strict=True)}
        classes = {label: by_label[label] for label in in_order(by_label)}
        columns = unpack_columns(notes)
        if _used(columns) != _used(_columns_of_parts(model)):
            raise ValueError
        return {
            **{key: notes[key] for key in PLAIN_KEYS if key in notes},
            "columns": [column.to_dict() for column in columns],
            "validation": _validation_of(notes, list(classes)),
            **_about_parts(model, classes),
        }
    except (ValueError, KeyError, StopIteration, ArithmeticError):
        raise InputError(f"{name} has notes in it that hyperlvq fit did not write") from None


def _validation_of(notes: Mapping[str, Any], classes: list[str]) -> dict[str, Any] | None:
    if notes["accuracies"] is None:
        return None
    if len(notes["accuracies"]) < 2 or not all(0 <= each <= 1 for each in notes["accuracies"]):
        raise ValueError
    counts = notes["confusion"].astype(np.int64)
    if counts.shape != (len(classes), len(classes)):
        raise ValueError
    return Validation(tuple(notes["accuracies"]), Confusion(tuple(classes), counts)).to_dict()


def _columns_of_parts(model: ModelFile) -> list[Column]:
    """Return the columns that the first part of a model takes, as far as it knows their names."""
    first = model.parts[0]
    if first.kind == "FrameVectorizer":
        kinds = {"numbers": Kind.NUMBER, "text": Kind.TEXT}
        return [Column(name, kinds[key]) for key in kinds for name in first.parameters[key]]
    return [Column(name, Kind.NUMBER) for name in first.learnt.get("feature_names_in_", ())]


def _used(columns: list[Column]) -> set[tuple[str, Kind]]:
    return {(column.name, column.kind) for column in columns if column.kind is not Kind.DROPPED}


def _matches(value: Any, schema: Any) -> bool:
    """Return whether a value of a file is of a schema: a type, a choice, a list, keys, an array."""
    if isinstance(schema, ArrayOf):
        is_array = isinstance(value, np.ndarray)
        return is_array and value.dtype.kind in schema.kinds and value.ndim == schema.n_dimensions
    if isinstance(schema, tuple):
        return any(_matches(value, choice) for choice in schema)
    if isinstance(schema, list):
        return isinstance(value, list) and all(_matches(each, schema[0]) for each in value)
    if isinstance(schema, dict):
        return isinstance(value, dict) and _keys_match(value, schema)
    if schema is float and isinstance(value, float):
        return isfinite(value)
    return value is None if schema is None else type(value) is schema


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
            "the model was fitted in Python without column names, so no table can be matched to it"
        )
    return [Column.from_dict(column) for column in about["columns"]]


def about_python_model(model: ModelFile, name: str) -> About:
    """Return what can be known of a classifier that was fitted and saved in Python.

    For tables it must have been fitted on a data frame: columns, all of numbers, go by their names.
    """
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
        "columns": [column.to_dict() for column in _columns_of_parts(model)] or None,
    }


def names_of(model: ModelFile) -> dict[str, Any]:
    """Return what the command line calls the hidden layer and the readout."""
    *layers, readout = (PARTS[part.kind].recipe_name for part in model.parts)
    return {"hidden": next(filter(None, layers), "features"), "readout": readout}


def settings_of(model: ModelFile) -> dict[str, Any]:
    """Return the parameters of the hidden layer and the readout that a user might want to know."""
    parameters = {
        name: value
        for part in model.parts
        if PARTS[part.kind].recipe_name
        for name, value in part.parameters.items()
    }
    shown = {name: parameters[name] for name in SHOWN_SETTINGS if name in parameters}
    return {name: value for name, value in shown.items() if value is not None and value != "auto"}


def costs_of(model: ModelFile, n_rows: int) -> dict[str, Any]:
    """Return the flops of training, and bytes and operations of the model, where a formula is."""
    hidden, readout = names_of(model).values()
    learnt = model.parts[-1].learnt
    n_features = next(p.learnt["n_features_in_"] for p in model.parts if p.kind == "MinMaxScaler")
    n_classes, width = len(learnt["classes_"]), learnt["n_features_in_"]
    costs: dict[str, Any] = {"features": n_features, "training_flops": None}
    if readout == "rls":
        costs["training_flops"] = rls_flops(n_rows, width, n_classes)
    if readout == "glvq":
        per_class = len(learnt["prototypes_"]) / n_classes
        costs["training_flops"] = glvq_flops(n_rows, width, n_classes, per_class, learnt["n_iter_"])
        costs["iterations"] = learnt["n_iter_"]
    rows = PARTS[model.parts[-1].kind].output_rows
    if rows is not None:
        sizes = hidden, n_features, width, len(learnt[rows])
        is_linear = rows == "coef_"
        costs["float"] = prediction_cost(*sizes, linear=is_linear)._asdict()
        if hidden == "intrvfl":
            integer = prediction_cost(*sizes, linear=is_linear, form="integer")
            costs["integer"] = integer._asdict()
    return costs
