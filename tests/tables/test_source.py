import gzip
import io
import os
import sys
import zipfile

import pytest
from small_tables import refusal

from hyperlvq.checks import InputError
from hyperlvq.tables.source import Peekable, open_source

TEXT = b"a,b\n1,2\n"
PACKINGS = pytest.mark.parametrize("pack", [bytes, gzip.compress])


def zipped(**files):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return archive.getvalue()


WORKBOOK = zipped(**{"[Content_Types].xml": "<Types/>", "xl/workbook.xml": "<workbook/>"})
SPREADSHEET = zipped(mimetype="application/vnd.oasis.opendocument.spreadsheet")


@pytest.mark.parametrize("content", [TEXT, gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n")])
@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_bytes_are_unpacked_whatever_the_name_and_the_number_of_parts(write, name, content):
    with open_source(write(content, name)) as source:
        assert source.peek(100) == TEXT


@PACKINGS
def test_dash_is_standard_input_which_stays_open(standard_input, pack):
    standard_input(pack(TEXT))

    with open_source("-") as source:
        assert (source.name, source.position) == ("standard input", None)
        assert source.peek(100) == TEXT
    assert not sys.stdin.buffer.closed


def test_what_is_peeked_at_in_a_slow_pipe_is_read_again():
    class OneByteAtATime(io.BytesIO):
        def read(self, size):
            return super().read(size and 1)

    stream = Peekable(OneByteAtATime(b"abcdef").read)

    assert stream.peek(4) == b"abcd"
    assert stream.read(2) == b"ab"
    assert stream.peek(9) == b"cdef"
    assert stream.read(9) == b"cdef"
    assert stream.read(9) == b""


@PACKINGS
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
        (b"\x80\x04abc", "is a Python pickle: save it as CSV"),
        (b"SQLite format 3\0", "is an SQLite database: export a table of it as CSV"),
        (b"%PDF-1.7\n", "is a PDF document: save the table as CSV"),
        (b"\x89PNG\r\n\x1a\n", "is an image: give a table in CSV"),
        (b"\n<!DOCTYPE html>\n<p>", "is a web page: download the data file instead"),
        (b'[{"a": 1}]', "is JSON: save it as CSV"),
        (b"BZh91AY", "is compressed with bzip2: decompress it first"),
        (
            gzip.compress(gzip.compress(TEXT, mtime=0), mtime=0),
            "is compressed with gzip twice: decompress it first",
        ),
        (gzip.compress(b"", mtime=0), "is empty"),
        (gzip.compress(TEXT, mtime=0)[:-9], "is truncated: its gzip data ends too early"),
        (gzip.compress(TEXT, mtime=0)[:12], "is truncated: its gzip data ends too early"),
        (b"\x1f\x8b nothing", "is damaged: its gzip data cannot be decompressed"),
    ],
)
def test_what_is_no_table_is_named(read, content, sentence):
    assert refusal(read, content) == f"table.csv {sentence}"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("no/such.csv", r"^no/such\.csv does not exist$"),
        (".", "is a directory, not a table"),
        ("a\0b", "cannot be opened"),
        ("x" * 5000, "cannot be opened"),
    ],
)
def test_what_cannot_be_opened_is_named(path, sentence):
    with pytest.raises(InputError, match=sentence):
        open_source(path)


def test_failing_device_is_a_sentence(write, monkeypatch):
    source = open_source(write(TEXT * 10_000))

    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(source._stream, "read", fail)
    with source, pytest.raises(InputError, match=r"table\.csv cannot be read: Input/output error"):
        source.peek(10_000)
