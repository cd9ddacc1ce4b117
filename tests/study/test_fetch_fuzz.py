"""Servers that answer anything: a download ends soon, with the file or with one sentence."""

import shutil
import time

from fuzzing import fuzz, read_or_refused
from hypothesis import given
from hypothesis import strategies as st
from raw_server import RawServer

from hyperlvq.study.fetch import fetch

BODY = b"the file's bytes" * 100
numbers = st.one_of(
    st.just(str(len(BODY))),
    st.integers(-5, 5000).map(str),
    st.sampled_from(["", "x", "1" * 5000, "0x10", "5, 5", "9" * 18]),
)
values = st.one_of(
    numbers,
    st.sampled_from(["chunked", "gzip", "identity", "close", '"tag"', 'W/"tag"', "bytes 0-9/10"]),
    st.sampled_from(["/b", "http://[::1", "ftp://a/", "http://127.0.0.1:1/", "//", "\x1b[2J"]),
    st.text(st.characters(max_codepoint=255, exclude_characters="\r\n"), max_size=20),
)
names = st.sampled_from(
    ["Content-Length", "Transfer-Encoding", "Content-Range", "Location", "ETag", "Last-Modified"]
)
statuses = st.one_of(
    st.sampled_from(["200 OK", "200 OK", "206 Partial Content", "416 Range Not Satisfiable"]),
    st.integers(100, 999).map(str),
    st.text(st.characters(max_codepoint=255), max_size=10),
)


@st.composite
def bodies(draw):
    """Return the file, in chunks or not, or anything."""
    size = draw(st.one_of(st.just(f"{len(BODY):x}"), st.text("0123456789abcfx-+ ;", max_size=6)))
    chunked = size.encode() + b"\r\n" + BODY + b"\r\n0\r\n\r\n"
    return draw(st.one_of(st.just(BODY), st.just(chunked), st.binary(max_size=50)))


@st.composite
def answers(draw):
    """Return what a server sends, cut off somewhere or not."""
    headers = draw(st.lists(st.tuples(names, values), max_size=4))
    lines = [f"HTTP/1.1 {draw(statuses)}", *(f"{name}: {value}" for name, value in headers)]
    answer = "\r\n".join([*lines, "", ""]).encode("latin-1") + draw(bodies())
    cut = draw(st.one_of(st.just(len(answer)), st.integers(0, len(answer))))
    return answer[:cut]


@fuzz(40)
@given(answer=answers())
def test_any_answer_gives_a_file_or_one_sentence(answer, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / "fuzzed"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    target = folder / "a"
    target.write_bytes(b"older")
    start = time.monotonic()
    with RawServer() as server:
        url = server.start(answer)
        _, refusal = read_or_refused(fetch, url, target, first_wait=0)

    assert time.monotonic() - start < 20
    if refusal:
        assert refusal.startswith(url)
        assert "\n" not in refusal
        assert len(refusal) < 600
        assert target.read_bytes() == b"older"
    else:
        assert target.stat().st_size
    assert [path.name for path in folder.iterdir()] == ["a"]
