"""Predictions in batches, and their comparison with known classes."""

import numpy as np
import pyarrow as pa
import pytest

from hyperlvq.checks import InputError
from hyperlvq.tables import prediction
from hyperlvq.tables.columns import Column, Kind
from hyperlvq.tables.prediction import batches, evaluate, margins_of, predict
from hyperlvq.tables.read import open_table


class SignModel:
    """Tell negative numbers from others."""

    classes_ = np.array(["minus", "plus"])

    def predict(self, frame):
        if frame["a"].isna().any():
            raise ValueError("Input contains NaN.\nSee the manual.")
        return np.where(frame["a"] < 0, "minus", "plus")


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
        list(predict(SignModel(), COLUMNS, reader))

    assert str(refused.value).endswith("t.csv: the model refuses it: Input contains NaN.")


def test_a_model_without_scores_has_no_margins(table):
    with (
        table("a\n1\n2\n") as reader,
        pytest.raises(InputError, match="a SignModel has no scores to take margins of"),
    ):
        list(predict(SignModel(), COLUMNS, reader, with_margins=True))


def test_evaluation_adds_up_over_batches(table, monkeypatch):
    monkeypatch.setattr(prediction, "BATCH_ROWS", 2)
    with table("a,y\n1,plus\n-1,minus\n2,minus\n3,\n4,zero\n") as reader:
        found = evaluate(SignModel(), COLUMNS, reader, "y")

    assert found.confusion.classes == ("minus", "plus", "zero")
    assert found.confusion.counts.tolist() == [[1, 1, 0], [0, 1, 0], [0, 1, 0]]
    assert found.notes == (
        "rows without a class, left out: 1",
        "classes that the model does not know: zero",
    )


class TwoSpellings:
    """A classifier of a table that has both 1 and 1.0 as classes."""

    classes_ = np.array(["1", "1.0"])

    def predict(self, frame):
        return np.where(frame["a"] < 0, "1", "1.0")


def test_a_class_is_itself_before_it_is_another_spelling(table):
    with table("a,y\n-1,1\n1,1.0\n2,1.0\n") as reader:
        found = evaluate(TwoSpellings(), COLUMNS, reader, "y")

    assert found.confusion.classes == ("1", "1.0")
    assert found.confusion.counts.tolist() == [[1, 0], [0, 2]]


def test_a_column_of_names_is_refused_before_it_fills_the_memory(table, monkeypatch):
    monkeypatch.setattr(prediction, "MOST_UNKNOWN", 3)
    with (
        table("a,y\n1,plus\n2,n1\n3,n2\n4,n3\n5,n4\n") as reader,
        pytest.raises(InputError, match="more than 3 of its values are no class of the model: n1"),
    ):
        evaluate(SignModel(), COLUMNS, reader, "y")
