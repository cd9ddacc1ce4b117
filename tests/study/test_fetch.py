import hashlib
import os
import shutil
import socket
import ssl
import stat
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from raw_server import RawServer

from hyperlvq.checks import InputError
from hyperlvq.study import fetch as fetching
from hyperlvq.study.fetch import fetch

CONTENT = bytes(range(256)) * 1000


class Handler(BaseHTTPRequestHandler):
    """Serve `server.content`, as badly as the server is told to."""

    def do_GET(self):
        server = self.server
        server.requests.append(self.path)
        behave = server.script.pop(0) if server.script else whole
        behave(self)

    def answer(self, status, body=b"", length=None, **headers):
        self.send_response(status)
        if length is not False:
            self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def whole(handler, share=1):
    """Send the file, or a share of it."""
    content = handler.server.content
    handler.answer(200, content[: int(share * len(content))], len(content))


def cut_off(handler):
    whole(handler, share=0.5)


def hanging_up(handler):
    handler.connection.shutdown(socket.SHUT_RDWR)


def of_unknown_length(handler):
    handler.answer(200, handler.server.content, length=False)


def answering(*answer, **headers):
    return lambda handler: handler.answer(*answer, **headers)


def redirecting(location):
    return lambda handler: handler.answer(
        302, Location=location.format(port=handler.server.server_port)
    )


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.content, server.requests, server.script = CONTENT, [], []
        server.url = f"http://127.0.0.1:{server.server_port}/a.tar.xz"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def raw_server():
    """Return what starts a server that answers every request with these bytes."""
    with RawServer() as server:
        yield server.start


@pytest.fixture
def target(tmp_path):
    return tmp_path / "a.tar.xz"


def get(server, target, **options):
    fetch(server.url, target, first_wait=0.001, **options)


def leftovers(target):
    return [path.name for path in target.parent.iterdir() if path != target]


SHA256 = hashlib.sha256(CONTENT).hexdigest().upper()


@pytest.mark.parametrize(
    "script",
    [
        [],
        [cut_off, hanging_up, cut_off],
        [of_unknown_length],
        *([answering(code)] for code in (408, 429, 500, 502, 503, 504)),
        *(
            [redirecting(location)]
            for location in ("/b c", "b\xe9", "?query", "//127.0.0.1:{port}/a")
        ),
    ],
)
def test_file_comes_whole_and_alone(server, target, script):
    server.script = script
    get(server, target, sha256=SHA256)

    assert target.read_bytes() == CONTENT
    assert not target.stat().st_mode & 0o111  # nobody may execute it
    assert leftovers(target) == []


def test_progress_is_told_in_bytes(server, target):
    told = []
    get(server, target, progress=lambda done, total: told.append((done, total)))

    assert told[0] == (0, len(CONTENT))
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert told == sorted(told)


def test_failure_leaves_the_older_file_and_success_leaves_it_private(server, target):
    target.write_bytes(b"older")
    target.chmod(0o600)
    server.script = [cut_off] * fetching.ATTEMPTS
    with pytest.raises(InputError, match=r"last: 128000 of 256000 bytes came$"):
        get(server, target)
    assert target.read_bytes() == b"older"
    get(server, target)

    assert target.read_bytes() == CONTENT
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert leftovers(target) == []


def test_nothing_of_a_longer_attempt_is_left_behind_a_shorter_one(server, target):
    server.script = [cut_off, answering(200, b"short")]
    get(server, target)

    assert target.read_bytes() == b"short"


def test_waits_double_with_every_attempt(server, target, monkeypatch):
    waits = []
    monkeypatch.setattr(fetching.time, "sleep", waits.append)
    server.script = [hanging_up] * fetching.ATTEMPTS
    with pytest.raises(InputError, match="broke off 5 times"):
        get(server, target)

    assert waits == [0, 0.001, 0.002, 0.004, 0.008]


def test_file_without_an_end_is_not_kept(server, target, monkeypatch):
    monkeypatch.setattr(fetching, "MAX_BYTES", 100_000)
    server.script = [of_unknown_length]

    with pytest.raises(InputError, match="more than 100000 bytes came"):
        get(server, target)
    assert not list(target.parent.iterdir())


def test_wrong_checksum_is_refused_and_nothing_left(server, target):
    with pytest.raises(InputError, match="sha256 must be 64 hexadecimal digits, got 'abc'"):
        get(server, target, sha256="abc")
    with pytest.raises(InputError, match=r"has SHA-256 [0-9a-f]{64}, expected 0{64}"):
        get(server, target, sha256="0" * 64)
    assert not list(target.parent.iterdir())


OTHER_STATUSES = (201, 202, 203, 204, 205, 206, 207, 300, 304, 305, 306, 416)
MALFORMED_REDIRECTS = [
    *("http://[::1", "http://a:port/", f"http://{'a' * 64}.org/", "//a..b/", ""),
    *("file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x", "http://a:b@c/", "http://a:0/"),
]


@pytest.mark.parametrize(
    ("behaviour", "message", "n_requests"),
    [
        (answering(404), "cannot be fetched: status 404 Not Found", 1),
        *((answering(code), f"cannot be fetched: status {code}", 1) for code in OTHER_STATUSES),
        *(
            (redirecting(location), r"cannot be fetched: .*(not an http or|malformed)", 1)
            for location in MALFORMED_REDIRECTS
        ),
        (redirecting("ftp://127.0.0.1/x"), r"to 'ftp://127.0.0.1/x', which is not an http or", 1),
        (redirecting("/b"), "more than 10 redirects", 11),
        (answering(500), "broke off 5 times, last: status 500 Internal", 5),
        (answering(200, b""), "broke off 5 times, last: nothing came", 5),
        (answering(200, b"", False), "broke off 5 times, last: nothing came", 5),
    ],
)
def test_answer_that_is_no_file_is_refused(server, target, behaviour, message, n_requests):
    server.script = [behaviour] * 99

    with pytest.raises(InputError, match=message):
        get(server, target)
    assert len(server.requests) == n_requests
    assert not list(target.parent.iterdir())


def test_server_that_is_not_there_is_named(target):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/a"

        with pytest.raises(InputError, match=r"a broke off 5 times, last: .*refused"):
            fetch(url, target, first_wait=0.001)


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


def length_of(text):
    return f"HTTP/1.1 200 OK\r\nContent-Length: {text}\r\n\r\nbytes".encode()


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
BROKE_OFF = r"broke off 5 times, last: [^\n]+$"
WRONG_LENGTH = "cannot be fetched: the server gives its length as '"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        *(
            (length_of(text), WRONG_LENGTH)
            for text in ("-5", "+5", "5x", "0x10", "", "5, 5", "1" * 5000, "1e3")
        ),
        (length_of("5\r\nContent-Length: 6"), WRONG_LENGTH),
        (length_of("9"), "broke off 5 times, last: 5 of 9 bytes came"),
        *(
            (CHUNKED + chunks, BROKE_OFF)
            for chunks in (b"", b"5\r\nbytes\r\n", b"-5\r\nbytes\r\n", b"x\r\n", b"9\r\nbytes")
        ),
        (CHUNKED + b"f" * 70_000, BROKE_OFF),
        (CHUNKED + b"\r\n" * 9, BROKE_OFF),
        *((answer, BROKE_OFF) for answer in (b"", b"\0" * 100, b"x" * 70_000)),
        *((b"HTTP/1.1 %s\r\n\r\n" % status, BROKE_OFF) for status in (b"abc", b"99999 OK")),
        *(
            (b"HTTP/1.1 200 OK\r\n" + headers, BROKE_OFF)
            for headers in (b"a: b\r\n" * 200, b"a" * 70_000)
        ),
    ],
)
def test_answer_that_is_not_http_is_one_sentence(raw_server, target, answer, message):
    with pytest.raises(InputError, match=message) as caught:
        fetch(raw_server(answer), target, first_wait=0.001)
    assert len(str(caught.value)) < 400
    assert not list(target.parent.iterdir())


def test_chunks_give_a_file(raw_server, target):
    fetch(raw_server(CHUNKED + b"5\r\nbytes\r\n0\r\nTrailer: x\r\n\r\n"), target)

    assert target.read_bytes() == b"bytes"


@pytest.mark.parametrize(
    "answer",
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + bytes(2000), b"x"),
        (CHUNKED, b"1\r\nx\r\n"),
        (CHUNKED + b"1\r\nx\r\n0\r\n", b"a: b\r\n"),
        (b"HTTP/1.1 200 OK\r\na: ", b"x"),
        (b"HTTP/1.1 ", b"2"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
def test_server_that_drips_is_given_up(raw_server, target, monkeypatch, answer):
    monkeypatch.setattr(fetching, "WINDOW_SECONDS", 0.3)
    monkeypatch.setattr(fetching, "ATTEMPTS", 2)
    url = raw_server(*answer, drip_seconds=0.02)
    start = time.monotonic()

    with pytest.raises(InputError, match=r"less than 1024 bytes came in 0.3 seconds"):
        fetch(url, target, first_wait=0.001)
    assert time.monotonic() - start < 15


def test_slow_but_steady_server_is_waited_for(raw_server, target, monkeypatch):
    monkeypatch.setattr(fetching, "WINDOW_SECONDS", 0.3)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n"
    fetch(raw_server(head, bytes(2000), drip_seconds=0.05), target)

    assert target.read_bytes() == bytes(40_000)


def test_fetches_of_one_path_at_a_time_leave_one_whole_file(server, target):
    with ThreadPoolExecutor(20) as threads:
        calls = [threads.submit(get, server, target) for _ in range(20)]

    assert [call.result() for call in calls] == [None] * 20
    assert target.read_bytes() == CONTENT
    assert leftovers(target) == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere/a", "^nowhere/a cannot be written: No such file"),  # named as it was given
        (".", "cannot be written: it is a folder"),
        ("a" * 300, "cannot be written: File name too long"),
        ("pipe", "is not a plain file, and is left as it is"),  # as a device is
    ],
)
def test_place_that_cannot_be_written_is_refused_before_the_download(
    server, tmp_path, monkeypatch, path, message
):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    n_open = len(os.listdir("/dev/fd"))

    with pytest.raises(InputError, match=message):
        get(server, path)
    assert all(stat.S_ISFIFO(path.stat().st_mode) for path in tmp_path.iterdir())
    assert len(os.listdir("/dev/fd")) == n_open
    assert server.requests == []


def test_link_to_the_file_stays_one(server, target, tmp_path):
    (tmp_path / "folder").mkdir()
    target.symlink_to(tmp_path / "folder" / "b")
    get(server, target)

    assert target.is_symlink()
    assert (tmp_path / "folder" / "b").read_bytes() == CONTENT


@pytest.fixture
def secure(server, tmp_path, monkeypatch):
    """Return the server once it speaks TLS by a certificate that this process trusts."""
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
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.url = server.url.replace("http:", "https:")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    return server


def test_file_comes_over_tls_but_not_by_a_redirect_to_http(secure, target):
    get(secure, target.with_name("b"))
    assert target.with_name("b").read_bytes() == CONTENT
    secure.script = [redirecting("http://127.0.0.1/a")] * 9

    with pytest.raises(
        InputError, match=r"redirects to 'http://127.0.0.1/a', which is not encrypted"
    ):
        get(secure, target)
    assert len(secure.requests) == 2
    assert not target.exists()
