"""Counts of right and wrong, against scikit-learn's metrics."""

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    precision_score,
    recall_score,
)

from hyperlvq.tables.confusion import Confusion


@pytest.fixture
def labels(rng):
    return rng.choice(["a", "b", "c"], 200), rng.choice(["a", "b", "c"], 200)


def test_figures_are_those_of_scikit_learn(labels):
    confusion = Confusion.of(*labels)

    assert confusion.counts.tolist() == confusion_matrix(*labels).tolist()
    assert confusion.accuracy == pytest.approx(accuracy_score(*labels))
    assert confusion.balanced_accuracy == pytest.approx(balanced_accuracy_score(*labels))
    np.testing.assert_allclose(confusion.precision, precision_score(*labels, average=None))
    np.testing.assert_allclose(confusion.recall, recall_score(*labels, average=None))


def test_parts_add_up_to_the_whole(labels):
    y, predicted = labels
    parts = [Confusion.of(y[rows], predicted[rows]) for rows in (slice(90), slice(90, None))]

    whole = parts[0] + parts[1]

    assert whole.counts.tolist() == Confusion.of(y, predicted).counts.tolist()


def test_classes_of_both_parts_are_in_the_sum():
    whole = Confusion.of(["a"], ["b"]) + Confusion.of(["c"], ["a"])

    assert whole.classes == ("a", "b", "c")
    assert whole.counts.tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]


def test_known_classes_come_first_in_their_order():
    assert Confusion.of(["x"], ["a"], ["b", "a"]).classes == ("b", "a", "x")


def test_class_without_rows_or_predictions_has_no_share():
    by_class = Confusion.of(["a", "a"], ["a", "b"], ["a", "b"]).by_class()

    assert by_class == [
        {"class": "a", "rows": 2, "precision": 1.0, "recall": 0.5},
        {"class": "b", "rows": 0, "precision": 0.0, "recall": None},
    ]


def test_mistakes_are_named_by_frequency():
    confusion = Confusion.of(["a", "b", "b", "b"], ["b", "a", "a", "b"])

    assert confusion.mistakes() == [("b", "a", 2), ("a", "b", 1)]


def test_plain_values_come_back(labels):
    confusion = Confusion.of(*labels)

    back = Confusion.from_dict(confusion.to_dict())

    assert back.classes == confusion.classes
    assert back.counts.tolist() == confusion.counts.tolist()
