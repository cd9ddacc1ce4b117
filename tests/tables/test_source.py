import gzip
import io
import os
import pickle
import sqlite3
import sys
import zipfile

import pytest

from hyperlvq.checks import InputError
from hyperlvq.tables.source import Peekable, open_source

TEXT = b"a,b\n1,2\n"


class OneByteAtATime:
    """A pipe that is slow."""

    def __init__(self, content):
        self._stream = io.BytesIO(content)

    def read(self, size=-1):
        return self._stream.read(size and 1)


@pytest.fixture
def standard_input(monkeypatch):
    def give(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return give


def zipped(**files):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return archive.getvalue()


WORKBOOK = zipped(**{"[Content_Types].xml": "<Types/>", "xl/workbook.xml": "<workbook/>"})
SPREADSHEET = zipped(mimetype="application/vnd.oasis.opendocument.spreadsheet")


def database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (a)")
    connection.close()
    return path.read_bytes()


def test_bytes_of_a_file_are_read(write):
    with open_source(write(TEXT)) as source:
        assert source.read(100) == TEXT
        assert source.read(100) == b""


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_gzip_is_told_by_its_content(write, name):
    with open_source(write(gzip.compress(TEXT), name)) as source:
        assert source.read(100) == TEXT


def test_gzip_of_several_parts_is_read_whole(write):
    with open_source(write(gzip.compress(TEXT) + gzip.compress(b"3,4\n"))) as source:
        assert source.peek(100) == TEXT + b"3,4\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_dash_is_standard_input(standard_input, pack):
    standard_input(pack(TEXT))

    with open_source("-") as source:
        assert source.name == "standard input"
        assert source.read(100) == TEXT
    assert not sys.stdin.buffer.closed


def test_what_is_peeked_at_is_read_again():
    stream = Peekable(OneByteAtATime(b"abcdef"))

    assert stream.peek(4) == b"abcd"
    assert stream.read(2) == b"ab"
    assert stream.peek(9) == b"cdef"
    assert stream.read() == b"cdef"


def test_position_is_the_share_that_was_read(write):
    with open_source(write(TEXT * 10_000)) as source:
        source.read(len(source.peek(40_000)))

        assert source.position == pytest.approx(0.5, abs=0.05)


def test_position_of_a_pipe_is_unknown(standard_input):
    standard_input(TEXT)

    assert open_source("-").position is None


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_bytes_are_stored_in_a_file_as_long_as_needed(write, standard_input, pack):
    standard_input(pack(TEXT))
    for path in (write(pack(TEXT)), "-"):
        with open_source(path) as source:
            stored = source.stored()
            with open(stored, "rb") as file:
                assert file.read() == TEXT

        assert stored == path or not os.path.exists(stored)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (WORKBOOK, "is an Excel file: save it as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "is an Excel file: save it as CSV"),
        (SPREADSHEET, "is an OpenDocument spreadsheet: save it as CSV"),
        (zipped(table="a,b"), "is a ZIP archive: unpack it first"),
        (pickle.dumps([1, 2]), "is a Python pickle: save it as CSV"),
        (b"%PDF-1.7\n", "is a PDF document: save the table as CSV"),
        (b"\x89PNG\r\n\x1a\n", "is an image: give a table in CSV"),
        (b"\n<!DOCTYPE html>\n<p>", "is a web page: download the table itself"),
        (b'[{"a": 1}]', "is JSON: save it as CSV"),
        (b"BZh91AY", "is compressed by bzip2: unpack it first"),
        (gzip.compress(gzip.compress(TEXT)), "is compressed by gzip twice: unpack it first"),
        (gzip.compress(b""), "is empty"),
        (gzip.compress(TEXT)[:-9], "is cut off: its gzip data ends too early"),
        (gzip.compress(TEXT)[:12], "is cut off: its gzip data ends too early"),
        (b"\x1f\x8b nothing", "is damaged: its gzip data cannot be unpacked"),
    ],
)
def test_what_is_no_table_is_named(write, content, sentence):
    with pytest.raises(InputError) as error:
        open_source(write(content))

    assert str(error.value) == f"table.csv {sentence}"


def test_database_is_named(write, tmp_path):
    with pytest.raises(InputError, match="is an SQLite database: export a table of it as CSV"):
        open_source(write(database(tmp_path / "x.db")))


def test_missing_file_is_named():
    with pytest.raises(InputError, match=r"^no/such\.csv does not exist$"):
        open_source("no/such.csv")


def test_directory_is_refused(tmp_path):
    with pytest.raises(InputError, match="is a directory, not a table"):
        open_source(tmp_path)


def test_forbidden_file_is_refused(write, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(InputError, match=r"table\.csv may not be read: permission denied"):
        open_source("table.csv")


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000])
def test_impossible_path_is_refused(path):
    with pytest.raises(InputError, match="cannot be opened"):
        open_source(path)


def test_failing_device_is_a_sentence(write, monkeypatch):
    source = open_source(write(TEXT * 10_000))

    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(source._stream, "read", fail)
    with source, pytest.raises(InputError, match=r"table\.csv cannot be read: Input/output error"):
        source.read(10)
