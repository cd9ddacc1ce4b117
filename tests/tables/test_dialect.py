import csv

import pytest
from small_tables import refusal

from hyperlvq.checks import InputError
from hyperlvq.tables.read import open_table

ACCENTED = "name,age\nZoë,3\nÅke,4\n"


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "UTF-8"),
        ("utf-16", "UTF-16-LE"),
        ("utf-16-le", "UTF-16-LE"),
        ("utf-16-be", "UTF-16-BE"),
        ("utf-32", "UTF-32-LE"),
        ("cp1252", "Windows-1252"),
    ],
)
def test_encoding_is_found(read, encoding, name):
    table = read(ACCENTED.encode(encoding))

    assert table.form.columns == ("name", "age")
    assert table.data.to_pydict() == {"name": ["Zoë", "Åke"], "age": ["3", "4"]}
    assert table.form.encoding == name


@pytest.mark.parametrize("n_rows", [0, 100_000])
def test_first_byte_that_is_not_utf8_makes_windows_1252_wherever_it_comes(read, n_rows):
    table = read(b"a,b\n" + b"x,y\n" * n_rows + b"\xe9,y\n")

    assert table.form.encoding == "Windows-1252"
    assert table.data["a"][-1].as_py() == "é"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,b\né,1\n".encode() + b"\xe9,2\n", "line 3: byte 0xe9 is not UTF-8 text"),
        (b"\xef\xbb\xbfa,b\n\xe9,2\n", "line 2: byte 0xe9 is not UTF-8 text"),
        (b"a,b\n1,\x81\n", "line 2: byte 0x81 is neither UTF-8 nor Windows-1252 text"),
        ("a,b\n1,2\n".encode("utf-16")[:-1], "line 2: byte 0x0a is not UTF-16-LE text"),
        (b"a,b\n1,2\n\0,4\n", "line 3: found a zero byte, so this is not a text file"),
    ],
)
def test_undecodable_byte_has_a_line(read, content, sentence):
    advice = "" if "zero" in sentence else ": save the file as UTF-8 or specify --encoding"

    assert refusal(read, content) == f"table.csv, {sentence}{advice}"


def test_bytes_of_japanese_text_are_not_taken_for_western(read):
    sentence = "table.csv is not UTF-8 and may be Shift-JIS: specify --encoding"

    assert refusal(read, "a,b\n1,カタ\n".encode("shift_jis")) == sentence


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1;2\n", ";"),
        ("a\tb\n1\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("a;b\n1,5;2,5\n", ";"),
        ("length, mm;class\n1,5;x\n2,5;y\n", ";"),
        ("length, mm;class\nr;1,5;x\ns;2;y\n", ";"),
        ("length, mm, rounded;class\n1;x\n2;y\n", ";"),
        ("a\tb\nx, y\t1\nu, v\t2\n", "\t"),
        ('a,"b;c",d\n1,"x;y",2\n', ","),
        ('a,b\n"1;2;3",4\n"5;6;7",8\n', ","),
        ("a b\n1 2\n3 4\n", " "),
        ("a b\n1 2\n", " "),
        ("name\nAnn Lee\nBob Ray\n", None),
        ("a b\n1 2\n3 4 5\n", None),
        ("a b\n1 2 3 4\n5 6 7 8\n", None),
        ("body mass\n12\n13\n", None),
        ("a\n1,5\n2,5\n", None),
        ('"a,b"\n"1,5"\n"2,5"\n', None),
        ("a\tb;c\n1\t2;3\n", "\t"),
        ("a;b|c\n1;2|3\n", ";"),
        ("a|b,c\n1|2,3\n", "|"),
        ("sep=|\na;b|c;d\n1;2|3;4\n", "|"),
        ('"sep=;"\r\na;b\r\n1;2\r\n', ";"),
    ],
)
def test_delimiter_is_found(read, text, delimiter):
    assert read(text).form.delimiter == delimiter


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (" a , b \n1,2\n", ("a", "b")),
        ('"a, b","c\n(mm)"\n1,2\n', ("a, b", "c (mm)")),
        ("\n\n  \na,b\n1,2\n", ("a", "b")),
        (",a,b\n0,1,2\n", ("(row name)", "a", "b")),
        (",a\n0,1\n", ("(row name)", "a")),
        ('"a","b"\n"1",1,2\n"2",3,4\n', ("(row name)", "a", "b")),
        ('"a" "b"\n"1" 1 2\n"2" 3 4\n', ("(row name)", "a", "b")),
        ("a,b\n \nx,1,2\ny,3,4\n", ("(row name)", "a", "b")),
        ("a,b,\n1,2,\n", ("a", "b")),
        ("a,b,,,\n1,2,,,\n", ("a", "b")),
        ("a,b,\n1,2\n3,4\n", ("a", "b")),
        ("a,b\n1,2,\n3,4,\n", ("a", "b")),
        ("a,b\nx,1,2\ny,3,\n", ("(row name)", "a", "b")),
        ("0,1,2\n5,6,7\n", ("0", "1", "2")),
        ("a\rb\r", ("a",)),
    ],
)
def test_header_is_understood(read, text, columns):
    table = read(text)

    assert table.form.columns == columns
    assert tuple(table.data.column_names) == columns


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("\n \r\n\n", " is empty"),
        ("\ufeff", " is empty"),
        ("a,b\n", " has a header but no rows"),
        ("a,b\n\n\n", " has a header but no rows"),
        ("sep=;\n", " is empty"),
        ('a,"b\n1,2\n', " has a header but no rows: check it for an unclosed quote"),
        ('a,"b\n' + "1,2\n" * 50_000, " has no readable header: check it for an unclosed quote"),
        ("a,,b\n1,2,3\n", ", header: column 2 has no name"),
        (",,\n1,2,3\n", " has no column names in its header"),
        ("a,b,a\n1,2,3\n", ", header: columns 1 and 3 are both named 'a'"),
        ("a, a\n1,2\n", ", header: columns 1 and 2 are both named 'a'"),
        ("5.1,3.5,.2\n4.9,3,1e-1\n", " has no header: its first row contains only numbers"),
        ("0,0,1\n0,1,1\n", " has no header: its first row contains only numbers"),
        ("0,1\n1,0\n", " has no header: its first row contains only numbers"),
        ("2,2,x\n1,3,y\n", ", header: columns 1 and 2 are both named '2', is the header missing?"),
        ("1\n2\n", " has no header: its first row contains only numbers"),
        ("sep=;\na\nx;1\ny;2\n", ", row 1: 2 fields, expected 1 as in the header"),
        # a field too many is no row name unless it names rows
        *(
            (f"a,b\n{rows}\n", ", row 1: 3 fields, expected 2 as in the header")
            for rows in ("1,2,3", "4,1,2\n5,3,4", "x,1,2\nx,3,4", "1,2,3\n1,2,4")
        ),
        ("a,b,\n1,2,5\n3,4,\n", ", row 1: column 3 contains '5' but has no name in the header"),
        ("a,b,\n1,2,\n3,4,5\n", ", row 2: column 3 contains '5' but has no name in the header"),
    ],
)
def test_bad_header_is_refused(read, text, sentence):
    assert refusal(read, text) == f"table.csv{sentence}"


def test_header_may_be_longer_than_a_sample(read):
    names = [f"{i:0>50}" for i in range(4_000)] + ["label"]
    row = ",".join(["1"] * len(names))

    assert read(f"{','.join(names)}\n{row}\n{row}\n").form.columns == tuple(names)


@pytest.mark.parametrize("length", [3000, 50_000])  # of the latter, two come before the cut
def test_row_that_the_sample_cuts_off_does_not_count(read, length):
    rows = [f"{'x' * length}{i},1,2\n" for i in range(100)]

    assert read("a,b\n" + "".join(rows)).form.columns == ("(row name)", "a", "b")


def test_pythons_limit_of_a_fields_length_stays_as_it_was(read):
    before = csv.field_size_limit()
    read("a,b\n1,2\n")

    assert csv.field_size_limit() == before


def test_late_header_only_table_is_refused(write):
    reader = open_table(write("a,b\n" + "\n" * 140_000))

    with reader, pytest.raises(InputError, match="has a header but no rows"):
        list(reader.chunks())
