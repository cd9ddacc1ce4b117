"""Counts of right and wrong, against scikit-learn's metrics, and over batches of a table."""

from collections import Counter

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    precision_score,
    recall_score,
)

from hyperlvq.checks import InputError
from hyperlvq.tables import batches, evaluation
from hyperlvq.tables.columns import Column, Kind
from hyperlvq.tables.evaluation import Confusion, Validation, evaluate_table, in_order
from hyperlvq.tables.read import open_table


def confusion_of(labels, predicted, classes=()):
    return Confusion.of(Counter(zip(labels, predicted, strict=True)), classes)


def test_figures_are_those_of_scikit_learn(rng):
    labels = rng.choice(["a", "b", "c"], 200), rng.choice(["a", "b", "c"], 200)

    confusion = confusion_of(*labels)

    assert confusion.counts.tolist() == confusion_matrix(*labels).tolist()
    assert confusion.accuracy == pytest.approx(accuracy_score(*labels))
    assert confusion.balanced_accuracy == pytest.approx(balanced_accuracy_score(*labels))
    for name, score in (("precision", precision_score), ("recall", recall_score)):
        found = [each[name] for each in confusion.by_class()]
        np.testing.assert_allclose(found, score(*labels, average=None))


def test_classes_are_sorted_as_numbers_if_all_are_and_come_behind_known_ones():
    assert in_order(["10", "9", "-1.5"]) == ["-1.5", "9", "10"]
    assert in_order(["10", "9", "b"]) == ["10", "9", "b"]
    assert confusion_of(["x"], ["a"], ["b", "a"]).classes == ("b", "a", "x")


def test_class_without_rows_or_predictions_has_no_share():
    confusion = confusion_of(["a", "a"], ["a", "b"], ["a", "b"])

    assert confusion.by_class() == [
        {"class": "a", "rows": 2, "precision": 1.0, "recall": 0.5},
        {"class": "b", "rows": 0, "precision": 0.0, "recall": None},
    ]
    assert confusion.balanced_accuracy == 0.5
    assert confusion.largest_share == 1  # of rows, not of predictions


def test_mistakes_are_named_by_frequency_and_folds_have_a_spread():
    confusion = confusion_of(["a", "b", "b", "b"], ["b", "a", "a", "b"])

    assert confusion.mistakes() == [("b", "a", 2), ("a", "b", 1)]
    assert Validation((0.8, 0.9, 1.0), confusion).spread == pytest.approx(0.1)


@pytest.fixture
def evaluate(write, signs):
    """Return a function that compares a table with what tells negative numbers from positive."""

    def evaluate(text, minus="minus", plus="plus"):
        with open_table(write(text), block_size=64) as reader:
            return evaluate_table(signs(minus, plus), [Column("a", Kind.NUMBER)], reader, "y")

    return evaluate


def test_evaluation_adds_up_over_batches(evaluate, monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", 2)

    confusion, notes = evaluate("a,y\n1,plus\n-1,minus\n2,minus\n3,\n4,zero\n5,one\n")

    assert confusion.classes == ("minus", "plus", "one", "zero")
    assert confusion.counts[:, :2].tolist() == [[1, 1], [0, 1], [0, 1], [0, 1]]
    assert notes == [
        "rows left out because they have no class: 1",
        "classes unknown to the model: one, zero",
    ]


def test_a_class_is_itself_before_it_is_another_spelling(evaluate):
    confusion, _ = evaluate("a,y\n-1,1\n1,1.0\n2,1.0\n", "1", "1.0")

    assert confusion.classes == ("1", "1.0")
    assert confusion.counts.tolist() == [[1, 0], [0, 2]]


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ("MOST_UNKNOWN", "more than 3 values are not classes of the model: n1, n2, n3, n4"),
        ("MOST_OCCURRING", "more than 3 distinct classes, too many to compare"),
    ],
)
def test_a_column_of_names_is_refused_before_it_fills_the_memory(
    evaluate, monkeypatch, limit, sentence
):
    monkeypatch.setattr(evaluation, limit, 3)

    with pytest.raises(InputError, match=sentence):
        evaluate("a,y\n1,plus\n2,n1\n3,n2\n4,n3\n5,n4\n")


def test_of_very_many_classes_only_those_that_occur_are_compared(evaluate, monkeypatch):
    monkeypatch.setattr(evaluation, "MOST_CLASSES", 1)

    assert evaluate("a,y\n1,plus\n")[0].classes == ("plus",)
    with pytest.raises(InputError, match=r"is a class of the model: other$"):
        evaluate("a,y\n1,other\n")
