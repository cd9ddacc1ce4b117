import hashlib
import os
import shutil
import socket
import ssl
import stat
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from fuzzing import fuzz, read_or_refused
from hypothesis import given
from hypothesis import strategies as st
from raw_server import RawServer

from hyperlvq.checks import InputError
from hyperlvq.study import fetch as fetching
from hyperlvq.study.fetch import fetch

CONTENT = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest().upper()


def answer(status, body=b"", *headers, length=None):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode("latin-1") + body


def redirect(location):
    return answer("302 Found", b"", f"Location: {location}")


WHOLE = answer("200 OK", CONTENT)
CUT_OFF = answer("200 OK", CONTENT[:128_000], length=len(CONTENT))
HANGING_UP = b""
OK = b"HTTP/1.1 200 OK\r\n"
OF_UNKNOWN_LENGTH = OK + b"\r\n" + CONTENT
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def server():
    with RawServer() as server:
        yield server


@pytest.fixture
def target(tmp_path):
    return tmp_path / "a.tar.xz"


def get(url, target, **options):
    fetch(url, target, first_wait=0.001, **options)


def others(target):
    return [path.name for path in target.parent.iterdir() if path != target]


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [CUT_OFF, HANGING_UP, CUT_OFF],
        [OF_UNKNOWN_LENGTH],
        *([answer(status)] for status in (408, 429, 500, 502, 503, 504)),
        *([redirect(place)] for place in ("/b c", "b\xe9", "?query", "//127.0.0.1:{port}/a")),
    ],
)
def test_file_comes_whole_and_alone(server, target, answers):
    answers = [each.replace(b"{port}", str(server.port).encode()) for each in answers]
    get(server.start(*answers, WHOLE), target, sha256=SHA256)

    assert target.read_bytes() == CONTENT
    assert not target.stat().st_mode & 0o111  # nobody may execute it
    assert others(target) == []


def test_progress_is_told_in_bytes(server, target):
    told = []
    get(server.start(WHOLE), target, progress=lambda done, total: told.append((done, total)))

    assert told[0] == (0, len(CONTENT))
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert told == sorted(told)


def test_failure_leaves_the_older_file_and_success_leaves_it_private(server, target):
    target.write_bytes(b"older")
    target.chmod(0o600)
    url = server.start(*[CUT_OFF] * fetching.ATTEMPTS, WHOLE)
    with pytest.raises(InputError, match=r"attempts: received 128000 of 256000 bytes$"):
        get(url, target)
    assert target.read_bytes() == b"older"
    get(url, target)

    assert target.read_bytes() == CONTENT
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert others(target) == []


def test_nothing_of_a_longer_attempt_is_left_behind_a_shorter_one(server, target):
    get(server.start(CUT_OFF, answer("200 OK", b"short")), target)

    assert target.read_bytes() == b"short"


def test_waits_double_with_every_attempt(server, target, monkeypatch):
    waits = []
    monkeypatch.setattr(fetching.time, "sleep", waits.append)
    with pytest.raises(InputError, match="cannot be fetched after 5 attempts"):
        get(server.start(HANGING_UP), target)

    assert waits == [0, 0.001, 0.002, 0.004, 0.008]


def test_file_without_an_end_is_not_kept(server, target, monkeypatch):
    monkeypatch.setattr(fetching, "MAX_BYTES", 100_000)

    with pytest.raises(InputError, match="it is larger than 100000 bytes"):
        get(server.start(OF_UNKNOWN_LENGTH), target)
    assert not list(target.parent.iterdir())


def test_wrong_checksum_is_refused_and_nothing_left(server, target):
    url = server.start(WHOLE)
    with pytest.raises(InputError, match="sha256 must be 64 hexadecimal digits, got 'abc'"):
        get(url, target, sha256="abc")
    with pytest.raises(InputError, match=r"has SHA-256 [0-9a-f]{64}, expected 0{64}"):
        get(url, target, sha256="0" * 64)
    assert not list(target.parent.iterdir())


OTHER_STATUSES = (201, 202, 203, 204, 205, 206, 207, 300, 304, 305, 306, 416)
MALFORMED_REDIRECTS = [
    *("http://[::1", "http://a:port/", f"http://{'a' * 64}.org/", "//a..b/", ""),
    *("file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x", "http://a:b@c/", "http://a:0/"),
]
WRONG_LENGTHS = ("-5", "+5", "5x", "0x10", "", "5, 5", "1" * 5000, "1e3", "5\r\nContent-Length: 6")
MALFORMED_CHUNKS = (
    *(b"", b"5\r\nbytes\r\n", b"-5\r\nbytes\r\n", b"x\r\n", b"9\r\nbytes"),
    *(b"f" * 70_000, b"\r\n" * 9),
)
NOT_HTTP = (
    *(b"", b"\0" * 100, b"x" * 70_000, b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 99999 OK\r\n\r\n"),
    *(OK + b"a: b\r\n" * 200, OK + b"a" * 70_000),
)
BROKE_OFF = r"cannot be fetched after 5 attempts: [^\n]+$"


@pytest.mark.parametrize(
    ("sent", "message", "n_requests"),
    [
        (answer("404 Not\tFound"), "cannot be fetched: status 404 Not Found", 1),
        *((answer(status), f"cannot be fetched: status {status}", 1) for status in OTHER_STATUSES),
        *(
            (redirect(place), r"cannot be fetched: .*(not an http or|malformed)", 1)
            for place in MALFORMED_REDIRECTS
        ),
        (redirect("ftp://127.0.0.1/x"), r"to 'ftp://127.0.0.1/x', which is not an http or", 1),
        (redirect("/b"), "more than 10 redirects", 11),
        (answer("500 Internal"), "cannot be fetched after 5 attempts: status 500 Internal", 5),
        (answer("200 OK"), "cannot be fetched after 5 attempts: no data received", 5),
        (OK + b"\r\n", "cannot be fetched after 5 attempts: no data received", 5),
        *(
            (answer("200 OK", b"bytes", length=text), "invalid Content-Length '", 1)
            for text in WRONG_LENGTHS
        ),
        (
            answer("200 OK", b"bytes", length=9),
            "cannot be fetched after 5 attempts: received 5 of 9 bytes",
            5,
        ),
        *((CHUNKED + chunks, BROKE_OFF, 5) for chunks in MALFORMED_CHUNKS),
        *((sent, BROKE_OFF, 5) for sent in NOT_HTTP),
    ],
)
def test_answer_that_is_no_file_is_one_sentence(server, target, sent, message, n_requests):
    with pytest.raises(InputError, match=message) as caught:
        get(server.start(sent), target)
    assert len(str(caught.value)) < 400
    assert server.n_requests == n_requests
    assert not list(target.parent.iterdir())


def test_server_that_is_not_there_is_named(target):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))

        with pytest.raises(InputError, match=r"a cannot be fetched after 5 attempts: .*refused"):
            get(f"http://127.0.0.1:{unused.getsockname()[1]}/a", target)


@pytest.mark.parametrize(
    "url",
    [
        *("file:///etc/hosts", "ftp://example.org/a", "a.tar.xz", "http://", "http://[::1", ""),
        *("http://a:port/", "http://a:b@c/", "https://example.org/a b", "https://example.org/\xe9"),
        *("http://a..b/", f"http://{'a' * 64}.org/", "http://a:99999/", "http://[v1]/"),
    ],
)
def test_other_addresses_are_refused(target, url):
    with pytest.raises(InputError, match="is not an http or https address"):
        fetch(url, target)


def test_chunks_give_a_file(server, target):
    get(server.start(CHUNKED + b"5\r\nbytes\r\n0\r\nTrailer: x\r\n\r\n"), target)

    assert target.read_bytes() == b"bytes"


@pytest.mark.parametrize(
    ("sent", "drip"),
    [
        (answer("200 OK", length=9999), b"x"),
        (answer("200 OK", bytes(2000), length=9999), b"x"),
        (CHUNKED, b"1\r\nx\r\n"),
        (CHUNKED + b"1\r\nx\r\n0\r\n", b"a: b\r\n"),
        (OK + b"a: ", b"x"),
        (b"HTTP/1.1 ", b"2"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
def test_server_that_drips_is_given_up(server, target, monkeypatch, sent, drip):
    monkeypatch.setattr(fetching, "WINDOW_SECONDS", 0.3)
    monkeypatch.setattr(fetching, "ATTEMPTS", 2)
    start = time.monotonic()

    with pytest.raises(InputError, match=r"fewer than 1024 bytes received in 0.3 seconds"):
        get(server.start(sent, drip=drip, drip_seconds=0.02), target)
    assert time.monotonic() - start < 15


def test_slow_but_steady_server_is_waited_for(server, target, monkeypatch):
    monkeypatch.setattr(fetching, "WINDOW_SECONDS", 0.3)
    sent = answer("200 OK", length=40_000)
    get(server.start(sent, drip=bytes(2000), drip_seconds=0.05), target)

    assert target.read_bytes() == bytes(40_000)


def test_fetches_of_one_path_at_a_time_leave_one_whole_file(server, target):
    url = server.start(WHOLE)
    with ThreadPoolExecutor(20) as threads:
        calls = [threads.submit(get, url, target) for _ in range(20)]

    assert [call.result() for call in calls] == [None] * 20
    assert target.read_bytes() == CONTENT
    assert others(target) == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere/a", "^nowhere/a cannot be written: No such file"),  # named as it was given
        (".", "cannot be written: it is a folder"),
        ("a" * 300, "cannot be written: File name too long"),
        ("pipe", "is not a regular file and was left unchanged"),  # as a device is
    ],
)
def test_place_that_cannot_be_written_is_refused_before_the_download(
    server, tmp_path, monkeypatch, path, message
):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    url = server.start(WHOLE)
    n_open = len(os.listdir("/dev/fd"))

    with pytest.raises(InputError, match=message):
        get(url, path)
    assert all(stat.S_ISFIFO(path.stat().st_mode) for path in tmp_path.iterdir())
    assert len(os.listdir("/dev/fd")) == n_open
    assert server.n_requests == 0


@pytest.fixture
def tls(tmp_path, monkeypatch):
    """Return a context of TLS by a certificate that this process trusts."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    options = ["-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", key, "-out", certificate]
    subprocess.run(
        ["openssl", "req", "-x509", *options, *names, *files], check=True, capture_output=True
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    return context


def test_file_comes_over_tls_but_not_by_a_redirect_to_http(server, tls, target):
    url = server.start(WHOLE, redirect("http://127.0.0.1/a"), tls=tls)
    get(url, target.with_name("b"))
    assert target.with_name("b").read_bytes() == CONTENT

    with pytest.raises(InputError, match=r"redirects to 'http://127.0.0.1/a', which is not encr"):
        get(url, target)
    assert server.n_requests == 2
    assert not target.exists()


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
def answers(draw):
    """Return headers and the file, in chunks or not, or anything, cut off somewhere or not."""
    headers = draw(st.lists(st.tuples(names, values), max_size=4))
    lines = [f"HTTP/1.1 {draw(statuses)}", *(f"{name}: {value}" for name, value in headers)]
    size = draw(st.one_of(st.just(f"{len(BODY):x}"), st.text("0123456789abcfx-+ ;", max_size=6)))
    chunked = size.encode() + b"\r\n" + BODY + b"\r\n0\r\n\r\n"
    body = draw(st.one_of(st.just(BODY), st.just(chunked), st.binary(max_size=50)))
    sent = "\r\n".join([*lines, "", ""]).encode("latin-1") + body
    return sent[: draw(st.one_of(st.just(len(sent)), st.integers(0, len(sent))))]


@fuzz(40)
@given(sent=answers())
def test_any_answer_gives_a_file_or_one_sentence_soon(sent, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzzed")
    target = folder / "a"
    target.write_bytes(b"older")
    start = time.monotonic()
    with RawServer() as server:
        url = server.start(sent)
        _, refusal = read_or_refused(fetch, url, target, first_wait=0)

    assert time.monotonic() - start < 20
    if refusal:
        assert refusal.startswith(url)
        assert "\n" not in refusal
        assert len(refusal) < 600
        assert target.read_bytes() == b"older"
    else:
        assert target.stat().st_size
    assert others(target) == []
