"""How predictions compare with known classes: counts of right and wrong, and their figures.

Without scikit-learn, which takes longer to import than most tables to evaluate.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.prediction import Predictor
from hyperlvq.tables.batches import Unseen, predict_batches
from hyperlvq.tables.cells import MISSING_MARKS, spelling_of
from hyperlvq.tables.columns import Column, listed, target_labels
from hyperlvq.tables.read import TableReader

CLASS_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
#: More values that are no class are those of another column.
MOST_UNKNOWN = 1000
#: Of more classes, only those that occur are shown; more than so many that occur are refused.
MOST_CLASSES, MOST_OCCURRING = 1000, 5000


@dataclass(frozen=True)
class Confusion:
    """Counts of rows by their class (down) and the class predicted (across)."""

    classes: tuple[str, ...]
    counts: np.ndarray

    @classmethod
    def of(cls, pairs: Mapping[tuple[str, str], int], classes: Sequence[str] = ()) -> "Confusion":
        """Return counts of pairs of a class and a predicted class; `classes` come first."""
        names = (*classes, *in_order({name for pair in pairs for name in pair} - {*classes}))
        index = {name: position for position, name in enumerate(names)}
        counts = np.zeros((len(names), len(names)), dtype=np.int64)
        for (true, predicted), count in pairs.items():
            counts[index[true], index[predicted]] = count
        return cls(names, counts)

    @property
    def n_rows(self) -> int:
        """The number of rows counted."""
        return int(self.counts.sum())

    @property
    def n_right(self) -> int:
        """The number of rows predicted right."""
        return int(np.trace(self.counts))

    @property
    def accuracy(self) -> float:
        """The share of rows predicted right."""
        return self.n_right / self.n_rows

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that occur."""
        n_rows = self.counts.sum(axis=1)
        return float(np.mean(np.diag(self.counts)[n_rows > 0] / n_rows[n_rows > 0]))

    @property
    def largest_share(self) -> float:
        """The accuracy of always guessing the most frequent class."""
        return float(self.counts.sum(axis=1).max() / self.counts.sum())

    def by_class(self) -> list[dict[str, Any]]:
        """Return the figures of every class; None where there is nothing to divide by."""
        figures = self.counts.diagonal(), self.counts.sum(axis=1), self.counts.sum(axis=0)
        return [
            {
                "class": name,
                "rows": n_rows,
                "precision": n_right / n_predicted if n_predicted else None,
                "recall": n_right / n_rows if n_rows else None,
            }
            for name, n_right, n_rows, n_predicted in zip(
                self.classes, *(each.tolist() for each in figures), strict=True
            )
        ]

    def mistakes(self) -> list[tuple[str, str, int]]:
        """Return (class, predicted class, count) of what went wrong, the most frequent first."""
        found = [
            (self.classes[i], self.classes[j], int(self.counts[i, j]))
            for i, j in np.argwhere(self.counts)
            if i != j
        ]
        return sorted(found, key=lambda mistake: -mistake[2])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"classes": list(self.classes), "counts": self.counts.tolist()}


@dataclass(frozen=True)
class Validation:
    """The accuracies of the folds, and all their predictions together.

    The log loss is None where there are no probabilities, or a fold did not learn some class.
    """

    accuracies: tuple[float, ...]
    confusion: Confusion
    log_loss: float | None = None

    @property
    def mean(self) -> float:
        """The mean accuracy of the folds."""
        return float(np.mean(self.accuracies))

    @property
    def spread(self) -> float:
        """The standard deviation of the folds' accuracies."""
        return float(np.std(self.accuracies, ddof=1))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        figures = {"accuracies": self.accuracies, "mean": self.mean, "spread": self.spread}
        return {**figures, "log_loss": self.log_loss, "confusion": self.confusion.to_dict()}


def in_order(classes: Iterable[str]) -> list[str]:
    """Return names of classes sorted: as numbers if all of them are."""
    names = sorted(classes)
    if all(CLASS_NUMBER.fullmatch(name) for name in names):
        names.sort(key=float)
    return names


def evaluate_table(
    model: Predictor,
    columns: Sequence[Column],
    reader: TableReader,
    target: str,
    strict: bool = False,
) -> tuple[Confusion, list[str]]:
    """Return how predictions compare with a table's target, and what is to be said about it."""
    known = in_order(map(str, model.classes))
    spelling, unseen = spelling_of(known), Unseen(model, columns, strict)
    unlabelled = {None, *MISSING_MARKS} - {*known}
    shown = known if len(known) <= MOST_CLASSES else []  # of very many, only those that occur
    pairs, n_without_label = Counter[tuple[str, str]](), 0
    unknown, occurring = set[str](), {*shown}
    for batch, decisions in predict_batches(model, columns, reader, unseen):
        y = target_labels(batch, target)
        has_label = np.array([label not in unlabelled for label in y])
        n_without_label += int((~has_label).sum())
        predicted = model.labels(decisions)[has_label].astype(str).tolist()
        true = [spelling(label) for label in y[has_label]]
        pairs.update(zip(true, predicted, strict=True))
        unknown |= {*true} - {*known}
        occurring |= {*true, *predicted}
        _check_few(reader.name, target, unknown, occurring)
    if not pairs:
        raise InputError(f"{reader.name} has no value in the target column {target!r}")
    if all(true in unknown for true, _ in pairs):
        raise InputError(
            f"{reader.name}, column {target!r}: none of its values is a class of the model: "
            f"{listed(in_order(unknown))}"
        )
    notes = unseen.notes
    if n_without_label:
        notes.append(f"rows left out because they have no class: {n_without_label}")
    if unknown:
        notes.append(f"classes unknown to the model: {', '.join(in_order(unknown))}")
    return Confusion.of(pairs, shown), notes


def _check_few(table: str, target: str, unknown: set[str], occurring: set[str]) -> None:
    """Refuse so many values that a matrix of them would fill the memory."""
    if len(unknown) > MOST_UNKNOWN:
        raise InputError(
            f"{table}, column {target!r}: more than {MOST_UNKNOWN} values are not classes of the "
            f"model: {listed(in_order(unknown))}"
        )
    if len(occurring) > MOST_OCCURRING:
        raise InputError(
            f"{table}: more than {MOST_OCCURRING} distinct classes, too many to compare"
        )
