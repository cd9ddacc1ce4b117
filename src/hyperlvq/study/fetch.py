"""Download a file over HTTP; what breaks off is resumed, now or by the next call.

No server may keep a download going that does not get on.
"""

import re
import string
import time
from collections.abc import Callable
from hashlib import file_digest
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse, InvalidURL
from pathlib import Path
from reprlib import repr as short
from typing import Any, NoReturn
from urllib import request
from urllib.parse import quote, urljoin, urlsplit

from hyperlvq.checks import InputError
from hyperlvq.study.partial import PartialFile, Version, is_header

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
NUMBER = r"[0-9]{1,18}"  # a length or a place that fits a file

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
    """Download `url` to `path`, which appears once it is whole; until then it is `<path>.part`.

    `sha256` is the checksum it must have. The second attempt is made after `first_wait` seconds;
    each further wait is twice as long.
    """
    if not _is_address(url):
        raise InputError(f"{url!r} is not an http or https address")
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise InputError(f"sha256 must be 64 hexadecimal digits, got {sha256!r}")
    with PartialFile(url, path) as part:
        _download(part, progress, first_wait)
        if sha256:
            with open(part.path, "rb") as file:
                found = file_digest(file, "sha256").hexdigest()
            if found != sha256.lower():
                part.discard()
                raise InputError(f"{url} has SHA-256 {found}, expected {sha256.lower()}")
        part.finish()


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")
        has_place = parts.hostname and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        return False
    is_plain = re.fullmatch(r"[!-~]+", url)  # printable ASCII without spaces
    return bool(parts.scheme in ("http", "https") and has_place and is_plain)


def _download(part: PartialFile, progress: ByteProgress, wait: float) -> None:
    for attempt in range(ATTEMPTS):
        time.sleep(wait * 2 ** (attempt - 1) if attempt else 0)
        try:
            return _attempt(part, progress)
        except _BrokenOffError as error:
            reason = error
    raise InputError(
        f"{part.url} broke off {ATTEMPTS} times, last: {reason}; the same call resumes at "
        f"{part.size} bytes"
    )


def _attempt(part: PartialFile, progress: ByteProgress) -> None:
    """Add what is missing to the part; `_BrokenOffError` says that it is worth another try."""
    version = part.version()
    headers = {"User-Agent": "hyperlvq"}
    if version:
        headers["Range"] = f"bytes={part.size}-"
    if version and version.validator:
        headers["If-Range"] = version.validator  # all of the file comes if it is another by now
    try:
        with _open(part, headers) as response:
            _take(response, version, part, progress)
    except InputError:
        raise
    except (InvalidURL, ValueError) as error:  # of this address, or of one that it redirects to
        raise _refused(part, f"a malformed address or answer: {_line(error)}") from None
    except (HTTPException, OSError) as error:  # the part's own errors are InputErrors
        reason = getattr(error, "reason", error)
        raise _BrokenOffError(_line(reason) or type(error).__name__) from None


def _refused(part: PartialFile, reason: str) -> InputError:
    return InputError(f"{part.url} cannot be fetched: {reason}")


def _line(said: object) -> str:
    """Return the start of what a server says, on one line."""
    return " ".join(str(said).split())[:MAX_QUOTED]


def _open(part: PartialFile, headers: dict[str, str]) -> HTTPResponse:
    """Return the answer of an address or of what it redirects to, whatever its status."""
    director = request.OpenerDirector()  # urllib's own would go on to ftp and files
    for handler in (request.ProxyHandler(), _WatchedHandler(part), request.UnknownHandler()):
        director.add_handler(handler)
    place = part.url
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
            raise _refused(part, f"it redirects {fault}")
        if urlsplit(place).scheme == "https" and urlsplit(new).scheme != "https":
            raise _refused(part, f"it redirects to {short(new)}, which is not encrypted")
        place = new
    raise _refused(part, f"more than {MAX_REDIRECTS} redirects")


def _take(
    response: HTTPResponse, version: Version | None, part: PartialFile, progress: ByteProgress
) -> None:
    """Add what comes to the part, if it is the rest of `version` or all of a file."""
    status = _line(f"status {response.status} {response.reason}")
    place = response.headers.get("Content-Range", "")
    if response.status == HTTPStatus.OK:
        version = _version_of(response, part)
        part.start(version)
    elif response.status == HTTPStatus.PARTIAL_CONTENT:
        if not version or not re.fullmatch(f"bytes {part.size}-{NUMBER}/{version.size}", place):
            _start_afresh(part)
    elif response.status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and version:
        if part.size != version.size or place not in ("", f"bytes */{version.size}"):
            _start_afresh(part)
        return  # nothing is missing
    elif response.status in WORTH_RETRYING:
        raise _BrokenOffError(status)
    else:
        raise _refused(part, status)
    total = version.size
    progress(part.size, total)
    while chunk := response.read1(CHUNK_BYTES):  # what is there, as all of it may take hours
        part.append(chunk)
        progress(part.size, total)
        if total is not None and part.size > total:
            _start_afresh(part)
        if part.size > MAX_BYTES:
            part.discard()
            raise _refused(part, f"more than {MAX_BYTES} bytes came")
    if not part.size:
        raise _BrokenOffError("nothing came")
    if total is not None and part.size != total:
        raise _BrokenOffError(f"{part.size} of {total} bytes came")


def _version_of(response: HTTPResponse, part: PartialFile) -> Version:
    """Return the version that the headers of a whole file describe."""
    headers = response.headers
    etag = headers.get("ETag", "")
    # HTTP has no ranges of what a weak tag names
    validator = etag if etag.startswith('"') else headers.get("Last-Modified", "")
    lengths = {length.strip() for length in headers.get_all("Content-Length", [])}
    if headers.get("Transfer-Encoding", "").lower() == "chunked":
        lengths = set()  # as the end of the chunks is that of the file
    for length in lengths:
        if len(lengths) > 1 or not re.fullmatch(NUMBER, length):
            raise _refused(part, f"the server gives its length as {length[:50]!r}")
    size = int(lengths.pop()) if lengths else None
    return Version(validator if is_header(validator) else None, size)


def _start_afresh(part: PartialFile) -> NoReturn:
    part.discard()
    raise _BrokenOffError("the file on the server has changed")


class _WatchedHandler(request.HTTPSHandler, request.HTTPHandler):
    """Looks at the clock of one attempt, redirects included, before every read from a server."""

    def __init__(self, part: PartialFile):
        super().__init__()
        self._part = part
        self._open_window()

    def do_open(self, http_class: Any, req: request.Request, **options: Any) -> HTTPResponse:
        class Connection(http_class):
            response_class = self._watched_response

        return super().do_open(Connection, req, **options)

    def _watched_response(self, *arguments: Any, **options: Any) -> HTTPResponse:
        response = HTTPResponse(*arguments, **options)
        source: Any = response.fp.raw
        read = source.readinto

        def watched_read(buffer: Any) -> int | None:
            self._check_window()
            return read(buffer)

        source.readinto = watched_read  # headers and trailers come by it, too
        return response

    def _check_window(self) -> None:
        if time.monotonic() - self._start >= WINDOW_SECONDS:
            if self._part.size - self._size_at_start < WINDOW_BYTES:
                fault = f"less than {WINDOW_BYTES} bytes came in {WINDOW_SECONDS} seconds"
                raise TimeoutError(fault)
            self._open_window()

    def _open_window(self) -> None:
        self._start, self._size_at_start = time.monotonic(), self._part.size
