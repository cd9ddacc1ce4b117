"""Predictions in batches, and their comparison with known classes."""

import numpy as np
import pyarrow as pa
import pytest

from hyperlvq import CentroidClassifier
from hyperlvq.checks import InputError
from hyperlvq.prediction import Predictor
from hyperlvq.saving import to_parts
from hyperlvq.tables import prediction
from hyperlvq.tables.columns import Column, Kind
from hyperlvq.tables.prediction import batches, evaluate, margins_of, predict
from hyperlvq.tables.read import open_table


def sign_model(minus="minus", plus="plus"):
    """Return what tells negative numbers from positive ones."""
    return Predictor(to_parts(CentroidClassifier().fit([[-1.0], [1.0]], [minus, plus])).parts)


@pytest.fixture
def table(tmp_path):
    def write(text):
        (tmp_path / "t.csv").write_text(text)
        return open_table(tmp_path / "t.csv", block_size=64)

    return write


COLUMNS = [Column("a", Kind.NUMBER)]


def test_batches_have_a_fixed_size_whatever_the_chunks(table, monkeypatch):
    monkeypatch.setattr(prediction, "BATCH_ROWS", 10)
    with table("a\n" + "".join(f"{i}\n" for i in range(95))) as reader:
        found = list(batches(reader))

    assert [len(batch.data) for batch in found] == [10] * 9 + [5]
    assert [batch.first_row for batch in found] == list(range(1, 96, 10))
    together = pa.concat_tables([batch.data for batch in found])
    assert together["a"].to_pylist() == [str(i) for i in range(95)]


def test_two_classes_have_the_distance_from_zero_as_margin():
    np.testing.assert_array_equal(margins_of(np.array([-2.0, 3.0])), [2.0, 3.0])


def test_what_a_model_refuses_is_one_sentence(table):
    with table("a\n1\nNA\n") as reader, pytest.raises(InputError) as refused:
        list(predict(sign_model(), COLUMNS, reader))

    assert str(refused.value).endswith(
        "t.csv: the model refuses it: CentroidClassifier takes no missing values, nor infinite ones"
    )


def test_evaluation_adds_up_over_batches(table, monkeypatch):
    monkeypatch.setattr(prediction, "BATCH_ROWS", 2)
    with table("a,y\n1,plus\n-1,minus\n2,minus\n3,\n4,zero\n") as reader:
        found = evaluate(sign_model(), COLUMNS, reader, "y")

    assert found.confusion.classes == ("minus", "plus", "zero")
    assert found.confusion.counts.tolist() == [[1, 1, 0], [0, 1, 0], [0, 1, 0]]
    assert found.notes == (
        "rows without a class, left out: 1",
        "classes that the model does not know: zero",
    )


def test_a_class_is_itself_before_it_is_another_spelling(table):
    with table("a,y\n-1,1\n1,1.0\n2,1.0\n") as reader:
        found = evaluate(sign_model("1", "1.0"), COLUMNS, reader, "y")

    assert found.confusion.classes == ("1", "1.0")
    assert found.confusion.counts.tolist() == [[1, 0], [0, 2]]


def test_a_column_of_names_is_refused_before_it_fills_the_memory(table, monkeypatch):
    monkeypatch.setattr(prediction, "MOST_UNKNOWN", 3)
    with (
        table("a,y\n1,plus\n2,n1\n3,n2\n4,n3\n5,n4\n") as reader,
        pytest.raises(InputError, match="more than 3 of its values are no class of the model: n1"),
    ):
        evaluate(sign_model(), COLUMNS, reader, "y")
