import datetime
import decimal
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from hyperlvq.checks import InputError
from hyperlvq.tables import rules
from hyperlvq.tables.columns import Column, Kind, describe_columns, labels, to_frame
from hyperlvq.tables.read import Table, open_table

DAY = datetime.datetime(2020, 1, 2)


def csv(delimiter=",", **columns):
    """Return a table in CSV with these columns, and a label."""
    columns["label"] = ["a", "b"] * (len(next(iter(columns.values()))) // 2 + 1)
    rows = zip(*columns.values(), strict=False)
    return "\n".join(delimiter.join(map(str, row)) for row in [columns, *rows])


def parquet(values, kind=None):
    """Return a table as from Parquet, with one column x, and a label."""
    names = ["a", "b"] * len(values)
    data = pa.table({"x": pa.array(values, kind), "label": names[: len(values)]})
    return Table("table.parquet", ("x", "label"), data)


def described(table, **asked):
    """Return the first column of the table as it is described."""
    return describe_columns(table, "label", **asked)[0]


def left_out(read, values, name="x"):
    """Return the reason why a column is left out, next to one of numbers."""
    text = csv(**{name: values, "other": [0.5 * i * i for i in range(len(values))]})
    return describe_columns(read(text), "label")[0].reason


def test_numbers_have_a_range(read):
    column = described(read(csv(x=["3", "NA", "-1.5", "1e1"])))

    assert column == Column("x", Kind.NUMBER, n_missing=1, minimum=-1.5, maximum=10.0)


def test_text_has_levels_the_most_frequent_first(read):
    column = described(read(csv(x=["b", "a", "b", "", "c", "a", "b"])))

    assert column.kind is Kind.TEXT
    assert (column.levels, column.n_levels, column.n_missing) == (("b", "a", "c"), 3, 1)


def test_at_most_100_levels_are_kept(read):
    column = described(read(csv(x=[f"level{i % 150}" for i in range(450)])))

    assert column.n_levels == 150
    assert len(column.levels) == 100


def test_target_is_not_described(read):
    table = read("a,y,b\n1,u,2\n2,v,4\n")

    assert [column.name for column in describe_columns(table, " y ")] == ["a", "b"]


@pytest.mark.parametrize("words", [["true", "false"], ["yes", "no"], ["T", "F"]])
def test_truth_words_are_levels(read, words):
    assert described(read(csv(x=words * 2))).levels == tuple(sorted(words))


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["007", "012", "034"], "text because of leading zeros, as in '007'"),
        (["1", "2", "abc", "4"], "text because of 'abc' in row 3; 75 % are numbers"),
        (["1", "x" * 50, "3"], f"text because of '{'x' * 40}…' in row 2; 66 % are numbers"),
        (["1", "x", "y"], None),
        (["1_000", "2_000"], None),
    ],
)
def test_text_of_digits_says_why(read, cells, note):
    column = described(read(csv(x=cells)))

    assert column.kind is Kind.TEXT
    assert column.note == note


def test_single_leading_zero_makes_no_code(read):
    assert described(read(csv(x=["01", "12", "23"]))).kind is Kind.NUMBER


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (["2020-01-02", "1999-12-31"], "dates"),
        (["2020-01-02T10:00:00Z", "1999-12-31 23:59"], "dates"),
        (["3/4/2020", "", "12/31/99"], "dates"),
        (["3.4.2020", "31.12.99"], "dates"),
        (["1 Jan 2020", "03-Feb-21"], "dates"),
        (["10:30", "23:59:59"], "dates"),
        (["x", "x"], "always the same"),
        (["1", "1.0"], "always the same"),
        (["", "NA"], "empty"),
        ([f"u{i}" for i in range(20)], "an identifier"),
        (["u1", *(f"u{i}" for i in range(20))], "an identifier"),
        ([f"the customer said {i} words" for i in range(20)], "free text"),
        ([f"v{i}" for i in range(120)] * 2 + ["v1"], None),
        ([f"v{i}" for i in range(120)] + ["v1"] * 50, "too many different values"),
        ([f"{i}.5" for i in range(30)] + ["n.d."], "text among numbers"),
        (range(7, 27), "an identifier"),
        (range(1, 6), "an identifier"),
        ([1, 2, 3, 4], None),
        ([5, 4, 3, 2, 1], None),
        ([1, 2, 3, 4, "", 6], None),
        (["x", "", "x"], None),
        ([f"u{i}" for i in range(19)], None),
        (["2020-01-02", "soon"], None),
    ],
)
def test_column_is_left_out_for_a_reason(read, values, reason):
    assert left_out(read, values) == reason


@pytest.mark.parametrize(
    "name", ["id", "ID", "customer_id", "customerId", "index", "key", "nr", "no", "row", "uuid"]
)
def test_distinct_integers_called_so_are_an_identifier(read, name):
    assert left_out(read, [10, 30, 20], name) == "an identifier"
    assert left_out(read, [10, 30, 10], name) is None
    assert left_out(read, [1.5, 3, 2], name) is None


@pytest.mark.parametrize("name", ["idea", "nose", "width", "monkey", "arrow"])
def test_other_names_say_nothing(read, name):
    assert left_out(read, [10, 30, 20], name) is None


def test_row_names_are_left_out(read):
    columns = describe_columns(read("x,label\nMazda,1,a\nMazda RX,3,b\n"), "label")

    assert [(column.name, column.reason) for column in columns] == [
        ("(row name)", "an identifier"),
        ("x", None),
    ]


def test_counting_numbers_are_used_where_nothing_else_is_left(read):
    assert described(read(csv(x=range(1, 21)))).kind is Kind.NUMBER


@pytest.mark.parametrize(
    ("columns", "reasons"),
    [
        ({"age": [3] * 6, "id": range(6)}, "age (always the same), id (an identifier)"),
        ({"when": ["2020-01-02"] * 2, "x": ["", ""]}, "when (dates), x (empty)"),
    ],
)
def test_nothing_to_learn_from_is_refused(read, columns, reasons):
    with pytest.raises(InputError) as error:
        describe_columns(read(csv(**columns)), "label")

    assert str(error.value) == f"table.csv has no column to learn from: {reasons}"


def test_lone_target_is_refused(read):
    with pytest.raises(InputError, match=r"^table\.csv has no column to learn from$"):
        describe_columns(read("label\na\nb\n"), "label")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (range(20), Kind.NUMBER),
        (["7", "7"], Kind.NUMBER),
        ([f"u{i}" for i in range(20)], Kind.TEXT),
        (["2020-01-02", "2020-01-03"], Kind.TEXT),
        (["", ""], Kind.DROPPED),
    ],
)
def test_kept_column_is_used_if_it_can_be(read, values, kind):
    table = read(csv(x=values, other=[i * i for i in range(len(values))]))

    assert described(table, keep=["x"]).kind is kind


def test_dropped_column_is_left_out_as_asked(read):
    columns = describe_columns(read(csv(x=["1", "inf"], other=["1", "5"])), "label", drop=[" x"])

    assert columns[0].reason == "as asked"
    assert columns[1].kind is Kind.NUMBER


@pytest.mark.parametrize(
    ("target", "asked", "sentence"),
    [
        ("Label", {}, "table.csv has no column 'Label' (did you mean 'label'?)"),
        ("species", {}, "table.csv has no column 'species', only 'width', 'label'"),
        ("label", {"keep": ["widht"]}, "no column 'widht' (did you mean 'width'?)"),
        ("label", {"drop": ["u", "v"]}, "no columns 'u', 'v', only"),
        ("label", {"drop": ["label"]}, "column 'label' is the target"),
        (
            "label",
            {"keep": ["width"], "drop": ["width"]},
            "'width' cannot be both kept and left out",
        ),
    ],
)
def test_unknown_names_are_refused(read, target, asked, sentence):
    with pytest.raises(InputError) as error:
        describe_columns(read(csv(width=["1", "3"])), target, **asked)

    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (["1", "inf", "2"], "row 2, column 'x': 'inf' is not finite"),
        (["1", "", "-Infinity"], "row 3, column 'x': '-Infinity' is not finite"),
        (["1e999", "2"], "row 1, column 'x': '1e999' is not finite"),
        (["-1e308", "1e308"], "column 'x': from -1e+308 to 1e+308 is too wide a range"),
    ],
)
def test_numbers_beyond_float64_are_refused(read, cells, sentence):
    with pytest.raises(InputError) as error:
        describe_columns(read(csv(x=cells)), "label")

    assert str(error.value) == f"table.csv, {sentence}"


def test_infinity_among_words_is_a_word(read):
    assert described(read(csv(x=["inf", "sup", "inf"]))).levels == ("inf", "sup")


def test_decimal_commas_are_found_over_the_whole_table(read):
    table = read(csv(";", x=["1.234", "2.000"], y=["1", "0,5"]))

    columns = describe_columns(table, "label")

    assert table.decimal == ","
    assert to_frame(table.data, columns, table).to_dict("list") == {
        "x": [1234, 2000],
        "y": [1, 0.5],
    }


def test_both_decimal_marks_in_a_column_are_refused(read):
    with pytest.raises(InputError, match=r"'1,5' in row 1, '2\.5' in row 2"):
        describe_columns(read(csv(";", x=["1,5", "2.5", "3"])), "label")


def test_comma_in_a_comma_delimited_file_is_no_decimal_mark(read):
    column = described(read('x,label\n"1,5",a\n2,b\n'))

    assert column.kind is Kind.TEXT


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, 5, None], pa.int8(), Kind.NUMBER),
        ([1, 2**64 - 1], pa.uint64(), Kind.NUMBER),
        ([1.5, float("nan")], pa.float16(), Kind.NUMBER),
        ([1.5, 2.5], pa.float32(), Kind.NUMBER),
        ([decimal.Decimal("1.5"), None, decimal.Decimal(2)], pa.decimal128(5, 2), Kind.NUMBER),
        (["1.5", "2"], pa.string(), Kind.NUMBER),
        ([True, False], pa.bool_(), Kind.TEXT),
        (["u", "v"], pa.string(), Kind.TEXT),
        ([DAY, DAY], pa.timestamp("us"), "dates"),
        ([DAY, DAY], pa.timestamp("ns", "UTC"), "dates"),
        ([DAY.date(), DAY.date()], pa.date32(), "dates"),
        ([DAY.time(), DAY.time()], pa.time64("us"), "dates"),
        ([None, None], pa.null(), "empty"),
        ([float("nan"), None], pa.float64(), "empty"),
        ([[1], [2]], pa.list_(pa.int64()), "nested or binary values"),
        ([{"a": 1}, {"a": 2}], pa.struct({"a": pa.int64()}), "nested or binary values"),
        ([b"a", b"b"], pa.binary(), "nested or binary values"),
    ],
)
def test_types_of_parquet(values, kind, expected):
    table = parquet(values, kind)
    other = pa.chunked_array([[float(i) ** 2 for i in range(len(values))]])
    table.data = table.data.append_column("other", other)
    table.columns = ("x", "label", "other")

    column = described(table)

    assert expected in (column.kind, column.reason)
    to_frame(table.data, [column], table)


def test_infinity_in_parquet_is_refused():
    with pytest.raises(InputError, match=r"table\.parquet, row 2, column 'x': 'inf' is not finite"):
        described(parquet([1.0, float("inf")]))


def test_column_survives_json(read):
    for text in (csv(x=["1", "2.5"]), csv(x=["u", "v", ""]), csv(x=["1", "1"], z=["1", "3"])):
        column = described(read(text))

        assert Column.from_dict(json.loads(json.dumps(column.to_dict()))) == column


NUMBER, TEXT = Column("x", Kind.NUMBER), Column("x", Kind.TEXT)


def test_frame_has_the_described_columns_in_their_order(read):
    columns = [Column("b", Kind.TEXT), Column("c", Kind.DROPPED), Column("a", Kind.NUMBER)]
    table = read("z,a,c,b\n1,2,3,u\n4,?,6,\n")

    frame = to_frame(table.data, columns, table)

    assert list(frame.columns) == ["b", "a"]
    assert frame["a"].tolist() == pytest.approx([2.0, np.nan], nan_ok=True)
    assert frame["b"][0] == "u"
    assert pd.isna(frame["b"][1])
    assert [str(kind) for kind in frame.dtypes] == ["object", "float64"]


def test_numbers_may_all_be_missing_from_a_frame(read):
    table = read("x,y\n,1\nNA,2\n")

    assert to_frame(table.data, [NUMBER], table)["x"].isna().all()


def test_frame_without_columns_has_rows(read):
    table = read("a,b\n1,2\n3,4\n")

    assert to_frame(table.data, [], table).shape == (2, 0)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("X,y\n1,2\n", "table.csv has no column 'x' (did you mean 'X'?)"),
        ("x,y\n1,2\nabc,2\n", "table.csv, row 8, column 'x': 'abc' is not a number"),
        ("x,y\n1,2\ninf,2\n", "table.csv, row 8, column 'x': 'inf' is not finite"),
        ('x,y\n1,2\n"1,5",2\n', "table.csv, row 8, column 'x': '1,5' is not a number"),
    ],
)
def test_unexpected_values_are_refused_by_row(read, content, sentence):
    table = read(content)

    with pytest.raises(InputError) as error:
        to_frame(table.data, [NUMBER], table, first_row=7)

    assert str(error.value) == sentence


def test_all_missing_columns_are_named(read):
    table = read("a,b\n1,2\n")
    columns = [Column(name, Kind.NUMBER) for name in ("a", "x", "bb", *map(str, range(9)))]

    with pytest.raises(InputError) as error:
        to_frame(table.data, columns, table)

    assert str(error.value) == (
        "table.csv has no columns 'x', 'bb' (did you mean 'b'?), "
        "'0', '1', '2', '3', '4', '5' and 3 more"
    )


def frames(reader):
    return [to_frame(chunk.data, [NUMBER], reader, chunk.first_row) for chunk in reader.chunks()]


def test_first_decimal_mark_of_a_stream_decides(write):
    content = "x;y\n" + "1;2\n" * 30 + "1,5;2\n" * 31 + "2.5;2\n"
    reader = open_table(write(content), block_size=40)
    assert reader.decimal is None

    with reader, pytest.raises(InputError) as error:
        frames(reader)

    assert reader.decimal == ","
    assert str(error.value) == (
        "table.csv, row 62, column 'x': '2.5' is not a number with a decimal comma, as others are"
    )


def test_chunks_give_the_frame_of_the_whole(write, read):
    content = csv(";", x=[f"{i},25" for i in range(300)], y=["u", "", "v"] * 100)
    table = read(content)
    columns = describe_columns(table, "label", keep=["x"])
    whole = to_frame(table.data, columns, table)

    with open_table("table.csv", block_size=100) as reader:
        parts = [to_frame(c.data, columns, reader, c.first_row) for c in reader.chunks()]

    assert len(parts) > 5
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), whole)


@pytest.mark.parametrize(
    ("values", "kind", "sentence"),
    [
        ([True], pa.bool_(), "of type bool, numbers were expected"),
        ([DAY], pa.timestamp("us"), "of type timestamp[us], numbers were expected"),
        (["1", "abc"], pa.string(), "of type string, numbers were expected: 'abc' in row 2 is not"),
    ],
)
def test_another_type_than_numbers_is_named(values, kind, sentence):
    table = parquet(values, kind)

    with pytest.raises(InputError) as error:
        to_frame(table.data, [NUMBER], table)

    assert f"table.parquet, column 'x' is {sentence}" in str(error.value)


def test_nested_values_are_no_text():
    table = parquet([[1]])

    with pytest.raises(InputError, match=r"column 'x' is of type list<.*>, text was expected"):
        to_frame(table.data, [TEXT], table)


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
        ([" u ", "v"], pa.string(), [" u ", "v"]),
    ],
)
def test_text_of_stored_values(values, kind, text):
    table = parquet([*values, None], kind)

    assert labels(table.data, "x", table).tolist() == [*text, None]
    assert to_frame(table.data, [TEXT], table)["x"].tolist()[:-1] == text


def test_not_a_number_is_a_missing_label():
    table = parquet([1.0, float("nan")])

    assert labels(table.data, "x", table).tolist() == ["1", None]


def test_labels_are_text_as_in_the_file(read):
    table = read("y,x\n01,1\n1.0,2\n ü,3\n?,4\n")

    found = labels(table.data, "y", table)

    assert found.dtype == object
    assert found.tolist() == ["01", "1.0", "ü", None]


def test_labels_need_a_target(read):
    table = read("y,x\n1,2\n")

    with pytest.raises(InputError, match=r"has no column 'Y' \(did you mean 'y'\?\)"):
        labels(table.data, "Y", table)


def test_text_without_any_frequent_value_is_left_out(read):
    rows = "".join(f"{i % 7},c{i % 300},{'uv'[i % 2]}\n" for i in range(900))

    columns = describe_columns(read(f"a,code,label\n{rows}"), "label")

    assert [column.reason for column in columns] == [None, "too many different values"]


def test_text_of_more_levels_than_a_model_can_remember_is_left_out(read, monkeypatch):
    monkeypatch.setattr(rules, "MOST_LEVELS", 5)
    rows = "".join(f"{i % 7},c{i % 6},d{i % 5},{'uv'[i % 2]}\n" for i in range(90))

    columns = describe_columns(read(f"a,c,d,label\n{rows}"), "label")

    assert [column.reason for column in columns] == [None, "too many different values", None]
