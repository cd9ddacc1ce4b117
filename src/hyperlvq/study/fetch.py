"""Download a file over HTTP, which appears once it is whole.

No server may keep a download going that does not get on.
"""

import re
import string
import time
from collections.abc import Callable, Iterator
from hashlib import file_digest
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse, InvalidURL
from pathlib import Path
from reprlib import repr as short
from typing import IO, Any
from urllib import request
from urllib.parse import quote, urljoin, urlsplit

from hyperlvq.checks import InputError
from hyperlvq.writing import replacing

ATTEMPTS = 5
MAX_REDIRECTS = 10
MAX_BYTES = 2**34  # a server without an end must not fill the disk
MAX_QUOTED = 200
CHUNK_BYTES = 1 << 16
TIMEOUT_SECONDS = 30
# a server that sends a byte now and then never times out; no line in use is as slow as this
WINDOW_SECONDS = 60
WINDOW_BYTES = 1024
REDIRECTS = {301, 302, 303, 307, 308}
WORTH_RETRYING = {408, 429, 500, 502, 503, 504}
NUMBER = r"[0-9]{1,18}"  # a length that fits a file

#: Told the bytes so far and those in all, None where the server doesn't say.
ByteProgress = Callable[[int, int | None], None]


class _BrokenOffError(Exception):
    """The download did not come to its end, but may when tried again."""


def fetch(
    url: str,
    path: str | Path,
    sha256: str | None = None,
    progress: ByteProgress = lambda done, total: None,
    first_wait: float = 0.5,
) -> None:
    """Download `url` to `path`; what was there before is replaced by the whole file or not at all.

    `sha256` is the checksum it must have. What breaks off is begun again, at first after
    `first_wait` seconds; each further wait is twice as long.
    """
    if not _is_address(url):
        raise InputError(f"{url!r} is not an http or https address")
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise InputError(f"sha256 must be 64 hexadecimal digits, got {sha256!r}")
    with replacing(path) as part:
        if part == Path(path):  # a device or a pipe cannot be begun again
            raise InputError(f"{path} is not a regular file and was left unchanged")
        with open(part, "wb+") as file:
            _download(url, file, progress, first_wait)
            file.seek(0)
            found = file_digest(file, "sha256").hexdigest()
        if sha256 and found != sha256.lower():
            raise InputError(f"{url} has SHA-256 {found}, expected {sha256.lower()}")


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")
        has_place = parts.hostname and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        return False
    is_plain = re.fullmatch(r"[!-~]+", url)  # printable ASCII without spaces
    return bool(parts.scheme in ("http", "https") and has_place and is_plain)


def _download(url: str, file: IO[bytes], progress: ByteProgress, wait: float) -> None:
    for attempt in range(ATTEMPTS):
        time.sleep(wait * 2 ** (attempt - 1) if attempt else 0)
        file.seek(0)
        file.truncate()
        try:
            for chunk, total in _chunks(url):
                file.write(chunk)
                progress(file.tell(), total)
        except _BrokenOffError as error:
            reason = error
        else:
            return
    raise InputError(f"{url} cannot be fetched after {ATTEMPTS} attempts: {reason}")


def _chunks(url: str) -> Iterator[tuple[bytes, int | None]]:
    """Yield a file as it comes, at first nothing of it, with its size where that is known.

    What goes wrong is a refusal, or `_BrokenOffError` where it is worth another try.
    """
    watch = _WatchedHandler()
    try:
        with _open(url, watch) as response:
            total = _size_of(response, url)
            yield b"", total
            while chunk := response.read1(CHUNK_BYTES):  # all of it may take hours
                watch.n_bytes += len(chunk)
                if watch.n_bytes > MAX_BYTES:
                    raise _refused(url, f"it is larger than {MAX_BYTES} bytes")
                yield chunk, total
    except InputError:
        raise
    except (InvalidURL, ValueError) as error:  # of this address, or of one that it redirects to
        raise _refused(url, f"malformed address or response: {_line(error)}") from None
    except (HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        raise _BrokenOffError(_line(reason) or type(error).__name__) from None
    if not watch.n_bytes:
        raise _BrokenOffError("no data received")
    if total is not None and watch.n_bytes != total:
        raise _BrokenOffError(f"received {watch.n_bytes} of {total} bytes")


def _refused(url: str, reason: str) -> InputError:
    return InputError(f"{url} cannot be fetched: {reason}")


def _line(said: object) -> str:
    """Return the start of what a server says, on one line."""
    return " ".join(str(said).split())[:MAX_QUOTED]


def _open(url: str, watch: "_WatchedHandler") -> HTTPResponse:
    """Return the answer of an address or of what it redirects to, whatever its status."""
    director = request.OpenerDirector()  # urllib's own would go on to ftp and files
    for handler in (request.ProxyHandler(), watch, request.UnknownHandler()):
        director.add_handler(handler)
    place, headers = url, {"User-Agent": "hyperlvq"}
    for _ in range(MAX_REDIRECTS + 1):
        response = director.open(request.Request(place, headers=headers), timeout=TIMEOUT_SECONDS)
        if response.status not in REDIRECTS:
            return response
        response.close()
        location = response.headers.get("Location", "")
        # some servers leave spaces and other letters as they are
        new = urljoin(place, quote(location, encoding="iso-8859-1", safe=string.punctuation))
        if not location or not _is_address(new):
            fault = f"to {short(location)}, which is not an http or https address"
            raise _refused(url, f"it redirects {fault}")
        if urlsplit(place).scheme == "https" and urlsplit(new).scheme != "https":
            raise _refused(url, f"it redirects to {short(new)}, which is not encrypted")
        place = new
    raise _refused(url, f"more than {MAX_REDIRECTS} redirects")


def _size_of(response: HTTPResponse, url: str) -> int | None:
    """Return how many bytes the headers promise, None where they do not say; raise if no file."""
    status = _line(f"status {response.status} {response.reason}")
    if response.status in WORTH_RETRYING:
        raise _BrokenOffError(status)
    if response.status != HTTPStatus.OK:
        raise _refused(url, status)
    if response.headers.get("Transfer-Encoding", "").lower() == "chunked":
        return None  # the end of the chunks is that of the file
    lengths = {length.strip() for length in response.headers.get_all("Content-Length", [])}
    for length in lengths:
        if len(lengths) > 1 or not re.fullmatch(NUMBER, length):
            raise _refused(url, f"invalid Content-Length {length[:50]!r}")
    return int(lengths.pop()) if lengths else None


class _WatchedHandler(request.HTTPSHandler, request.HTTPHandler):
    """Checks the pace of an attempt, redirects included, before every read from a server."""

    def __init__(self) -> None:
        super().__init__()
        #: Of the file that have come.
        self.n_bytes = 0
        self._window = time.monotonic(), 0

    def do_open(self, http_class: Any, req: request.Request, **options: Any) -> HTTPResponse:
        class Connection(http_class):
            response_class = self._watched_response

        return super().do_open(Connection, req, **options)

    def _watched_response(self, *arguments: Any, **options: Any) -> HTTPResponse:
        response = HTTPResponse(*arguments, **options)
        source: Any = response.fp.raw
        read = source.readinto

        def watched_read(buffer: Any) -> int | None:
            self._check_pace()
            return read(buffer)

        source.readinto = watched_read  # headers and trailers come by it, too
        return response

    def _check_pace(self) -> None:
        start, n_before = self._window
        if (now := time.monotonic()) - start >= WINDOW_SECONDS:
            if self.n_bytes - n_before < WINDOW_BYTES:
                fault = f"fewer than {WINDOW_BYTES} bytes received in {WINDOW_SECONDS} seconds"
                raise TimeoutError(fault)
            self._window = now, self.n_bytes
