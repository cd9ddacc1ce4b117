import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from small_tables import refusal

from hyperlvq.checks import InputError
from hyperlvq.tables.columns import Column, Kind, target_labels
from hyperlvq.tables.dates import CLOCK
from hyperlvq.tables.read import Table, TableForm, open_table
from hyperlvq.tables.training import to_frame

DAY = datetime.datetime(2020, 1, 2)
NUMBER, TEXT = Column("x", Kind.NUMBER), Column("x", Kind.TEXT)


def parquet(values, kind=None):
    """Return a table as from Parquet, with one column x."""
    return Table(TableForm("table.parquet", ("x",)), pa.table({"x": pa.array(values, kind)}))


def test_frame_has_the_described_columns_in_their_order(read):
    columns = [Column("b", Kind.TEXT), Column("c", Kind.DROPPED), Column("a", Kind.NUMBER)]

    frame = to_frame(read("z,a,c,b\n1,2,3,u\n4,?,6,\n"), columns)

    expected = pd.DataFrame({"b": ["u", np.nan], "a": [2.0, np.nan]}).astype({"b": object})
    pd.testing.assert_frame_equal(frame, expected, check_index_type=False)
    assert to_frame(read("x,y\n,1\nNA,2\n"), [NUMBER])["x"].isna().all()
    assert to_frame(read("a,b\n1,2\n3,4\n"), []).shape == (2, 0)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("x,y\n1,2\nabc,2\n", "table.csv, row 8, column 'x': 'abc' is not a number"),
        ("x,y\n1,2\ninf,2\n", "table.csv, row 8, column 'x': 'inf' is not a finite number"),
        ("x,y\n0.5,2\n$ 1,2\n", "table.csv, row 8, column 'x': '$ 1' is not a number"),
    ],
)
def test_unexpected_values_are_refused_by_row(read, content, sentence):
    table = read(content)

    assert refusal(to_frame, Table(table.form, table.data, first_row=7), [NUMBER]) == sentence


def test_first_decimal_mark_of_a_stream_decides(write):
    content = "x;y\n" + "1;2\n" * 30 + "1,5;2\n" * 31 + "2.5;2\n"
    reader = open_table(write(content), block_size=40)
    assert reader.decimal is None

    with reader, pytest.raises(InputError) as error:
        _ = [to_frame(chunk, [NUMBER]) for chunk in reader.chunks()]

    assert reader.decimal == ","
    assert str(error.value) == (
        "table.csv, row 62, column 'x': '2.5' is not a number with a decimal comma, as in the "
        "other cells"
    )


LEARNT = {
    "decimal commas": Column("x", Kind.NUMBER, decimal=","),
    "thousands": Column("x", Kind.NUMBER, decimal=",", grouping="."),
    "percent": Column("x", Kind.NUMBER, decimal=".", unit="%"),
}


@pytest.mark.parametrize(
    ("learnt", "cell", "found"),
    [
        ("thousands", "8.654", 8654.0),
        ("thousands", "0,5", 0.5),
        ("thousands", "1 234", 1234.0),
        ("thousands", "0.5", "'0.5' is not a number as in training, for example 1.234,5"),
        ("decimal commas", "8,654", 8.654),
        ("decimal commas", "8.654", "'8.654' is not a number as in training, for example 1234,5"),
        ("decimal commas", "abc", "'abc' is not a number"),
        ("percent", "5 %", 5.0),
        ("percent", "5", "'5' is not a number as in training, for example 1234.5%"),
    ],
)
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_numbers_mean_what_they_meant_in_training(read, learnt, cell, found, delimiter):
    table = read(f'x{delimiter}y\n"{cell}"{delimiter}1\n')

    if isinstance(found, float):
        assert to_frame(table, [LEARNT[learnt]])["x"].tolist() == [found]
    else:
        sentence = refusal(to_frame, table, [LEARNT[learnt]])
        assert sentence == f"table.csv, row 1, column 'x': {found}"


@pytest.mark.parametrize(
    ("values", "kind", "column", "sentence"),
    [
        ([True], pa.bool_(), NUMBER, "expected numbers, got type bool"),
        ([DAY], pa.timestamp("us"), NUMBER, "expected numbers, got type timestamp[us]"),
        (
            ["1", "abc"],
            pa.string(),
            NUMBER,
            "expected numbers, got type string: 'abc' in row 2 is not",
        ),
        ([[1]], pa.list_(pa.int8()), TEXT, "expected text, got type list<element: int8>"),
    ],
)
def test_another_type_than_expected_is_named(values, kind, column, sentence):
    found = refusal(to_frame, parquet(values, kind), [column]).replace("item", "element")

    assert f"table.parquet, column 'x': {sentence}" in found


@pytest.mark.parametrize(
    ("values", "kind", "text"),
    [
        ([1, 2], pa.int64(), ["1", "2"]),
        ([1.0, 2.5, -0.0, 1e15], pa.float64(), ["1", "2.5", "0", "1000000000000000"]),
        ([0.1, 3], pa.float32(), ["0.1", "3"]),
        ([decimal.Decimal("1.50"), decimal.Decimal(20)], pa.decimal128(9, 2), ["1.5", "20"]),
        ([decimal.Decimal(100)], pa.decimal128(9, 0), ["100"]),
        ([True, False], pa.bool_(), ["True", "False"]),
        ([DAY.date()], pa.date32(), ["2020-01-02"]),
        ([" u ", "v", ""], pa.string(), ["u", "v", None]),
        ([1.0, float("nan")], pa.float64(), ["1", None]),
    ],
)
def test_text_of_stored_values(values, kind, text):
    table = parquet([*values, None], kind)

    assert target_labels(table, "x").tolist() == [*text, None]
    frame = to_frame(table, [TEXT])["x"]
    assert frame.where(frame.notna(), None).tolist() == [*text, None]


def test_labels_are_text_as_in_the_file(read):
    table = read("y,x\n01,1\n1.0,2\n ü,3\n?,4\nNone,5\n ,6\n")

    found = target_labels(table, "y")

    assert found.dtype == object
    assert found.tolist() == ["01", "1.0", "ü", "?", "None", None]
    with pytest.raises(InputError, match=r"has no column 'Y' \(did you mean 'y'\?\)"):
        target_labels(table, "Y")


@pytest.mark.parametrize(
    ("days", "shown"),
    [(0, "00:00:00"), (0.5, "12:00:00"), (1, "1970-01-02"), (1.5, "1970-01-02 12:00:00")],
)
def test_times_are_shown_without_a_day_unless_they_have_one(days, shown):
    column = Column("at", Kind.DATE, date_form=CLOCK)

    assert column.shown(days) == shown
