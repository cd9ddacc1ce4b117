import hashlib
import json
import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hyperlvq.checks import InputError
from hyperlvq.study import fetch as fetching
from hyperlvq.study.fetch import fetch

CONTENT = bytes(range(256)) * 1000


class Handler(BaseHTTPRequestHandler):
    """Serve `server.content`, as badly as the server is told to."""

    def do_GET(self):
        server = self.server
        server.requests.append(dict(self.headers))
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

    @property
    def start(self):
        """Return where the client wants to go on, if the file is still the one it had."""
        condition = self.headers.get("If-Range", self.server.etag)
        found = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        return int(found[1]) if found and condition == self.server.etag else 0

    def log_message(self, *_):
        pass


def tags(handler):
    return {"ETag": handler.server.etag} if handler.server.etag else {}


def whole(handler):
    content, start = handler.server.content, handler.start
    if start >= len(content):
        return handler.answer(416, Content_Range=f"bytes */{len(content)}")
    if start:
        place = f"bytes {start}-{len(content) - 1}/{len(content)}"
        return handler.answer(206, content[start:], Content_Range=place, **tags(handler))
    return handler.answer(200, content, **tags(handler))


def ignoring_ranges(handler):
    handler.answer(200, handler.server.content, **tags(handler))


def cut_off(handler):
    """Send the first half of what was asked for."""
    content = handler.server.content
    rest = content[handler.start :]
    place = f"bytes {handler.start}-{len(content) - 1}/{len(content)}"
    status, headers = (206, {"Content_Range": place}) if handler.start else (200, {})
    handler.answer(status, rest[: len(rest) // 2], len(rest), **headers, **tags(handler))


def hanging_up(handler):
    handler.connection.shutdown(socket.SHUT_RDWR)


def of_unknown_length(handler):
    handler.answer(200, handler.server.content, length=False)


def status(code):
    return lambda handler: handler.answer(code)


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.content, server.etag = CONTENT, '"first"'
        server.requests, server.script = [], []
        server.url = f"http://127.0.0.1:{server.server_port}/a.tar.xz"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "a.tar.xz"


def get(server, target, **options):
    fetch(server.url, target, first_wait=0.001, **options)


def fail_with_half(server, target):
    """Leave half of the file behind, as a first call does that never gets more."""
    server.script = [cut_off, *[hanging_up] * (fetching.ATTEMPTS - 1)]
    with pytest.raises(InputError, match="broke off 5 times"):
        get(server, target)


def leftovers(target):
    return [path.name for path in target.parent.iterdir() if path != target]


def test_file_comes_whole_and_alone(server, target):
    get(server, target, sha256=hashlib.sha256(CONTENT).hexdigest().upper())

    assert target.read_bytes() == CONTENT
    assert leftovers(target) == []


def test_progress_is_told_in_bytes(server, target):
    told = []
    get(server, target, progress=lambda done, total: told.append((done, total)))

    assert told[0] == (0, len(CONTENT))
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert told == sorted(told)


def test_broken_connection_is_resumed(server, target):
    server.script = [cut_off, hanging_up, cut_off]
    get(server, target)

    assert target.read_bytes() == CONTENT
    ranges = [request.get("Range") for request in server.requests]
    assert ranges == [None, "bytes=128000-", "bytes=128000-", "bytes=192000-"]


def test_next_call_resumes(server, target):
    fail_with_half(server, target)
    assert not target.exists()
    server.requests.clear()
    get(server, target)

    assert target.read_bytes() == CONTENT
    assert server.requests[0]["Range"] == "bytes=128000-"
    assert server.requests[0]["If-Range"] == '"first"'
    assert leftovers(target) == []


def test_server_that_ignores_ranges_sends_all_again(server, target):
    server.script = [cut_off, ignoring_ranges]
    get(server, target)

    assert target.read_bytes() == CONTENT


def test_file_that_changed_is_begun_again(server, target):
    fail_with_half(server, target)
    server.content, server.etag = CONTENT[::-1], '"second"'
    get(server, target)

    assert target.read_bytes() == CONTENT[::-1]


@pytest.mark.parametrize("new_content", [CONTENT[5:], CONTENT[:1000]])
def test_without_a_tag_the_size_tells_versions_apart(server, target, new_content):
    server.etag = None
    fail_with_half(server, target)
    server.content = new_content
    get(server, target)

    assert target.read_bytes() == new_content


def test_part_that_was_whole_already_is_taken(server, target):
    origin = {"url": server.url, "validator": '"first"', "size": len(CONTENT)}
    target.with_name("a.tar.xz.part").write_bytes(CONTENT)
    target.with_name("a.tar.xz.part.json").write_text(json.dumps(origin))
    get(server, target)

    assert target.read_bytes() == CONTENT
    assert len(server.requests) == 1


@pytest.mark.parametrize("notes", ["", "[]", '{"url": 1}', "{", '{"url": "http://other/"}'])
def test_part_of_unknown_origin_is_begun_again(server, target, notes):
    target.with_name("a.tar.xz.part").write_bytes(b"something else")
    target.with_name("a.tar.xz.part.json").write_text(notes)
    get(server, target)

    assert target.read_bytes() == CONTENT
    assert "Range" not in server.requests[0]


def test_length_that_never_comes_is_refused(server, target):
    server.etag = None
    server.script = [lambda handler: handler.answer(200, CONTENT, len(CONTENT) + 9)] * 9

    with pytest.raises(InputError, match="last: 256000 of 256009 bytes came"):
        get(server, target)
    assert not target.exists()


def test_file_of_unknown_length_comes(server, target):
    server.script = [of_unknown_length]
    get(server, target)

    assert target.read_bytes() == CONTENT


def test_wrong_checksum_is_refused_and_nothing_left(server, target):
    with pytest.raises(InputError, match=r"has SHA-256 [0-9a-f]{64}, expected 0{64}"):
        get(server, target, sha256="0" * 64)
    assert not target.exists()
    assert leftovers(target) == []


def test_failure_leaves_an_older_file_alone(server, target):
    target.write_bytes(b"older")
    fail_with_half(server, target)

    assert target.read_bytes() == b"older"


def test_missing_file_is_not_asked_for_again(server, target):
    server.script = [status(404)]

    with pytest.raises(InputError, match="cannot be fetched: status 404 Not Found"):
        get(server, target)
    assert len(server.requests) == 1


def test_server_in_trouble_is_asked_again(server, target):
    server.script = [status(500), status(503)]
    get(server, target)

    assert target.read_bytes() == CONTENT


def test_server_in_lasting_trouble_is_given_up(server, target):
    server.script = [status(500)] * 9

    with pytest.raises(InputError, match="broke off 5 times, last: status 500 Internal"):
        get(server, target)


def test_range_nobody_asked_for_is_refused(server, target):
    server.script = [lambda handler: handler.answer(206, b"x", Content_Range="bytes 5-5/9")] * 9

    with pytest.raises(InputError, match="the file on the server has changed"):
        get(server, target)


def test_redirect_is_followed_over_http_only(server, target):
    server.script = [lambda handler: handler.answer(302, Location=server.url)]
    get(server, target)
    assert target.read_bytes() == CONTENT

    server.script = [lambda handler: handler.answer(302, Location="ftp://127.0.0.1/x")] * 9
    with pytest.raises(InputError, match="unknown url type: ftp"):
        get(server, target)


def test_server_that_is_not_there_is_named(target):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/a"

        with pytest.raises(InputError, match=r"a broke off 5 times, last: .*refused"):
            fetch(url, target, first_wait=0.001)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/hosts",
        "ftp://example.org/a",
        "a.tar.xz",
        "http://",
        "http://[::1",
        "http://a:port/",
        "http://a:b@c/",
        "https://example.org/a b",
        "https://example.org/\xe9",
        "",
    ],
)
def test_other_addresses_are_refused(target, url):
    with pytest.raises(InputError, match="is not an http or https address"):
        fetch(url, target)


def test_malformed_checksum_is_refused(target):
    with pytest.raises(InputError, match="sha256 must be 64 hexadecimal digits, got 'abc'"):
        fetch("http://127.0.0.1/a", target, sha256="abc")


def test_folder_that_is_not_there_is_refused(server, tmp_path):
    with pytest.raises(InputError, match=r"nowhere/a cannot be written: No such file"):
        get(server, tmp_path / "nowhere" / "a")


def test_target_that_is_a_folder_is_refused_before_the_download(server, tmp_path):
    with pytest.raises(InputError, match="is a folder, expected where the file shall be"):
        get(server, tmp_path)
    assert server.requests == []
