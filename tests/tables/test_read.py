import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperlvq.checks import InputError
from hyperlvq.tables import read as reading
from hyperlvq.tables.describe import describe_columns
from hyperlvq.tables.read import open_table, read_table
from hyperlvq.tables.training import to_frame

QUOTED = 'a,b\n1,"x, y"\n2,"two\nlines"\n3,"so ""called"""\n4,5" pipe\n'
BLOCK_SIZES = (1, 7, 64, 1 << 20)


def cells(table):
    return {name: table.cells(name).to_pylist() for name in table.data.column_names}


def whole(reader):
    return pa.concat_tables([chunk.data for chunk in reader.chunks()])


def parquet(frame):
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


@pytest.fixture
def frame():
    return pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, " z "], "c": [0.5, np.nan, 2]})


@pytest.mark.parametrize(
    "mark",
    ["", " ", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "?", " ? ", "#N/A"],
)
@pytest.mark.parametrize("quote", ["", '"'])
def test_missing_marks_are_null(read, mark, quote):
    assert cells(read(f"a,b\n{quote}{mark}{quote},1\nx,2\n"))["a"] == [None, "x"]


def test_other_text_is_kept_without_surrounding_blanks(read):
    for text in ("-", "na", "none", "0", "N.A.", "x y", "2.50"):
        assert cells(read(f"a,b\n {text}\t, 1 \n")) == {"a": [text], "b": ["1"]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_will_do(read, end):
    text = end.join(["a,b", "1,x", "", "   ", "2,y", end])

    assert cells(read(text)) == {"a": ["1", "2"], "b": ["x", "y"]}
    assert cells(read(text.strip())) == {"a": ["1", "2"], "b": ["x", "y"]}


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_quotes_are_respected(write, block_size):
    with open_table(write(QUOTED), block_size=block_size) as reader:
        data = whole(reader)

    assert data["b"].to_pylist() == ["x, y", "two\nlines", 'so "called"', '5" pipe']


def test_field_may_be_longer_than_many_blocks_and_rows_behind_it_are_in_blocks(write, monkeypatch):
    monkeypatch.setattr(reading, "MOST_ROW_BYTES", 1 << 16)
    long = "many\nlines, " * 1000 + "end"
    content = f'a,b\n1,"{long}"\n' + "2,y\n" * 100_000

    with open_table(write(content), block_size=5000) as reader:
        chunks = [chunk.data for chunk in reader.chunks()]

    assert chunks[0]["b"][0].as_py() == long
    assert max(chunk.nbytes for chunk in chunks) < 1 << 16


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n1,2\n3\n", "row 2: 1 field, expected 2 as in the header"),
        ("a,b\n1,2\n\n   \n3,4,5\n", "row 2: 3 fields, expected 2 as in the header"),
        ('a,b\n1,2\n3,"x\n4,5\n', "row 2: unclosed quote"),
        ('a,b\n1,2\n"3,x\n4,5\n', "row 2: unclosed quote"),
        ('a,b\n1,2\n3,"', "row 2: unclosed quote"),
    ],
)
@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_broken_row_has_a_number(write, text, sentence, block_size):
    reader = open_table(write(text), block_size=block_size)
    with reader, pytest.raises(InputError) as error:
        list(reader.chunks())

    assert str(error.value) == f"table.csv, {sentence}"


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_chunks_are_numbered_by_rows(write, block_size):
    content = "a,b\n" + "".join(f"{i},x\n\n" for i in range(1, 200))
    with open_table(write(content), block_size=block_size) as reader:
        for chunk in reader.chunks():
            assert chunk.data["a"][0].as_py() == str(chunk.first_row)


def test_late_broken_row_has_its_number_and_a_row_without_end_is_refused(write, monkeypatch):
    monkeypatch.setattr(reading, "MOST_ROW_BYTES", 1 << 20)
    rows = "1,2\n" * 500_000
    for last, sentence in (
        ("1,2,3\n", "row 500001: 3 fields, expected 2 as in the header$"),
        ('"' + rows, r"a row after row \d+ is longer than 1 MB"),
    ):
        reader = open_table(write(f"a,b\n{rows}{last}"), block_size=1 << 17)
        with reader, pytest.raises(InputError, match=sentence):
            list(reader.chunks())


def test_only_wanted_columns_are_read(write, frame):
    for name, content in (("t.csv", "a,b,c\n1,x,2\n"), ("t.parquet", parquet(frame))):
        with open_table(write(content, name), columns=["c", "a", "absent"]) as reader:
            (chunk,) = reader.chunks()

        assert chunk.data.column_names == ["a", "c"]
        assert reader.columns == ("a", "b", "c")


def test_position_runs_from_0_to_1(write, frame):
    text = "a,b\n" + "1,2\n" * 100_000
    for name, content in (("t.csv", text), ("t.parquet", parquet(pd.concat([frame] * 99)))):
        with open_table(write(content, name), block_size=len(content) // 20) as reader:
            positions = [reader.position for _ in reader.chunks()]

            assert len(positions) > 2
            assert positions == sorted(positions)
            assert 0 <= positions[0] < 0.6
            assert reader.position == 1


def test_parquet_keeps_its_types_and_has_neither_an_encoding_nor_lines(write, frame):
    table = read_table(write(parquet(frame)))

    assert [table.cells(name).type for name in "abc"] == [pa.int64(), pa.string(), pa.float64()]
    assert table.cells("b").to_pylist() == ["x", None, "z"]
    assert table.data["b"].to_pylist() == ["x", None, " z "]
    assert table.form.encoding is None
    for options in ({"encoding": "utf-8"}, {"skip_rows": 1}):
        with pytest.raises(InputError, match="is a Parquet file: it has no encoding or lines to"):
            read_table("table.csv", **options)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_parquet_is_read_from_standard_input(standard_input, frame, pack):
    standard_input(pack(parquet(frame)))

    assert read_table("-").data["a"].to_pylist() == [1, 2, 3]


def test_kinds_of_text_in_parquet_are_one(write):
    text = pa.array(["NA", " v ", None, "u", "", " NA"])
    # pyarrow 21 is the first to write views
    view = pa.string_view() if int(pa.__version__.split(".")[0]) >= 21 else pa.string()
    columns = {
        "large": text.cast(pa.large_string()),
        "view": text.cast(view),
        "coded": text.dictionary_encode(),
        "numbers": pa.array([7, None, 8, 7, 7, 7]).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), write(b""))

    table = read_table("table.csv")
    for name in table.form.columns[:3]:
        column = table.cells(name)
        assert column.type == pa.string()
        assert column.to_pylist() == [None, "v", None, "u", None, None]


def test_bad_parquet_is_refused(write, frame):
    content = parquet(frame)
    cut_off = (content[:-20], content[:4], content[:999], b"PAR1" + content[9:])
    for bad, sentence in (
        *((each, "is a damaged or truncated Parquet file") for each in cut_off),
        (parquet(frame[:0]), "has a header but no rows"),
        (parquet(frame.rename(columns={"b": " a"})), "columns 1 and 2 are both named 'a'"),
    ):
        with pytest.raises(InputError, match=rf"^table\.csv.* {sentence}"):
            read_table(write(bad))


# letters that are UTF-8 in no order when written as Windows-1252
TEXTS = st.text("abz019 ,;|\t'\"\n.-#ÀÉÜßéñö", max_size=9).map(lambda text: f"t{text}".strip())
FRAMES = st.integers(1, 30).flatmap(
    lambda n_rows: st.fixed_dictionaries(
        {
            "number": st.lists(
                st.none() | st.floats(-1e9, 1e9).map(lambda x: round(x, 3)),
                min_size=n_rows,
                max_size=n_rows,
            ),
            "whole": st.lists(st.integers(-(2**53), 2**53), min_size=n_rows, max_size=n_rows),
            "text": st.lists(st.none() | TEXTS, min_size=n_rows, max_size=n_rows),
            "label": st.lists(st.sampled_from("ab"), min_size=n_rows, max_size=n_rows),
        }
    )
)
DIALECTS = st.fixed_dictionaries(
    {
        "sep": st.sampled_from(",;\t|"),
        "encoding": st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"]),
        "lineterminator": st.sampled_from(["\n", "\r\n"]),
        "na_rep": st.sampled_from(["", "NA", "?", "null"]),
        "quoting": st.sampled_from([0, 1]),
        "compression": st.sampled_from([None, "gzip"]),
    }
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(FRAMES, DIALECTS, st.booleans(), st.sampled_from([50, 300, 1 << 20]))
def test_what_pandas_writes_is_read_back(tmp_path, columns, dialect, with_commas, block_size):
    written = pd.DataFrame(columns)
    written["number"] = written["number"].astype(float)
    decimal = "," if with_commas and dialect["sep"] != "," else "."
    path = tmp_path / "written"
    written.to_csv(path, index=False, decimal=decimal, **dialect)

    table = read_table(path)
    with open_table(path, block_size=block_size) as reader:
        in_chunks = whole(reader)
    described = describe_columns(table, "label", keep=["number", "whole", "text"])
    frame = to_frame(table, described)

    assert in_chunks.to_pydict() == table.data.to_pydict()
    pd.testing.assert_frame_equal(
        frame, written[frame.columns], check_dtype=False, check_exact=True
    )
