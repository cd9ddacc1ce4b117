import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest
from small_tables import refusal

from hyperlvq.checks import InputError
from hyperlvq.tables import describe
from hyperlvq.tables.columns import Column, Kind
from hyperlvq.tables.describe import describe_columns
from hyperlvq.tables.read import Table, TableForm
from hyperlvq.tables.training import to_frame

DAY = datetime.datetime(2020, 1, 2)
DATES = Column("x", Kind.DATE, 1, 18263.0, 18266.0, date_form="2012-12-31")


def csv(delimiter=",", **columns):
    """Return a table in CSV with these columns, and a label."""
    columns["label"] = ["a", "b"] * (len(next(iter(columns.values()))) // 2 + 1)
    rows = zip(*columns.values(), strict=False)
    return "\n".join(delimiter.join(map(str, row)) for row in [columns, *rows])


def parquet(values, kind=None):
    """Return a table as from Parquet, with these values, a label and other numbers."""
    other = [float(i) ** 2 for i in range(len(values))]
    data = pa.table({"x": pa.array(values, kind), "label": ["a"] * len(values), "other": other})
    return Table(TableForm("t.parquet", tuple(data.column_names)), data)


def described(table, **asked):
    """Return the first column of the table as it is described."""
    return describe_columns(table, "label", **asked)[0]


def left_out(read, values, name="x"):
    """Return the reason why a column is left out, next to one of numbers."""
    other = [0.5 * i * i for i in range(len(values))]
    return described(read(csv(**{name: values, "other": other}))).reason


def number(minimum, maximum, n_missing=0, **written):
    return Column("x", Kind.NUMBER, n_missing, minimum, maximum, **written)


def text(*levels, n_missing=0):
    return Column("x", Kind.TEXT, n_missing, levels=levels, n_levels=len(levels))


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        (["3", "NA", "-1.5", "1e1"], number(-1.5, 10.0, n_missing=1, decimal=".")),
        (["01", "12"], number(1.0, 12.0)),  # leading zeros in half of the cells make no code,
        (["07", "012", "0345"], number(7.0, 345.0)),  # nor do those of numbers of any length
        (["$ 1.20", "-", "$0.80"], number(0.8, 1.2, n_missing=1, decimal=".", unit="$")),
        (['"8,654"', "1"], number(1.0, 8654.0, decimal=".", grouping=",")),
        (['"8,65"', "1"], number(1.0, 8.65, decimal=",")),
        (range(1, 21), number(1.0, 20.0)),  # counts up, but nothing else is left
        (["b", "a", "b", "", "c", "a", "b"], text("b", "a", "c", n_missing=1)),
        (["2020-01-02", "", "2020-01-05"], DATES),
        *((words * 2, text(*words)) for words in (["no", "yes"], ["F", "T"], ["false", "true"])),
    ],
)
def test_numbers_have_a_range_and_text_has_levels_the_most_frequent_first(read, cells, column):
    assert described(read(csv(x=cells))) == column


def test_at_most_100_levels_are_kept(read):
    column = described(read(csv(x=[f"level{i % 150}" for i in range(450)])))

    assert column.n_levels == 150
    assert len(column.levels) == 100


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["007", "012", "034"], "read as text because of leading zeros, such as '007'"),
        (["01", "02", "13"], "read as text because of leading zeros, such as '01'"),
        (
            ["1", "2", "abc", "4"],
            "read as text because of 'abc' in row 3, although 75 % of the values are numbers",
        ),
        (
            ["1", "x" * 50, "3"],
            f"read as text because of '{'x' * 40}…' in row 2, "
            "although 66 % of the values are numbers",
        ),
        (["1", "x", "y"], None),
        (["10:30", "x"], None),
        (["1_000", "2_000"], None),
        (
            ["inf", "sup"],
            "read as text because of 'sup' in row 2, although 50 % of the values are numbers",
        ),
        (
            ['"1,5,0"', "2"],
            "read as text because of '1,5,0' in row 1, although 50 % of the values are numbers",
        ),
        (
            ["10:30", "", "9.12", "7:05"],
            "read as text because of '9.12' in row 3, although 66 % of the values are dates",
        ),
    ],
)
def test_text_of_digits_says_why(read, cells, note):
    column = described(read(csv(x=cells)))

    assert column.kind is Kind.TEXT
    assert column.note == note


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (["3/4/2020", "", "12/11/99"], "dates with ambiguous day and month"),
        (["2020-01-02", "2020-01-02"], "constant"),
        (["x", "x"], "constant"),
        (["1", "1.0"], "constant"),
        (["", "NA"], "empty"),
        ([f"u{i}" for i in range(20)], "identifier"),
        (["u1", *(f"u{i}" for i in range(20))], "identifier"),
        ([*(f"u{i}" for i in range(18)), "u1", "u2"], "identifier"),
        ([*(f"u{i}" for i in range(17)), "u1", "u2", "u3"], None),
        ([*(f"u{i}" for i in range(19)), ""], "too many distinct values"),
        ([f"the customer said {i:02}" for i in range(20)], "free text"),
        ([f"the{' _'[i % 2]}customer_said_{i:02}" for i in range(20)], "identifier"),
        ([f"v{i}" for i in range(120)] * 2 + ["v1"], None),
        ([f"v{i}" for i in range(101)] + ["v1"] * 50, "too many distinct values"),
        ([f"v{i}" for i in range(100)] + ["v1"] * 50, None),
        ([f"c{i % 300}" for i in range(900)], "too many distinct values"),
        ([f"{i}.5" for i in range(30)] + ["n.d."], "numbers mixed with text"),
        ([f"2020-01-{i:02}" for i in range(1, 31)] + ["soon"], "dates mixed with text"),
        (range(7, 27), "identifier"),
        (range(1, 6), "identifier"),
        (range(7, 207, 2), "increases from row to row, like a row number"),
        ([*range(100), 200], "increases from row to row, like a row number"),
        ([*range(7, 205, 2), 0], None),
        (range(7, 205, 2), None),
        ([i // 2 for i in range(200)], None),
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


def test_text_of_more_levels_than_a_model_can_remember_is_left_out(read, monkeypatch):
    monkeypatch.setattr(describe, "MOST_LEVELS", 5)

    assert left_out(read, [f"c{i % 6}" for i in range(90)]) == "too many distinct values"
    assert left_out(read, [f"c{i % 5}" for i in range(90)]) is None


@pytest.mark.parametrize(
    "name",
    [
        *("id", "ID", "customer_id", "customerId", "index", "key", "nr", "no", "uuid", "PID"),
        *("caseid", "Unnamed: 0", "rownames", "ID of patient"),
    ],
)
def test_distinct_integers_or_texts_called_so_are_an_identifier(read, name):
    for values in ([10, 30, 20], ["u", "v", "w"]):
        assert left_out(read, values, name) == "identifier"
        assert left_out(read, [*values[:2], values[0]], name) is None
    assert left_out(read, ["u", "v"], name) == "identifier"
    assert left_out(read, [10, "", 30], name) == "identifier"
    assert left_out(read, ["u", "", ""], name) is None
    assert left_out(read, [1.5, 3, 2], name) is None


def test_other_names_say_nothing(read):
    for name in ("idea", "nose", "width", "monkey", "arrow"):
        assert left_out(read, [10, 30, 20], name) is None


@pytest.mark.parametrize(
    "table", ["x,label\nMazda,1,a\nMazda RX,3,b\n", ",x,label\n.5,1,a\n.7,3,b\n.5,4,a\n"]
)
def test_row_names_are_left_out(read, table):
    columns = describe_columns(read(table), "label")

    assert [(column.name, column.reason) for column in columns] == [
        ("(row name)", "identifier"),
        ("x", None),
    ]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (range(20), Kind.NUMBER),
        (["7", "7"], Kind.NUMBER),
        ([f"u{i // 2}" for i in range(20)], Kind.TEXT),
        (["2020-01-02", "2020-01-02"], Kind.DATE),
        (["1/2/2020", "1/2/2020"], Kind.TEXT),
        (["", ""], Kind.DROPPED),
    ],
)
def test_kept_column_is_used_if_it_can_be(read, values, kind):
    table = read(csv(x=values, other=[i * i for i in range(len(values))]))

    assert described(table, keep=["x"]).kind is kind


def test_what_a_kept_column_cannot_be_is_said(read):
    dates = described(read(csv(x=["3/4/2020", "", "12/11/99"])), keep=["x"])

    assert dates.note == "read as text: dates with ambiguous day and month"
    assert refusal(described, read(csv(x=[f"u{i}" for i in range(20)])), keep=["x"]) == (
        "column 'x' cannot be kept: each of its 20 values occurs in fewer than 2 rows"
    )


def test_columns_are_left_out_or_names_as_asked_and_the_target_is_not_described(read):
    table = read(csv(x=["1", "inf"], names=[7, 7], other=["1", "5"]))

    columns = describe_columns(table, " label ", drop=[" x"], category=["names"])

    assert [column.name for column in columns] == ["x", "names", "other"]
    assert columns[0].reason == "requested with --drop"
    assert (columns[1].kind, columns[1].levels) == (Kind.TEXT, ("7",))
    assert columns[2].kind is Kind.NUMBER


WIDTHS = {"width": ["1", "3"], "text": ["u", "v"]}
FEW_COLUMNS = {"age": [3] * 6, "id": range(6)}


@pytest.mark.parametrize(
    ("columns", "asked", "sentence"),
    [
        (WIDTHS, {"target": "Label"}, " has no column 'Label' (did you mean 'label'?)"),
        (WIDTHS, {"target": "kind"}, " has no column 'kind', only 'width', 'text', 'label'"),
        (WIDTHS, {"keep": ["widht"]}, " has no column 'widht' (did you mean 'width'?)"),
        (WIDTHS, {"drop": ["u", "v"]}, " has no columns 'u', 'v', only 'width', 'text', 'label'"),
        (WIDTHS, {"drop": ["widht", *"abcdefgh"]}, " 'f', 'g', 'h' and 1 more"),
        (WIDTHS, {"drop": ["label"]}, "column 'label' is the target and cannot be given to"),
        (
            WIDTHS,
            {"keep": ["text"], "drop": ["text"]},
            "'text' cannot be given to --drop and also to",
        ),
        (WIDTHS, {"number": ["text"]}, ", row 1, column 'text': 'u' is not a number"),
        (
            {"x": ["1", "inf", "2"]},
            {},
            "table.csv, row 2, column 'x': 'inf' is not a finite number",
        ),
        (
            {"x": ["1", "", "-Infinity"]},
            {},
            "row 3, column 'x': '-Infinity' is not a finite number",
        ),
        ({"x": ["1e999", "2"]}, {}, ", row 1, column 'x': '1e999' is not a finite number"),
        ({"x": ["-1e308", "1e308"]}, {}, "'x': the range -1e+308 to 1e+308 is too wide"),
        (FEW_COLUMNS, {}, "no column to learn from: age (constant), id (identifier)"),
        ({"when": ["2020-01-02"] * 2}, {}, " has no column to learn from: when (constant)"),
        ({"x": ["", ""]}, {}, " has no column to learn from: x (empty)"),
        ({"label": ["a"]}, {}, "table.csv has no column to learn from"),
    ],
)
def test_what_cannot_be_described_is_one_sentence(read, columns, asked, sentence):
    table = read(csv(**columns))

    assert sentence in refusal(describe_columns, table, **{"target": "label", **asked})


@pytest.mark.parametrize(
    ("columns", "delimiter", "decimal"),
    [
        ({"a": ["1", "2"]}, ";", None),
        ({"a": ["1", "2.5"]}, ";", "."),
        ({"a": ["1", "2,5"]}, ";", ","),
        ({"a": ["1.234", "5"]}, ";", "."),
        ({"a": ["1.234", "5"], "b": ["1,5", "2"]}, ";", ","),
        ({"a": ['"1,234.5"', "1"]}, ",", "."),
        ({"a": ['"8,654"', "1"]}, ",", None),
        ({"a": ['"8,654"', "1"], "b": ['"0,4"', "2"]}, ",", ","),
        ({"a": ["1,5", "x"], "b": ["2.5", "1"]}, ";", "."),
        ({"a": ["12.5.2020", "1.1.20"], "b": ["2,5", "1"]}, "\t", ","),
    ],
)
def test_decimal_mark_is_found_over_the_whole_table(read, columns, delimiter, decimal):
    table = read(csv(delimiter, **columns))

    describe_columns(table, "label")

    assert table.form.decimal == decimal


def test_two_decimal_marks_and_stored_infinity_are_refused(read):
    with pytest.raises(
        InputError, match=r"t\.parquet, row 2, column 'x': 'inf' is not a finite number"
    ):
        described(parquet([1.0, float("inf")]))
    with pytest.raises(InputError, match=r"'1,5' in row 1, '2\.5' in row 2"):
        described(read(csv(";", x=["1,5", "2.5", "3"])))
    with pytest.raises(InputError, match=r"commas in column 'x' but .* points in column 'y'"):
        described(read(csv(";", x=["1,5", "2"], y=["1.5", "2"])))


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, 5, None], pa.int8(), Kind.NUMBER),
        ([1, 2**64 - 1], pa.uint64(), Kind.NUMBER),
        ([np.float16(1.5), np.float16("nan")], pa.float16(), Kind.NUMBER),
        ([1.5, 2.5], pa.float32(), Kind.NUMBER),
        ([decimal.Decimal("1.5"), None, decimal.Decimal(2)], pa.decimal128(5, 2), Kind.NUMBER),
        (["1.5", "2"], pa.string(), Kind.NUMBER),
        ([True, False], pa.bool_(), Kind.TEXT),
        (["u", "v"], pa.string(), Kind.TEXT),
        ([DAY, None], pa.timestamp("us"), Kind.DATE),
        ([DAY, None], pa.timestamp("ns", "UTC"), Kind.DATE),
        ([DAY.date(), None], pa.date32(), Kind.DATE),
        ([DAY.date(), DAY.date()], pa.date32(), "constant"),
        ([DAY.time(), None], pa.time64("us"), Kind.DATE),
        ([datetime.timedelta(1), None], pa.duration("us"), "durations"),
        ([None, None], pa.null(), "empty"),
        ([float("nan"), None], pa.float64(), "empty"),
        ([[1], [2]], pa.list_(pa.int64()), "nested or binary values"),
        ([{"a": 1}, {"a": 2}], pa.struct({"a": pa.int64()}), "nested or binary values"),
        ([b"a", b"b"], pa.binary(), "nested or binary values"),
    ],
)
def test_types_of_parquet(values, kind, expected):
    table = parquet(values, kind)

    column = described(table)

    assert expected in (column.kind, column.reason)
    to_frame(table, [column])
