"""What is known about a model of a table, as plain values: saved with it, shown and printed."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from hyperlvq.checks import InputError
from hyperlvq.costs import glvq_flops, prediction_cost, rls_flops
from hyperlvq.tables.columns import Column, Kind
from hyperlvq.tables.training import Task, Trained

About = dict[str, Any]

#: Parameters that say what a model is; the others say how training goes about it.
SHOWN_SETTINGS = ("n_units", "clip", "prototypes_per_class", "slope", "alpha", "gamma")


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


def columns_of(about: About) -> list[Column]:
    """Return the columns that a model remembers."""
    return [Column.from_dict(column) for column in about["columns"]]


def about_python_model(model: BaseEstimator, name: str) -> About:
    """Return what can be known of a model that was fitted and saved in Python.

    It must have been fitted on a data frame: its columns, all of numbers, are found by name.
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise InputError(
            f"{name} was fitted without column names, so that no table can be matched to it"
        )
    columns = [Column(str(each), Kind.NUMBER, 0) for each in names]
    return {
        "target": "prediction",
        "columns": [column.to_dict() for column in columns],
        "classes": dict.fromkeys(map(str, model.classes_)),
    }


def settings_of(model: Pipeline) -> dict[str, Any]:
    """Return the parameters of the hidden layer and the readout that a user might want to know."""
    steps = [step for step in (model["hidden"], model["readout"]) if step != "passthrough"]
    parameters = {name: value for step in steps for name, value in step.get_params().items()}
    return {name: parameters[name] for name in SHOWN_SETTINGS if name in parameters}


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
