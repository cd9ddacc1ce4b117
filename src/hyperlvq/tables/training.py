"""From a table to a model: what `hyperlvq fit` does."""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from hyperlvq.checks import InputError
from hyperlvq.learnt import LONGEST_LABEL
from hyperlvq.tables.columns import Column, describe_columns, labels, to_frame
from hyperlvq.tables.confusion import in_order
from hyperlvq.tables.cross_validation import Tick, Validation, cross_validate, possible_folds
from hyperlvq.tables.names import tidy
from hyperlvq.tables.numbers import is_plain_number
from hyperlvq.tables.read import Table
from hyperlvq.tables.recipe import table_classifier, table_recipe
from hyperlvq.tables.tuning import Search, Settings, candidates, n_ticks, search

#: With more classes than this share of the rows, the target is taken for a quantity.
MOST_CLASSES_SHARE = 0.5
#: So many classes are never too many.
FEW_CLASSES = 10
#: More classes than this that are all numbers are a quantity, however many rows there are.
MOST_NUMBERS = 200

#: Told what is under way, how many steps are done and how many there are.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Task:
    """What to learn from a table, and how.

    `parameters` are those of `make_classifier`; `n_folds` is 0 for no cross-validation; columns in
    `keep` are used and those in `drop` are not, whatever they look like. `sizes` returns the
    settings to choose from for so many features and classes, where a device sets limits.
    """

    target: str
    hidden: str = "intrvfl"
    readout: str = "glvq"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    n_folds: int = 5
    tune: bool = False
    seed: int = 0
    keep: Collection[str] = ()
    drop: Collection[str] = ()
    sizes: Callable[[int, int], list[Settings]] | None = None


@dataclass(frozen=True)
class Trained:
    """A fitted model, and what is to be said about it."""

    model: Pipeline
    columns: tuple[Column, ...]
    class_counts: dict[str, int]
    validation: Validation | None
    search: Search | None
    fit_seconds: float
    notes: tuple[str, ...]


def train(table: Table, task: Task, progress: Progress) -> Trained:
    """Learn the target of a table from its other columns."""
    _check_parameters(task)
    columns = tuple(describe_columns(table, task.target, task.keep, task.drop))
    X = to_frame(table.data, columns, table)
    y = labels(table.data, task.target, table)
    has_label = np.array([label is not None for label in y])
    X, y = X[has_label], y[has_label].astype(str)
    marks = table.marks.get(tidy(task.target), Counter())
    _check_classes(table.name, task.target, y, marks)
    learner = _Learner(task, columns, X, y, progress)
    settings = learner.candidates()
    found = learner.search(settings) if task.tune or len(settings) > 1 else None
    model = learner.build(**(found.best if found else settings[0]))
    n_folds = possible_folds(y, task.n_folds)
    validation = learner.validate(model, n_folds) if n_folds else None
    seconds, warned = learner.fit(model)
    notes = (*_label_notes(task, has_label), *_fold_notes(task, n_folds), *warned)
    return Trained(model, columns, _class_counts(y), validation, found, seconds, notes)


class _Learner:
    """One table's rows, and the steps of learning from them, each telling how far it is."""

    def __init__(
        self,
        task: Task,
        columns: tuple[Column, ...],
        X: pd.DataFrame,
        y: np.ndarray,
        progress: Progress,
    ):
        self.task, self.columns, self.X, self.y, self.progress = task, columns, X, y, progress

    def build(self, **found: Any) -> Pipeline:
        task = self.task
        parameters = {**task.parameters, **found}
        return table_classifier(
            self.columns, len(self.y), task.hidden, task.readout, task.seed, **parameters
        )

    def candidates(self) -> list[Settings]:
        """Return the settings to choose from: sizes that fit, times a grid if it shall be tuned."""
        task = self.task
        sizes: list[Settings] = [{}]
        if task.sizes is not None:
            n_features = self.build()["columns"].fit(self.X).n_features_out_
            sizes = task.sizes(n_features, len(np.unique(self.y)))
        if not task.tune:
            return sizes
        return [
            {**size, **rest}
            for size in sizes
            for rest in candidates(task.hidden, task.readout, {**task.parameters, **size})
        ]

    def search(self, settings: list[Settings]) -> Search:
        tick = self._ticks("tuning", n_ticks(settings, len(self.y)))
        with _caught_warnings():
            return search(self.build, settings, self.X, self.y, self.task.seed, tick)

    def validate(self, model: Pipeline, n_folds: int) -> Validation:
        tick = self._ticks("cross-validating", n_folds)
        with _caught_warnings():
            return cross_validate(model, self.X, self.y, n_folds, self.task.seed, tick)

    def fit(self, model: Pipeline) -> tuple[float, list[str]]:
        """Return the seconds it took, and what was warned of."""
        tick = self._ticks("training", 1)
        start = time.perf_counter()
        with _caught_warnings() as caught:
            model.fit(self.X, self.y)
        seconds = time.perf_counter() - start
        tick()
        return seconds, [str(warning.message) for warning in caught]

    def _ticks(self, activity: str, total: int) -> Tick:
        done = count()

        def tick() -> None:
            self.progress(activity, next(done), total)

        tick()
        return tick


@contextmanager
def _caught_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Yield the warnings of the block: of the folds nobody needs any, of the model some do."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def _check_parameters(task: Task) -> None:
    """Fit two rows: every parameter is looked at before a table is."""
    model = table_recipe(task.hidden, task.readout, task.seed, **task.parameters)
    try:
        with _caught_warnings():
            model.fit([[0.0], [1.0]], ["a", "b"])
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from None


def _check_classes(table: str, target: str, y: np.ndarray, marks: Counter[str]) -> None:
    n_classes = len(np.unique(y))
    if not len(y):
        raise InputError(f"{table} has no value in the target column {target!r}" + _on_marks(marks))
    if n_classes < 2:
        raise InputError(
            f"{table} has one class only in the column {target!r}: {str(y[0])!r}" + _on_marks(marks)
        )
    if max(map(len, y)) > LONGEST_LABEL:
        raise InputError(
            f"{table} has values of more than {LONGEST_LABEL} characters in the column {target!r}: "
            "that is text, not a class"
        )
    most = max(MOST_CLASSES_SHARE * len(y), FEW_CLASSES)
    if n_classes > min(most, MOST_NUMBERS if all(map(is_plain_number, y)) else most):
        raise InputError(
            f"{table} has {n_classes} different values in {len(y)} rows of the column {target!r}: "
            "that is a quantity or a name, not a class"
        )


def _on_marks(marks: Counter[str]) -> str:
    """Return the end of a sentence: how many rows have no label because of which texts."""
    if not marks:
        return ""
    texts = " and ".join(map(repr, sorted(marks)))
    are = "is" if len(marks) == 1 else "are"
    return f"; {_rows_have(marks.total())} no label because {texts} {are} read as missing"


def _class_counts(y: np.ndarray) -> dict[str, int]:
    classes, counts = np.unique(y, return_counts=True)
    by_class = dict(zip(classes.tolist(), counts.tolist(), strict=True))
    return {name: by_class[name] for name in in_order(by_class)}


def _label_notes(task: Task, has_label: np.ndarray) -> list[str]:
    n_without = int((~has_label).sum())
    return [f"left out: {_rows_have(n_without)} no {task.target!r}"] if n_without else []


def _rows_have(n_rows: int) -> str:
    return "1 row has" if n_rows == 1 else f"{n_rows} rows have"


def _fold_notes(task: Task, n_folds: int) -> list[str]:
    if n_folds == task.n_folds:
        return []
    if n_folds == 0:
        return ["not cross-validated: that takes two rows in each of two classes"]
    return [f"cross-validated in {n_folds} folds, not {task.n_folds}: the classes are small"]
