"""Predictions in batches, and as files."""

from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline
from small_tables import train_table

from hyperlvq import FrameVectorizer, HyperLVQClassifier
from hyperlvq.checks import InputError
from hyperlvq.prediction import Predictor
from hyperlvq.saving import to_parts
from hyperlvq.tables import batches as module
from hyperlvq.tables.batches import (
    Unseen,
    batches,
    check_output,
    margins_of,
    open_output,
    predict_batches,
    prediction_table,
)
from hyperlvq.tables.columns import Column, Kind, to_arrays
from hyperlvq.tables.read import Table, TableForm, open_table
from hyperlvq.tables.training import Task

ROWS = pa.table({"a": ["1", None], "y": ["u", "v"], "margin": ["x", "y"]})
TABLE = Table(TableForm("t.csv", ("a", "y", "margin")), ROWS)


@pytest.fixture
def model(signs):
    return signs("u", "v")


@pytest.fixture
def predicted(model):
    """Return a function from what is asked for to what is written of two rows of class v."""
    return partial(prediction_table, model, TABLE, np.array([0.5, 2.0]))


def test_batches_have_a_fixed_size_whatever_the_chunks(write, monkeypatch):
    monkeypatch.setattr(module, "BATCH_ROWS", 10)
    path = write("a\n" + "".join(f"{i}\n" for i in range(95)))
    with open_table(path, block_size=64) as reader:
        found = list(batches(reader))

    assert [len(batch.data) for batch in found] == [10] * 9 + [5]
    assert [batch.first_row for batch in found] == list(range(1, 96, 10))
    together = pa.concat_tables([batch.data for batch in found])
    assert together["a"].to_pylist() == [str(i) for i in range(95)]


def test_margins_are_the_lead_or_of_two_classes_the_distance_from_zero():
    np.testing.assert_array_equal(margins_of(np.array([[-1.0, -4.0, -2.0]])), [1.0])
    np.testing.assert_array_equal(margins_of(np.array([-2.0, 3.0])), [2.0, 3.0])


def test_what_a_model_refuses_is_one_sentence(write, model):
    columns = [Column("a", Kind.NUMBER)]
    with open_table(write("a\n1\nNA\n")) as reader, pytest.raises(InputError) as refused:
        list(predict_batches(model, columns, reader, Unseen(model, columns)))

    assert str(refused.value) == (
        "table.csv cannot be predicted: CentroidClassifier does not support missing "
        "or infinite values"
    )


@pytest.mark.parametrize(
    ("name", "kept", "columns"),
    [
        ("class", ["y", "a"], ["y", "a", "class", "margin"]),
        ("y", ["margin", "y"], ["margin", "y", "predicted_y", "predicted_margin"]),
        ("margin", ["y"], ["y", "margin", "predicted_margin"]),
    ],
)
def test_kept_columns_come_first_and_none_is_lost_to_a_prediction(predicted, name, kept, columns):
    table = predicted(name, kept, with_margins=True)

    assert table.column_names == columns
    assert table["y"].to_pylist() == ["u", "v"]


def test_probabilities_come_last_under_names_that_are_free(signs):
    model = signs("a", "\ud800")
    table = Table(TableForm("t.csv", ("p_a",)), pa.table({"p_a": ["1", "2"]}))

    found = prediction_table(model, table, np.array([-3.0, 2.0]), "y", ["p_a"], True, True)

    assert found.column_names == ["p_a", "y", "margin", "predicted_p_a", "p_\\ud800"]
    assert found["y"].to_pylist() == ["a", "\\ud800"]
    shares = found["predicted_p_a"].to_numpy(), found["p_\\ud800"].to_numpy()
    np.testing.assert_allclose(np.stack(shares, axis=1), model.probabilities(np.array([-3.0, 2])))


def test_tables_follow_one_another_under_one_header(predicted, tmp_path):
    table = predicted("y", ["a"], with_margins=True)
    with open_output(str(tmp_path / "p.csv")) as write:
        write(table)
        write(table)
    with open_output(str(tmp_path / "q.csv")) as write:
        write(pa.table({"sizes": [[1, 2], None], "y": ["u", "v"]}))

    assert (tmp_path / "p.csv").read_text() == "a,y,margin\n" + "1,v,0.5\n,v,2\n" * 2
    # cells of several values are written as Python shows them
    assert (tmp_path / "q.csv").read_text() == 'sizes,y\n"[1, 2]",u\n,v\n'


def test_gzip_of_the_same_rows_is_the_same_file(predicted, tmp_path):
    contents = []
    for name in ("p.csv.gz", "q.csv.gz"):
        with open_output(str(tmp_path / name)) as write:
            write(predicted("y", []))
        contents.append((tmp_path / name).read_bytes())

    assert contents[0] == contents[1]


def test_a_name_without_a_known_format_is_refused_and_devices_are_fine():
    for name in ("-", "p.csv", "p.TSV", "p.csv.gz", "p.parquet", "/dev/null"):
        check_output(name)
    for name in ("p.xlsx", "p", "p.gz", ""):
        with pytest.raises(InputError, match=r"must end in \.csv"):
            check_output(f"gone/{name}")


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        ("20,x\n50,z\n", None),
        ("19.9,x\n", "'age' is far outside the training range 30 to 40 in 1 row: 19.9"),
        ("50.1,x\n", "'age' is far outside the training range 30 to 40 in 1 row: 50.1"),
        (",x\n,x\n", "'age' is missing in 2 rows, but was never missing in training"),
        ("35,\n", "'kind' is missing in 1 row, but was never missing in training"),
        ("35,w\n35,w\n", "'kind' has a value not seen in training: w (2 rows)"),
        ("35,w\n35,v\n35,w\n", "'kind' has values not seen in training: w, v (3 rows)"),
    ],
)
def test_what_is_new_is_noted_by_column(read, rows, note):
    assert notes_of(read, rows) == ([note] if note else [])


@pytest.mark.parametrize("with_frames", [False, True])
def test_a_model_saved_in_python_knows_which_columns_always_had_a_value(read, with_frames, rng):
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=[*"abc"])
    frame.loc[0, "b"] = np.nan
    model = HyperLVQClassifier(1, n_units=10, random_state=0)
    if with_frames:
        model = make_pipeline(FrameVectorizer(), model)
    parts = to_parts(model.fit(frame, frame["a"] > 0)).parts
    columns = [Column(name, Kind.NUMBER) for name in frame]
    unseen = Unseen(Predictor(parts), columns)
    later = read("a,b,c\n1,,\n1,,\n")
    unseen.look_at(later, to_arrays(later, columns))

    assert unseen.notes == ["'c' is missing in 2 rows, but was never missing in training"]


def test_of_many_new_values_few_are_remembered(read, monkeypatch):
    monkeypatch.setattr(module, "MOST_VALUES", 2)

    (note,) = notes_of(read, "35,p\n35,q\n", "35,r\n")
    assert note == "'kind' has values not seen in training: p, q (3 rows)"


def notes_of(read, *parts):
    table = read("age,kind,y\n" + "30,x,u\n40,z,v\n" * 5)
    task = Task("y", ("intrvfl", "centroids"), {"n_units": 10}, n_folds=0)
    trained = train_table(table, task)
    columns = trained.about["columns"]
    unseen = Unseen(Predictor(trained.parts.parts), columns)
    for rows in parts:
        later = read(f"age,kind\n{rows}")
        unseen.look_at(later, to_arrays(later, columns))
    return unseen.notes
