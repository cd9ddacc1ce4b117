"""How often each class was taken for each, and the figures that follow from it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True)
class Confusion:
    """Counts of rows by their class (down) and the class predicted (across).

    Examples
    --------
    >>> from hyperlvq.tables.confusion import Confusion
    >>> confusion = Confusion.of(["a", "a", "b"], ["a", "b", "b"])
    >>> confusion.counts.tolist(), round(confusion.accuracy, 2), confusion.balanced_accuracy
    ([[1, 1], [0, 1]], 0.67, 0.75)
    """

    classes: tuple[str, ...]
    counts: np.ndarray

    @classmethod
    def of(
        cls, labels: Sequence[str], predicted: Sequence[str], classes: Sequence[str] = ()
    ) -> "Confusion":
        """Count; `classes` come first, in their order, then any others that occur."""
        others = in_order({*labels, *predicted} - {*classes})
        names = (*classes, *others)
        index = {name: position for position, name in enumerate(names)}
        counts = np.zeros((len(names), len(names)), dtype=np.int64)
        rows = [index[label] for label in labels]
        np.add.at(counts, (rows, [index[label] for label in predicted]), 1)
        return cls(names, counts)

    def __add__(self, other: "Confusion") -> "Confusion":
        """Return the sum, over the classes of both."""
        known = {*self.classes}
        names = (*self.classes, *(name for name in other.classes if name not in known))
        counts = np.zeros((len(names), len(names)), dtype=np.int64)
        places = {name: place for place, name in enumerate(names)}
        for part in (self, other):
            where = [places[name] for name in part.classes]
            counts[np.ix_(where, where)] += part.counts
        return Confusion(names, counts)

    @property
    def n_rows(self) -> int:
        """Return the number of rows counted."""
        return int(self.counts.sum())

    @property
    def n_right(self) -> int:
        """Return the number of rows predicted right."""
        return int(np.trace(self.counts))

    @property
    def accuracy(self) -> float:
        """Return the share of rows predicted right."""
        return self.n_right / self.n_rows

    @property
    def balanced_accuracy(self) -> float:
        """Return the mean recall of the classes that occur."""
        return float(np.nanmean(self.recall))

    @property
    def recall(self) -> np.ndarray:
        """Return by class the share of its rows that were found; NaN where it has none."""
        return _shares(np.diag(self.counts), self.counts.sum(axis=1))

    @property
    def precision(self) -> np.ndarray:
        """Return by class the share of its predictions that were right; NaN where it has none."""
        return _shares(np.diag(self.counts), self.counts.sum(axis=0))

    @property
    def largest_share(self) -> float:
        """Return the accuracy of always guessing the most frequent class."""
        return float(self.counts.sum(axis=1).max() / self.counts.sum())

    def by_class(self) -> list[dict[str, Any]]:
        """Return the figures of every class; None where there is nothing to divide by."""
        columns = self.classes, self.counts.sum(axis=1), self.precision, self.recall
        return [
            {
                "class": name,
                "rows": int(rows),
                "precision": None if np.isnan(precision) else float(precision),
                "recall": None if np.isnan(recall) else float(recall),
            }
            for name, rows, precision, recall in zip(*columns, strict=True)
        ]

    def mistakes(self) -> list[tuple[str, str, int]]:
        """Return (class, predicted class, count) of what went wrong, the most frequent first."""
        wrong = np.argwhere(self.counts * (1 - np.eye(len(self.classes), dtype=np.int64)))
        found = [(self.classes[i], self.classes[j], int(self.counts[i, j])) for i, j in wrong]
        return sorted(found, key=lambda mistake: -mistake[2])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"classes": list(self.classes), "counts": self.counts.tolist()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Confusion":
        """Return what `to_dict` made plain."""
        return cls(tuple(values["classes"]), np.array(values["counts"], dtype=np.int64))


@dataclass(frozen=True)
class Validation:
    """The accuracies of the folds, and all their predictions together."""

    accuracies: tuple[float, ...]
    confusion: Confusion

    @property
    def mean(self) -> float:
        """Return the mean accuracy of the folds."""
        return float(np.mean(self.accuracies))

    @property
    def spread(self) -> float:
        """Return the standard deviation of the folds' accuracies."""
        return float(np.std(self.accuracies, ddof=1))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "accuracies": list(self.accuracies),
            "mean": self.mean,
            "spread": self.spread,
            "confusion": self.confusion.to_dict(),
        }


def in_order(classes: Iterable[str]) -> list[str]:
    """Return names of classes sorted: as numbers if all of them are.

    Examples
    --------
    >>> from hyperlvq.tables.confusion import in_order
    >>> in_order(["10", "9", "-1.5"]), in_order(["10", "9", "b"])
    (['-1.5', '9', '10'], ['10', '9', 'b'])
    """
    names = sorted(classes)
    if all(NUMBER.fullmatch(name) for name in names):
        names.sort(key=float)
    return names


def _shares(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
