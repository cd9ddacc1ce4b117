"""Archives put together from anything: each is read or refused in one sentence, soon."""

import bz2
import gzip
import io
import lzma
import tarfile
import time

from fuzzing import fuzz, read_or_refused
from hypothesis import given
from hypothesis import strategies as st
from small_set import NAME, TABLE

from hyperlvq.study.collection import find_files

PACKERS = [bytes, gzip.compress, bz2.compress, lzma.compress]
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
    info = tarfile.TarInfo(draw(names))
    info.type = draw(st.sampled_from(KINDS))
    info.size = draw(st.one_of(st.just(len(content)), st.just(len(content)), sizes))
    header = info.tobuf(draw(st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])))
    return header + content + bytes(-len(content) % 512)


@st.composite
def archives(draw):
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
@given(content=archives())
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


@fuzz(50)
@given(
    contents=st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=120)
        .filter(str.isprintable)
        .filter(lambda name: name not in (".", "..")),
        st.binary(max_size=1500),
        max_size=5,
    ),
    form=st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
    pack=st.sampled_from(PACKERS),
)
def test_every_archive_of_python_is_read(contents, form, pack, tmp_path_factory):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for name, content in contents.items():
            info = tarfile.TarInfo(f"data/{name}/conxuntos.dat")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    path = tmp_path_factory.getbasetemp() / "good.tar"
    path.write_bytes(pack(buffer.getvalue()))

    expected = {name: {"conxuntos.dat": content} for name, content in contents.items()}
    assert find_files(path) == expected
