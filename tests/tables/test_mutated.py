"""Mutated tables: each row is predicted, or one sentence refuses the table."""

import re

import pytest
from fuzzing import fuzz, mutated, read_or_refused
from hypothesis import given
from hypothesis import strategies as st
from small_tables import train_table

from hyperlvq.prediction import Predictor
from hyperlvq.tables.batches import Unseen, predict_batches
from hyperlvq.tables.read import open_table, read_table
from hyperlvq.tables.training import Task

POINTS = "Bob,1.5,2020-01-31,True,u\nÉva,3000,1999-12-1 10:30,False,v\nNA,-2,,True,u\n"
COMMAS = "Bob;1,5;31.1.2020;yes;u\nÉva;3.000,5;1.12.99 10:30;no;v\n;-;;yes;u\n"
TABLES = [
    ("name,size,when,kind,y\n" + 3 * POINTS).encode(),
    ("name;size;when;kind;y\n" + 3 * COMMAS).encode(),
]
PIECES = st.sampled_from(
    [
        *(b",", b";", b"\n", b"\r", b"\r\n", b"\n\n", b"\0", b"\xff", b"\xe9", b"\xa0", b'"', b" "),
        *(b"inf", b"NA", b"\x1e", b"1e999", b"-", b"\xe2\x88\x92", b"$ 1", b"5%", b"1.234", b"0,5"),
        *(b"TRUE", b"0", b"name", b"size,", b"0000-01-01", b"-02-30", b":59", b" pm"),
    ]
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


MUTATED = st.sampled_from(TABLES).flatmap(lambda content: mutated(content, PIECES))


@fuzz(600)
@given(st.sampled_from([0, 1]), MUTATED.flatmap(lambda content: mutated(content, PIECES)))
def test_every_row_of_a_mutated_table_is_predicted_or_the_table_is_refused(models, which, content):
    path, found = models
    path.write_bytes(content)

    n_rows, sentence = read_or_refused(n_predicted, path, *found[which])

    if sentence is None and b'"' not in content:
        assert n_rows == n_lines(content)
    assert sentence is None or "\n" not in sentence
