"""What is known about a model of a table, as plain values: saved with it, shown and printed."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from hyperlvq.checks import InputError
from hyperlvq.costs import glvq_flops, prediction_cost, rls_flops
from hyperlvq.models import HIDDEN_LAYERS, READOUTS
from hyperlvq.tables.columns import Column, Kind
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

#: Without one of these a model of a table can be neither used nor shown.
TRAINING_KEYS = frozenset(
    {
        "target",
        "hidden",
        "readout",
        "settings",
        "classes",
        "columns",
        "table",
        "rows",
        "trained",
        "fit_seconds",
        "search",
        "validation",
        "notes",
        "costs",
    }
)


def about_training(trained: Trained, task: Task, table: str) -> About:
    """Return what a model remembers of its training."""
    validation = trained.validation
    return {
        "target": task.target,
        "hidden": task.hidden,
        "readout": task.readout,
        "settings": settings_of(trained.model),
        "seed": task.seed,
        "classes": trained.class_counts,
        "columns": [column.to_dict() for column in trained.columns],
        "table": Path(table).name,
        "rows": sum(trained.class_counts.values()),
        "trained": datetime.now(UTC).isoformat(timespec="seconds"),
        "fit_seconds": round(trained.fit_seconds, 3),
        "search": trained.search and trained.search.to_dict(),
        "validation": validation and validation.to_dict(),
        "notes": list(trained.notes),
        "costs": costs_of(trained.model, task, sum(trained.class_counts.values())),
    }


def is_of_a_table(about: Any) -> bool:
    """Return whether notes, which may come from anywhere, have what `about_training` gives."""
    try:
        return about.keys() >= TRAINING_KEYS and bool(columns_of(about))
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def columns_of(about: About) -> list[Column]:
    """Return the columns that a model remembers."""
    if about["columns"] is None:
        raise InputError(
            "the model was fitted in Python without column names, so no table can be matched to it"
        )
    return [Column.from_dict(column) for column in about["columns"]]


def about_python_model(model: BaseEstimator, name: str) -> About:
    """Return what can be known of a classifier that was fitted and saved in Python.

    For tables it must have been fitted on a data frame: columns, all of numbers, go by their names.
    """
    if not hasattr(model, "classes_"):
        raise InputError(f"{name} has no fitted classifier in it but a {type(model).__name__}")
    names = getattr(model, "feature_names_in_", None)
    columns = None if names is None else [Column(str(each), Kind.NUMBER) for each in names]
    return {
        "target": None,
        "hidden": _name_of_step(model, "hidden"),
        "readout": _name_of_step(model, "readout"),
        "settings": settings_of(model),
        "classes": [str(each) for each in model.classes_],
        "features": model.n_features_in_,
        "columns": columns and [column.to_dict() for column in columns],
    }


def _name_of_step(model: BaseEstimator, step: str) -> str:
    """Return what the command line calls a step, or else its type."""
    found = _steps(model).get(step, model if step == "readout" else "passthrough")
    if found == "passthrough":
        return "features"
    types = {**HIDDEN_LAYERS, **READOUTS}
    return next((name for name in types if types[name] is type(found)), type(found).__name__)


def _steps(model: BaseEstimator) -> Mapping[str, Any]:
    return model.named_steps if isinstance(model, Pipeline) else {}


def settings_of(model: BaseEstimator) -> dict[str, Any]:
    """Return the parameters of the hidden layer and the readout that a user might want to know."""
    steps = (
        [_steps(model).get(name) for name in ("hidden", "readout")] if _steps(model) else [model]
    )
    found = [step.get_params() for step in steps if isinstance(step, BaseEstimator)]
    parameters = {name: value for each in found for name, value in each.items()}
    shown = {name: parameters[name] for name in SHOWN_SETTINGS if name in parameters}
    return {name: value for name, value in shown.items() if value is not None and value != "auto"}


def costs_of(model: Pipeline, task: Task, n_rows: int) -> dict[str, Any]:
    """Return the flops of training, and bytes and operations of the model, where a formula is."""
    readout = model["readout"]
    n_classes = len(model.classes_)
    width = readout.n_features_in_
    costs: dict[str, Any] = {"features": model["scale"].n_features_in_, "training_flops": None}
    if task.readout == "rls":
        costs["training_flops"] = rls_flops(n_rows, width, n_classes)
    if task.readout == "glvq":
        per_class = len(readout.prototypes_) / n_classes
        costs["training_flops"] = glvq_flops(n_rows, width, n_classes, per_class, readout.n_iter_)
        costs["iterations"] = readout.n_iter_
    if task.readout != "kglvq":  # its prototypes are sums over the training rows
        n_outputs = n_classes if task.readout == "rls" else len(readout.prototypes_)
        sizes = task.hidden, costs["features"], width, n_outputs
        costs["float"] = prediction_cost(*sizes, linear=task.readout == "rls")._asdict()
        if task.hidden == "intrvfl":
            integer = prediction_cost(*sizes, linear=task.readout == "rls", form="integer")
            costs["integer"] = integer._asdict()
    return costs
