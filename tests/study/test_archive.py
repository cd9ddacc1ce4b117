"""Collections in archives: every protection against those that are traps."""

import os
import shutil
import subprocess
import tarfile
import threading
import time
import tracemalloc
from bz2 import compress as bz2
from gzip import compress as gzip
from lzma import compress as xz
from pathlib import Path

import pytest
from fuzzing import fuzz, read_or_refused
from hypothesis import given
from hypothesis import strategies as st
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

PACKERS = [bytes, gzip, bz2, xz]
END = bytes(1024)
TABLE_NAME = f"data/{NAME}/{NAME}_R.dat"
ONLY_TABLE = {NAME: {f"{NAME}_R.dat": TABLE}}


def part(name, kind=b"0", content=b"", size=None, form=tarfile.GNU_FORMAT):
    """Return a header and what follows it; `size` is what the header says of that."""
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(content) if size is None else size
    return info.tobuf(form) + content + bytes(-len(content) % 512)


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


@pytest.mark.parametrize("pack", PACKERS)
@pytest.mark.parametrize("prefix", ["data/", "./data/", "", "collection-1.0/data/"])
def test_archive_gives_the_contents_of_its_data_sets(write, pack, prefix):
    members = [part(f"{prefix}{NAME}/{file}", b"0", content) for file, content in FILES.items()]
    others = part("data/notes/readme.txt") + part("conxuntos.txt")

    assert find_files(write(pack(b"".join(members) + others + END))) == {NAME: FILES}


NO_SENSE = (
    *(b"1" * 60_000, b"1" * 30_000 + b" hdrcharset=" + b"1" * 30_000, b"path=a\n", b"\0" * 512),
    b"".join(b"%d hdrcharset=" % number for number in range(4000)),
    *(b"9 path=ab\n6 a=b", b"3 a=b\n", b"99 path=a\n", b"0 a=\n", b"-5 a=\n"),
)
ABSURD = (
    *((kind, MAX_MEMBER_BYTES + 1) for kind in (b"0", b"L", b"x", b"g")),
    *((b"0", size) for size in (-512, 2**31, 2**62)),
)
NOT_PLAIN = "which is not a regular file or a folder"
DANGEROUS = (
    (table("/data/iris/iris_R.dat"), "contains '/data/iris/iris_R.dat', a path outside of it"),
    (table("data/../../iris_R.dat"), "contains 'data/../../iris_R.dat', a path outside of it"),
    (long_name(b"/etc/iris_R.dat") + table(), "contains '/etc/iris_R.dat', a path outside of it"),
    (long_name(b"../a/a_R.dat") + table(), "contains '../a/a_R.dat', a path outside of it"),
    *(
        (part(TABLE_NAME, kind), f"contains {TABLE_NAME!r}, {NOT_PLAIN}")
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, b"S")
    ),
    (pax(b"22 GNU.sparse.major=1\n") + table(), f"contains 'pax', {NOT_PLAIN}"),
    (pax(b"9 path=x\n22 GNU.sparse.major=1\n") + table(), f"contains 'pax', {NOT_PLAIN}"),
    (table(TABLE_NAME), f"contains {NAME}/{NAME}_R.dat twice"),
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *(
            (
                pack(part("header", kind, size=MAX_HEADER_BYTES) + bytes(10_000)),
                f"unpacks to more than {MAX_HEADER_BYTES} bytes of headers",
            )
            for kind in (b"L", b"K", b"x", b"X", b"g")
            for pack in PACKERS
        ),
        *(
            (
                part("header", kind, size=size) + bytes(10_000),
                f"contains 'header' of {size} bytes: the limit is {MAX_MEMBER_BYTES}",
            )
            for kind, size in ABSURD
        ),
        *(
            (pax(each) + table(), "is damaged or truncated: invalid extended header")
            for each in NO_SENSE
        ),
        *(
            (content, "is neither a folder nor a tar archive")
            for content in (b"", b"no archive", b"\x1f\x8b", b"BZh", b"BZh9x", b"\xfd7zXZ\x00")
        ),
        *((table(TABLE_NAME) + bad + END, message) for bad, message in DANGEROUS),
    ],
)
def test_archive_that_is_a_trap_or_none_is_refused_as_a_whole(write, content, message):
    path = write(content)

    assert refusal(path) == f"{path} {message}"


def test_many_headers_take_little_time(write):
    path = write(part("empty") * (MAX_HEADER_BYTES // 512 + 1))
    start = time.monotonic()

    with pytest.raises(InputError, match=f"more than {MAX_HEADER_BYTES} bytes of headers"):
        find_files(path)
    assert time.monotonic() - start < 20  # about 1 where nobody else computes


@pytest.mark.parametrize(
    ("limit", "most", "more", "of"),
    [
        ("ARCHIVE", 4096, part("empty") * 50, "content"),
        ("WANTED", len(TABLE), table("data/zoo/zoo_R.dat"), "data sets"),
    ],
)
def test_archive_is_refused_once_it_is_too_much(write, monkeypatch, limit, most, more, of):
    monkeypatch.setattr(archives, f"MAX_{limit}_BYTES", most)
    good = table(TABLE_NAME) + table("data/notes.txt")
    assert find_files(write(good + END)) == ONLY_TABLE

    path = write(good + more + END)
    assert refusal(path) == f"{path} unpacks to more than {most} bytes of {of}"


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


def test_name_in_a_message_is_short_and_printable(write):
    path = write(long_name(b"/\x1b[2J" + b"a" * 100_000) + table() + END)

    assert len(refusal(path)) < 400
    assert refusal(path).isprintable()


@pytest.mark.parametrize("pack", [bytes, gzip, xz])
def test_archive_cut_off_is_refused(write, rng, pack):
    path = write(pack(part("data/iris/iris_R.dat", b"0", rng.bytes(50_000)))[:20_000])

    with pytest.raises(InputError, match=r"a.tar is damaged or truncated: [^\n]+$"):
        find_files(path)


@pytest.mark.parametrize("form", ["gnu", "pax", "ustar", "v7", "oldgnu", "posix"])
def test_archive_of_gnu_tar_is_read(tmp_path, form):
    write_set(tmp_path)
    program = ["tar", f"--format={form}", "-C", tmp_path, "-cf", tmp_path / "a.tar", "data"]
    if shutil.which("tar") is None or subprocess.run(program, capture_output=True).returncode:
        pytest.skip("needs GNU tar")

    assert find_files(tmp_path / "a.tar") == {NAME: FILES}


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


KINDS = [b"0", b"\0", b"5", b"7", b"1", b"2", b"3", b"6", b"S", b"L", b"K", b"x", b"X", b"g", b"?"]

names = st.one_of(
    st.sampled_from(
        [f"data/{NAME}/{NAME}_R.dat", "data/", "/etc/passwd", "../up", "././@LongLink"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=150),
)
sizes = st.one_of(st.integers(0, 2000), st.sampled_from([-1, -512, 2**28 + 1, 2**33, 2**62]))


@st.composite
def pax_records(draw):
    """Return records of an extended header, some of which state a wrong length."""
    keys = st.one_of(
        st.sampled_from(["path", "size", "linkpath", "mtime", "GNU.sparse.map", "hdrcharset"]),
        st.text(max_size=5),
    )
    records = b""
    for _ in range(draw(st.integers(0, 4))):
        value = draw(st.one_of(names, sizes.map(str)))
        record = f" {draw(keys)}={value}\n".encode()
        length = len(record) + len(str(len(record))) + draw(st.sampled_from([0] * 9 + [-1, 1, 99]))
        records += str(length).encode() + record
    return records


@st.composite
def members(draw):
    """Return a header, which need not be true, and what follows it."""
    content = draw(st.one_of(st.just(TABLE), pax_records(), st.binary(max_size=1200)))
    size = draw(st.one_of(st.none(), st.none(), sizes))
    form = draw(st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]))
    return part(draw(names), draw(st.sampled_from(KINDS)), content, size, form)


@st.composite
def any_archives(draw):
    """Return the bytes of an archive, some of them changed before or after they were packed."""
    content = b"".join(draw(st.lists(members(), max_size=5))) + bytes(1024)
    content = draw(changed(content)) if draw(st.booleans()) else content
    content = draw(st.sampled_from(PACKERS))(content)
    return draw(changed(content)) if draw(st.booleans()) else content


@st.composite
def changed(draw, content):
    content = bytearray(content)
    places = st.integers(0, max(len(content) - 1, 0))
    for place in draw(st.lists(places, max_size=3 if content else 0)):
        content[place] = draw(st.integers(0, 255))
    cut = draw(st.one_of(st.just(len(content)), st.integers(0, len(content))))
    return bytes(content[:cut])


@fuzz(150)
@given(content=any_archives())
def test_any_archive_is_read_or_refused_in_one_sentence(content, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "fuzzed.tar"
    path.write_bytes(content)
    start = time.monotonic()
    found, refusal = read_or_refused(find_files, path)

    assert time.monotonic() - start < 10
    if refusal:
        assert refusal.startswith(str(path))
        assert refusal.isprintable()
    else:
        contents = [content for files in found.values() for content in files.values()]
        assert all(isinstance(content, bytes) for content in contents)
