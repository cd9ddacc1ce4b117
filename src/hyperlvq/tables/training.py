"""From a table to a model: what `hyperlvq fit` does."""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import count
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from hyperlvq.checks import InputError, refusals_as_input_errors
from hyperlvq.classifier import HyperLVQClassifier
from hyperlvq.frames import FrameVectorizer
from hyperlvq.learnt import LONGEST_LABEL
from hyperlvq.model_files import ModelFile
from hyperlvq.models import make_classifier
from hyperlvq.registry import PARTS, Recipe, check_parameters, recipe_records
from hyperlvq.saving import to_parts
from hyperlvq.tables import tuning
from hyperlvq.tables.about import about_parts
from hyperlvq.tables.cells import MISSING_MARKS, is_plain_number
from hyperlvq.tables.columns import Column, Kind, listed, target_labels, to_arrays
from hyperlvq.tables.describe import describe_columns, fewest_rows
from hyperlvq.tables.evaluation import in_order
from hyperlvq.tables.read import Table
from hyperlvq.tables.tuning import Parameters

#: With more classes than this share of the rows, the target is taken for a quantity.
MOST_CLASSES_SHARE = 0.5
#: A feature whose values take less than this share of [0, 1] was not scaled.
SMALLEST_SHARE = 1e-3
#: So many classes are never too many.
FEW_CLASSES = 10
#: More classes than this that are whole numbers are a quantity, or if they count from 0 or 1.
MOST_WHOLE_NUMBERS, MOST_CODES = 30, 200
#: A level of text of so many rows is a feature of the default classifier.
FEWEST_ROWS = 2
#: The most features of a column of text.
MOST_FEATURES = 100
USUAL_FOLDS = 5
#: Of more rows, training the default classifier again for each fold takes more than seconds.
MOST_VALIDATED_ROWS = 1000

#: Told what is under way, how many steps are done and how many there are.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Task:
    """What to learn from a table, and how."""

    target: str
    recipe: Recipe | None = None  # of `make_classifier`; None for `HyperLVQClassifier`
    parameters: Mapping[str, Any] = field(default_factory=dict)
    n_folds: int | None = None  # 0 for no cross-validation, None for one that is quick
    tune: bool = False
    seed: int = 0
    keep: Collection[str] = ()  # columns that are used, whatever they look like
    drop: Collection[str] = ()  # columns that are not
    category: Collection[str] = ()  # columns whose values are names, numbers or not
    number: Collection[str] = ()  # columns that must be numbers
    #: Settings to choose from for so many features and classes, where a device sets limits.
    sizes: Callable[[int, int], list[Parameters]] | None = None
    device_input: str = "float"  # the type of a feature there


class TrainingRows(NamedTuple):
    """The rows of a table that have a class, and what is known before training."""

    X: pd.DataFrame
    y: np.ndarray
    about: dict[str, Any]


class Trained(NamedTuple):
    """A fitted model, its parts, and what it remembers of its training."""

    model: Pipeline
    parts: ModelFile
    about: dict[str, Any]


def features_classifier(recipe: Recipe | None, seed: int, **parameters: Any) -> Pipeline:
    """Return the part of the model behind the columns, its random numbers drawn from a seed."""
    if recipe is None:
        return Pipeline([("classifier", HyperLVQClassifier(random_state=seed, **parameters))])
    model = make_classifier(*recipe, **parameters)
    seeds = [name for name in model.get_params() if name.endswith("__random_state")]
    return model.set_params(**dict.fromkeys(seeds, seed))


def table_classifier(
    columns: Sequence[Column], n_rows: int, recipe: Recipe | None, seed: int, **parameters: Any
) -> Pipeline:
    """Return a model that fits and predicts data frames with these columns."""
    takes_missing = recipe is None or recipe_records(*recipe)[0].takes_missing
    # units of recipes are few, and each of them reads all features
    min_rows = fewest_rows(n_rows) if recipe else min(fewest_rows(n_rows), FEWEST_ROWS)
    by_kind = [
        [column.name for column in columns if column.kind is kind]
        for kind in (Kind.NUMBER, Kind.TEXT, Kind.DATE)
    ]
    vectorizer = FrameVectorizer(
        *by_kind, fill=not takes_missing, min_rows=min_rows, max_levels=MOST_FEATURES
    )
    model = features_classifier(recipe, seed, **parameters)
    return Pipeline([("columns", vectorizer), *model.steps])


def to_frame(table: Table, columns: Sequence[Column]) -> pd.DataFrame:
    """Return what `to_arrays` returns as a data frame."""
    arrays = to_arrays(table, columns)
    series = {name: pd.Series(values, dtype=values.dtype) for name, values in arrays.items()}
    return pd.DataFrame(series, index=range(len(table.data)))


def training_rows(table: Table, task: Task) -> TrainingRows:
    """Return what a table has to learn from; refuse a target that is no class."""
    _check_parameters(task)
    asked = task.keep, task.drop, task.category, task.number
    columns = describe_columns(table, task.target, *asked)
    X, y = to_frame(table, columns), target_labels(table, task.target)
    rounding = _round_features(X, task.device_input)
    has_label = np.array([label is not None for label in y])
    X, y = X[has_label], y[has_label].astype(str)
    counts = Counter(y.tolist())
    by_class = {name: counts[name] for name in in_order(counts)}
    _check_classes(table, task, by_class)
    notes = []
    if n_without := int((~has_label).sum()):
        rows = "1 row" if n_without == 1 else f"{n_without} rows"
        notes.append(f"{rows} left out because {task.target!r} is missing")
    notes += [
        f"{name!r} is treated as a class; --missing {name!r} leaves its rows out"
        for name in by_class
        if name in MISSING_MARKS
    ]
    about = {
        "target": task.target,
        "columns": columns,
        "table": Path(table.form.name).name,
        "missing": list(table.form.missing),
        "rows": len(y),
        "classes": by_class,
        "notes": notes + rounding,
    }
    return TrainingRows(X, y, about)


@refusals_as_input_errors()
def train(rows: TrainingRows, task: Task, progress: Progress) -> Trained:
    """Learn the classes of rows."""
    X, y, about = rows
    n_rows, columns = len(y), about["columns"]

    def build(**found: Any) -> Pipeline:
        parameters = {**task.parameters, **found}
        return table_classifier(columns, n_rows, task.recipe, task.seed, **parameters)

    settings = _candidates(task, build, X, len(about["classes"]))
    search = None
    if task.tune or len(settings) > 1:
        tick = _ticks(progress, "tuning", tuning.n_fits(len(settings), n_rows))
        search = tuning.best_settings(build, settings, X, y, task.seed, tick)
    model = build(**(search["best"] if search else settings[0]))
    start = time.perf_counter()
    warned = _fit(model, X, y, progress)
    seconds = time.perf_counter() - start
    n_folds, fold_notes = _folds(task, y, seconds)
    validation = None
    if n_folds:
        tick = _ticks(progress, "cross-validating", n_folds)
        validation = tuning.cross_validate(model, X, y, n_folds, task.seed, tick)
    parts = to_parts(model)
    about = {
        **about,
        "seed": task.seed,
        "trained": datetime.now(UTC).isoformat(timespec="seconds"),
        "fit_seconds": round(seconds, 3),
        "search": search,
        "validation": validation,
    }
    notes = about["notes"] + fold_notes
    if task.recipe:
        notes += _lost_columns(model)
    else:
        classifier = model[-1]
        accuracy, log_loss = classifier.left_out_accuracy_, classifier.left_out_log_loss_
        about["networks"] = classifier.settings_
        about["left_out"] = {"accuracy": accuracy, "log_loss": log_loss}
    about |= {"notes": notes + warned, **about_parts(parts, about["classes"])}
    return Trained(model, parts, about)


def _fit(model: Pipeline, X: pd.DataFrame, y: np.ndarray, progress: Progress) -> list[str]:
    """Fit a model and return its warnings; each network of the default classifier is a step."""
    classifier, progress = model[-1], partial(progress, "training")
    has_networks = isinstance(classifier, HyperLVQClassifier)
    if has_networks:
        classifier._on_network = progress
    else:
        progress(0, 1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    if has_networks:
        del classifier._on_network  # what is fitted does not hold on to a bar
    else:
        progress(1, 1)
    return [str(warning.message) for warning in caught]


def _candidates(
    task: Task, build: Callable[..., Pipeline], X: pd.DataFrame, n_classes: int
) -> list[Parameters]:
    """Return the settings to choose from: sizes that fit, times a grid if it is to be tuned."""
    sizes: list[Parameters] = [{}]
    if task.sizes is not None:
        sizes = task.sizes(build()["columns"].fit(X).n_features_out_, n_classes)
    if not task.tune or task.recipe is None:
        return sizes
    return [
        {**size, **rest}
        for size in sizes
        for rest in tuning.candidates(*task.recipe, {**task.parameters, **size})
    ]


def _folds(task: Task, y: np.ndarray, fit_seconds: float) -> tuple[int, list[str]]:
    """Return the folds asked for, or the usual where that is quick; a note if they are fewer."""
    wanted = task.n_folds
    if wanted is None:
        limit = task.parameters.get("time_limit") or inf
        is_quick = len(y) <= MOST_VALIDATED_ROWS and USUAL_FOLDS * fit_seconds <= limit
        if not task.recipe and not is_quick:
            return 0, [f"not cross-validated because it takes long; --cv {USUAL_FOLDS} enables it"]
        wanted = USUAL_FOLDS
    n_folds = tuning.possible_folds(y, wanted)
    if n_folds == wanted:
        return n_folds, []
    if n_folds == 0:
        return 0, ["not cross-validated because it needs two rows in each of two classes"]
    return n_folds, [
        f"{n_folds} cross-validation folds instead of {wanted} because the classes are small"
    ]


def _ticks(progress: Progress, activity: str, total: int) -> tuning.Tick:
    """Return what tells that one more step of an activity is done; that none is, is told now."""
    done = count()

    def tick() -> None:
        progress(activity, next(done), total)

    tick()
    return tick


def _check_parameters(task: Task) -> None:
    """Look at every parameter before a table is: of a recipe, by fitting two rows."""
    try:
        model = features_classifier(task.recipe, task.seed, **task.parameters)
        if task.recipe is None:
            check_parameters(PARTS["HyperLVQClassifier"], task.parameters)
            return
        with warnings.catch_warnings(action="ignore"):
            model.fit([[0.0], [1.0]], ["a", "b"])
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from None


def _check_classes(table: Table, task: Task, by_class: Mapping[str, int]) -> None:
    """Refuse a target that is no class."""
    n_classes, n_rows, target = len(by_class), sum(by_class.values()), task.target
    table_has = f"{table.form.name} has"
    if not by_class:
        raise InputError(f"{table_has} no value in the target column {target!r}")
    if n_classes == 1:
        (only,) = by_class
        raise InputError(f"{table_has} only one class in the target column {target!r}: {only!r}")
    if max(map(len, by_class)) > LONGEST_LABEL:
        raise InputError(
            f"{table_has} values of more than {LONGEST_LABEL} characters in the target column "
            f"{target!r}, which are too long for classes"
        )
    if target in task.category:
        return
    is_quantity = _is_quantity(by_class)
    if is_quantity or n_classes > max(MOST_CLASSES_SHARE * n_rows, FEW_CLASSES):
        what = "a quantity" if is_quantity else "names or text"
        raise InputError(
            f"{table_has} {n_classes} distinct values in {n_rows} rows of the target column "
            f"{target!r}, which look like {what}: --category {target!r} treats them as classes"
        )


def _is_quantity(labels: Collection[str]) -> bool:
    """Return whether labels are numbers, and too many to be codes of classes."""
    texts = [label.replace(",", ".") for label in labels]
    if not all(map(is_plain_number, texts)):
        return False
    values = sorted(map(float, texts))
    most = MOST_WHOLE_NUMBERS if all(value.is_integer() for value in values) else FEW_CLASSES
    counts_up = values[0] in (0, 1) and values == [values[0] + i for i in range(len(values))]
    return len(values) > (MOST_CODES if counts_up else most)


def _round_features(X: pd.DataFrame, device_input: str) -> list[str]:
    """Round a frame to what a device takes, and return notes on what that changes."""
    if device_input == "float":
        return []
    limits, rounded, limited = np.iinfo(device_input), [], []
    for name, values in X.select_dtypes(exclude=object).items():
        if values.dtype.kind == "M":
            X[name] = whole = _whole_hours(values)
        else:
            whole = np.rint(values)
            X[name] = whole.clip(limits.min, limits.max)
        if not whole.equals(values):
            rounded.append(repr(name))
        if not X[name].equals(whole):
            limited.append(repr(name))
    notes = []
    if rounded:
        notes.append(
            f"rounded to integers, as on the device: {listed(rounded)}; "
            "multiply numbers in the table to keep fractions"
        )
    if limited:
        notes.append(
            f"clipped to {limits.min} to {limits.max}, as on the device: {listed(limited)}; "
            "divide numbers in the table or choose a wider --input"
        )
    return [f"--input {device_input}: {note}" for note in notes]


def _whole_hours(dates: pd.Series) -> pd.Series:
    """Return dates rounded to hours of their own day, as a device rounds each feature."""
    end_of_day = dates.dt.floor("D") + np.timedelta64(24 * 3600 - 1, "s")  # stands for 24:00
    hours = dates.dt.round("h")
    return hours.mask(hours > end_of_day, end_of_day)


def _lost_columns(model: Pipeline) -> Iterator[str]:
    """Yield notes on columns that vary by so little that the scaling takes them for constant."""
    scale = model["scale"]
    is_lost = (scale.data_range_ > 0) & (scale.data_range_ * scale.scale_ < SMALLEST_SHARE)
    names = model["columns"].get_feature_names_out()
    for name, extent in zip(names[is_lost], scale.data_range_[is_lost], strict=True):
        yield f"{name!r} varies by only {extent:.1e} and is treated as constant: use another unit"
