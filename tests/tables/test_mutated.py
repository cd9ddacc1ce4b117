"""Mutated tables: each row is described and predicted, or one sentence refuses the table."""

import gzip
import io
import re

import pandas as pd
import pytest
from fuzzing import fuzz, mutated, read_or_refused
from hypothesis import given
from hypothesis import strategies as st
from small_tables import train_table

from hyperlvq.prediction import Predictor
from hyperlvq.tables.batches import Unseen, predict_batches
from hyperlvq.tables.columns import target_labels
from hyperlvq.tables.describe import describe_columns
from hyperlvq.tables.read import open_table, read_table
from hyperlvq.tables.training import Task, to_frame

POINTS = "Bob,1.5,2020-01-31,True,u\nÉva,3000,1999-12-1 10:30,False,v\nNA,-2,,True,u\n"
COMMAS = "Bob;1,5;31.1.2020;yes;u\nÉva;3.000,5;1.12.99 10:30;no;v\n;-;;yes;u\n"
TABLES = [
    ("name,size,when,kind,y\n" + 3 * POINTS).encode(),
    ("name;size;when;kind;y\n" + 3 * COMMAS).encode(),
]
STORED = io.BytesIO()
pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [[1], []]}).to_parquet(STORED)
OTHERS = [
    b'a,b\n1,"x, y"\n2,"two\nlines"\n3,"so ""called"""\n4,5" pipe\n',
    COMMAS.encode("cp1252"),
    "x\ty\n1\t2\n3\t4\n".encode("utf-16"),
    gzip.compress(b"a|b|\n1|2|\n3|4|\n"),
    STORED.getvalue(),
    b"",
]
PIECES = st.sampled_from(
    [
        *(b",", b";", b"\n", b"\r", b"\r\n", b"\n\n", b"\0", b"\xff", b"\xe9", b"\xa0", b'"', b" "),
        *(b"inf", b"NA", b"\x1e", b"1e999", b"-", b"\xe2\x88\x92", b"$ 1", b"5%", b"1.234", b"0,5"),
        *(b"TRUE", b"0", b"name", b"size,", b"0000-01-01", b"-02-30", b":59", b" pm", b"sep=;\n"),
    ]
)


def twice_mutated(tables):
    return st.sampled_from(tables).flatmap(
        lambda content: mutated(content, PIECES).flatmap(lambda each: mutated(each, PIECES))
    )


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Return a model of each table, with its columns."""
    path, found = tmp_path_factory.mktemp("mutated") / "t.csv", []
    for content in TABLES:
        path.write_bytes(content)
        task = Task("y", ("intrvfl", "centroids"), {"n_units": 10}, n_folds=0)
        trained = train_table(read_table(path), task)
        found.append((Predictor(trained.parts.parts), trained.about["columns"]))
    return path, found


def n_predicted(path, model, columns):
    """Return how many rows of a table are predicted."""
    with open_table(path) as reader:
        unseen = Unseen(model, columns)
        n_rows = sum(len(found) for _, found in predict_batches(model, columns, reader, unseen))
    assert not any("\n" in note for note in unseen.notes)
    return n_rows


def n_lines(content):
    """Return how many lines of a table without quotes are rows."""
    try:
        text = content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        text = content.decode("cp1252")
    return sum(bool(line.strip()) for line in re.split(r"\r\n|\r|\n", text)) - 1


@fuzz(600)
@given(st.sampled_from([0, 1]), twice_mutated(TABLES))
def test_every_row_of_a_mutated_table_is_predicted_or_the_table_is_refused(models, which, content):
    path, found = models
    path.write_bytes(content)

    n_rows, sentence = read_or_refused(n_predicted, path, *found[which])

    if sentence is None and b'"' not in content:
        assert n_rows == n_lines(content)
    assert sentence is None or "\n" not in sentence


def check_described(path):
    """Describe a table, of which any number of columns may be used."""
    table = read_table(path)
    target = table.form.columns[-1]
    frame, labels = to_frame(table, describe_columns(table, target)), target_labels(table, target)
    assert len(frame) == len(labels) == len(table.data) > 0


@fuzz(400)
@given(twice_mutated(TABLES + OTHERS))
def test_a_mutated_table_is_described_or_refused(models, content):
    path, _ = models
    path.write_bytes(content)

    _, sentence = read_or_refused(check_described, path)

    assert sentence is None or "\n" not in sentence
