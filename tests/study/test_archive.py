"""Collections in archives: every protection against those that are traps."""

import os
import shutil
import subprocess
import sys
import tarfile
import threading
import time
import tracemalloc
from bz2 import compress as bz2
from gzip import compress as gzip
from lzma import compress as xz
from pathlib import Path

import pytest
from small_set import FILES, NAME, TABLE, write_set

from hyperlvq.checks import InputError
from hyperlvq.study import archive as archives
from hyperlvq.study import fetch as fetching
from hyperlvq.study.archive import (
    MAX_ARCHIVE_BYTES,
    MAX_HEADER_BYTES,
    MAX_MEMBER_BYTES,
    MAX_WANTED_BYTES,
)
from hyperlvq.study.collection import find_files

END = bytes(1024)
TABLE_NAME = f"data/{NAME}/{NAME}_R.dat"
ONLY_TABLE = {NAME: {f"{NAME}_R.dat": TABLE}}


def part(name, kind=b"0", content=b"", size=None):
    """Return a header and what follows it; `size` is what the header says of that."""
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(content) if size is None else size
    return info.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512)


def pax(content, kind=b"x"):
    return part("pax", kind, content)


def long_name(name):
    return part("././@LongLink", b"L", name + b"\0")


def table(name="short"):
    return part(name, b"0", TABLE)


def refusal(path):
    """Return the sentence that refuses an archive, which took little time and memory."""
    tracemalloc.start()
    start = time.monotonic()
    try:
        with pytest.raises(InputError) as caught:
            find_files(path)
        seconds, peak = time.monotonic() - start, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert seconds < 5
    assert peak < 5 * MAX_HEADER_BYTES
    return str(caught.value)


@pytest.fixture
def write(tmp_path):
    def written(content):
        path = tmp_path / "a.tar"
        path.write_bytes(content)
        return path

    return written


@pytest.mark.parametrize("pack", [bytes, gzip, bz2, xz])
@pytest.mark.parametrize("prefix", ["data/", "./data/", "", "collection-1.0/data/"])
def test_archive_gives_the_contents_of_its_data_sets(write, pack, prefix):
    members = [part(f"{prefix}{NAME}/{file}", b"0", content) for file, content in FILES.items()]
    others = part("data/notes/readme.txt") + part("conxuntos.txt")

    assert find_files(write(pack(b"".join(members) + others + END))) == {NAME: FILES}


@pytest.mark.parametrize("pack", [bytes, gzip, bz2, xz])
@pytest.mark.parametrize("kind", [b"L", b"K", b"x", b"X", b"g"])
def test_long_header_is_refused_before_it_is_read(write, pack, kind):
    path = write(pack(part("header", kind, size=MAX_HEADER_BYTES) + bytes(10_000)))

    assert refusal(path) == f"{path} has more than {MAX_HEADER_BYTES} bytes of headers"


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        *((kind, MAX_MEMBER_BYTES + 1) for kind in (b"0", b"L", b"x", b"g")),
        *((b"0", size) for size in (-512, 2**31, 2**62)),
    ],
)
def test_member_of_absurd_size_is_refused_before_it_is_read(write, kind, size):
    path = write(part("header", kind, size=size) + bytes(10_000))

    sentence = f"'header' of {size} bytes: at most {MAX_MEMBER_BYTES} are read"
    assert refusal(path) == f"{path} has {sentence}"


def test_many_headers_take_little_time(write):
    path = write(part("empty") * (MAX_HEADER_BYTES // 512 + 1))
    start = time.monotonic()

    with pytest.raises(InputError, match=f"more than {MAX_HEADER_BYTES} bytes of headers"):
        find_files(path)
    assert time.monotonic() - start < 20  # about 1 where nobody else computes


def test_many_members_are_refused_once_they_are_too_much(write, monkeypatch):
    monkeypatch.setattr(archives, "MAX_ARCHIVE_BYTES", 10_000)

    assert "has more than 10000 bytes of content" in refusal(write(part("empty") * 50))


def test_data_sets_are_refused_once_they_are_too_much(write, monkeypatch):
    monkeypatch.setattr(archives, "MAX_WANTED_BYTES", len(TABLE))
    passed_over = table("data/notes.txt") * 3
    assert find_files(write(passed_over + table(TABLE_NAME) + END)) == ONLY_TABLE

    path = write(table(TABLE_NAME) + table("data/zoo/zoo_R.dat") + END)

    assert refusal(path) == f"{path} has more than {len(TABLE)} bytes of data sets"


@pytest.mark.parametrize(
    "records",
    [
        b"1" * 60_000,
        b"1" * 30_000 + b" hdrcharset=" + b"1" * 30_000,
        b"".join(b"%d hdrcharset=" % number for number in range(4000)),
        b"9 path=ab\n6 a=b",
        b"3 a=b\n",
        b"99 path=a\n",
        b"0 a=\n",
        b"-5 a=\n",
        b"path=a\n",
        b"\0" * 512,
    ],
)
def test_pax_records_that_make_no_sense_are_damage_at_once(write, records):
    path = write(pax(records) + table())

    assert refusal(path) == f"{path} is damaged or cut off: an extended header makes no sense"


@pytest.mark.parametrize(
    "header",
    [
        long_name(TABLE_NAME.encode()),
        long_name(b"a") * 5000 + long_name(TABLE_NAME.encode()),  # as deep as nesting gets
        pax(b"%d path=%s\n" % (len(TABLE_NAME) + 9, TABLE_NAME.encode())),
        pax(b"9 path=x\n") + pax(b"%d path=%s\n" % (len(TABLE_NAME) + 9, TABLE_NAME.encode())),
        pax(b"11 size=%d\n" % len(TABLE)) + long_name(TABLE_NAME.encode()),
        pax(b"16 comment=hash\n", b"g") + long_name(TABLE_NAME.encode()),
        part("data/", b"5", size=512) + long_name(TABLE_NAME.encode()),  # no bytes follow a folder
    ],
)
@pytest.mark.parametrize("end", [END, b""])
def test_name_may_stand_in_an_extended_header(write, header, end):
    assert find_files(write(header + table() + end)) == ONLY_TABLE


@pytest.mark.parametrize("size", [b"-1", b"1" * 10, b"x", b"9" * 5000])
def test_size_that_makes_no_sense_in_an_extended_header_is_refused(write, size):
    length = len(size) + 9 + (len(size) > 90) * 2
    path = write(pax(b"%d size=%s\n" % (length, size)) + table() + END)

    assert str(path) in refusal(path)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (table("/data/iris/iris_R.dat"), "has '/data/iris/iris_R.dat', which leads out of it"),
        (table("data/../../iris_R.dat"), "has 'data/../../iris_R.dat', which leads out of it"),
        (long_name(b"/etc/iris_R.dat") + table(), "has '/etc/iris_R.dat', which leads out of it"),
        (long_name(b"../a/a_R.dat") + table(), "has '../a/a_R.dat', which leads out of it"),
        *(
            (part(TABLE_NAME, kind), f"has {TABLE_NAME!r}, which is not a plain file or a folder")
            for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, b"S")
        ),
        (pax(b"22 GNU.sparse.major=1\n") + table(), "has 'pax', which is not a plain file or a"),
        (pax(b"9 path=x\n22 GNU.sparse.major=1\n") + table(), "has 'pax', which is not a plain"),
        (table(TABLE_NAME), f"has {NAME}/{NAME}_R.dat twice"),
    ],
)
def test_dangerous_archive_is_refused_as_a_whole(write, bad, message):
    assert message in refusal(write(table(TABLE_NAME) + bad + END))


def test_name_in_a_message_is_short_and_printable(write):
    path = write(long_name(b"/\x1b[2J" + b"a" * 100_000) + table() + END)

    assert len(refusal(path)) < 400
    assert refusal(path).isprintable()


@pytest.mark.parametrize("pack", [bytes, gzip, xz])
def test_archive_cut_off_is_refused(write, rng, pack):
    path = write(pack(part("data/iris/iris_R.dat", b"0", rng.bytes(50_000)))[:20_000])

    with pytest.raises(InputError, match=r"a.tar is damaged or cut off: [^\n]+$"):
        find_files(path)


@pytest.mark.parametrize(
    "content", [b"", b"no archive", b"\x1f\x8b", b"BZh", b"BZh9x", b"\xfd7zXZ\x00"]
)
def test_file_that_is_no_archive_is_refused(write, content):
    path = write(content)

    assert refusal(path) == f"{path} is neither a folder nor a tar archive"


@pytest.mark.parametrize("form", ["gnu", "pax", "ustar", "v7", "oldgnu", "posix"])
def test_archive_of_gnu_tar_is_read(tmp_path, form):
    write_set(tmp_path)
    program = ["tar", f"--format={form}", "-C", tmp_path, "-cf", tmp_path / "a.tar", "data"]
    if shutil.which("tar") is None or subprocess.run(program, capture_output=True).returncode:
        pytest.skip("needs GNU tar")

    assert find_files(tmp_path / "a.tar") == {NAME: FILES}


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pipe with a name")
def test_archive_may_come_through_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    content = gzip(table(TABLE_NAME) + END)
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
    writer.start()

    assert find_files(tmp_path / "pipe") == ONLY_TABLE
    writer.join()


def test_the_documentation_gives_the_limits():
    text = (Path(__file__).parents[2] / "docs" / "study" / "README.md").read_text()

    assert f"more than {MAX_ARCHIVE_BYTES >> 30} GiB" in text
    assert f"more than {MAX_WANTED_BYTES >> 30} GiB of data sets" in text
    assert f"more than {MAX_MEMBER_BYTES >> 20} MiB" in text
    assert f"more than {MAX_HEADER_BYTES >> 20} MiB of headers" in text
    assert f"files of up to {fetching.MAX_BYTES >> 30} GiB" in text
