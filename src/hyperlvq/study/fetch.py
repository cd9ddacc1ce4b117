"""Download a file over HTTP; what breaks off is resumed, now or by the next call.

No server may keep a download going that does not get on.
"""

import re
import string
import time
from collections.abc import Callable
from hashlib import file_digest
from http.client import HTTPConnection, HTTPException, HTTPResponse, InvalidURL
from io import BufferedReader, RawIOBase
from pathlib import Path
from reprlib import repr as short
from typing import Any, NoReturn
from urllib import request
from urllib.parse import quote, urljoin, urlsplit

from hyperlvq.checks import InputError
from hyperlvq.study.partial import NUMBER, Origin, PartialFile

ATTEMPTS = 5
MAX_REDIRECTS = 10
MAX_BYTES = 2**34  # a server without an end must not fill the disk
MAX_QUOTED = 200
CHUNK_BYTES = 1 << 16
TIMEOUT_SECONDS = 30
# a server that sends a byte now and then never times out; no line in use is as slow as this
WINDOW_SECONDS = 60
WINDOW_BYTES = 1024
OK = 200
PARTIAL_CONTENT = 206
RANGE_NOT_SATISFIABLE = 416
REDIRECTS = {301, 302, 303, 307, 308}
WORTH_RETRYING = {408, 429, 500, 502, 503, 504}

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
    """Download `url` to `path`, which appears only once it is whole.

    Parameters
    ----------
    url : str
        An http or https address.
    path : str or Path
        Where the file goes; until it is whole, it is `<path>.part`.
    sha256 : str, optional
        The checksum it must have, in hexadecimal.
    progress : callable
        Called with the bytes so far and those in all, None where the server doesn't say.
    first_wait : float
        Seconds before the second attempt; each further wait is twice as long.
    """
    if not _is_address(url):
        raise InputError(f"{url!r} is not an http or https address")
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise InputError(f"sha256 must be 64 hexadecimal digits, got {sha256!r}")
    with PartialFile(path) as part:
        _download(url, part, progress, first_wait)
        if sha256 and (found := _sha256_of(part.path)) != sha256.lower():
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


def _sha256_of(path: Path) -> str:
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _download(url: str, part: PartialFile, progress: ByteProgress, wait: float) -> None:
    for attempt in range(ATTEMPTS):
        time.sleep(wait * 2 ** (attempt - 1) if attempt else 0)
        try:
            return _attempt(url, part, progress)
        except _BrokenOffError as error:
            reason = error
    raise InputError(
        f"{url} broke off {ATTEMPTS} times, last: {reason}; the same call resumes at "
        f"{part.size} bytes"
    )


def _attempt(url: str, part: PartialFile, progress: ByteProgress) -> None:
    """Add what is missing to the part; `_BrokenOffError` says that it is worth another try."""
    origin = part.origin(url)
    try:
        with _open(url, _headers(origin, part), part) as response:
            _take(response, url, origin, part, progress)
    except InputError:
        raise
    except (InvalidURL, ValueError) as error:  # of this address, or of one that it redirects to
        raise _refused(url, f"a malformed address or answer: {_line(error)}") from None
    except (HTTPException, OSError) as error:  # the part's own errors are InputErrors
        reason = getattr(error, "reason", error)
        raise _BrokenOffError(_line(reason) or type(error).__name__) from None


def _refused(url: str, reason: str) -> InputError:
    return InputError(f"{url} cannot be fetched: {reason}")


def _line(said: object) -> str:
    """Return the start of what a server says, on one line."""
    return " ".join(str(said).split())[:MAX_QUOTED]


def _headers(origin: Origin | None, part: PartialFile) -> dict[str, str]:
    headers = {"User-Agent": "hyperlvq"}
    if origin:
        headers["Range"] = f"bytes={part.size}-"
    if origin and origin.validator:
        headers["If-Range"] = origin.validator  # all of the file comes if it is another by now
    return headers


def _open(url: str, headers: dict[str, str], part: PartialFile) -> HTTPResponse:
    """Return the answer of an address or of what it redirects to, whatever its status."""
    director = request.OpenerDirector()  # urllib's own would go on to ftp and files
    handlers = request.ProxyHandler(), _Handler(part), _TLSHandler(part), request.UnknownHandler()
    for handler in handlers:
        director.add_handler(handler)
    place = url
    for _ in range(MAX_REDIRECTS + 1):
        response = director.open(request.Request(place, headers=headers), timeout=TIMEOUT_SECONDS)
        if response.status not in REDIRECTS:
            return response
        response.close()
        place = _redirected(place, response.headers.get("Location", ""), url)
    raise _refused(url, f"more than {MAX_REDIRECTS} redirects")


def _redirected(place: str, location: str, url: str) -> str:
    # some servers leave spaces and other letters as they are
    new = urljoin(place, quote(location, encoding="iso-8859-1", safe=string.punctuation))
    if not location or not _is_address(new):
        raise _refused(
            url, f"it redirects to {short(location)}, which is not an http or https address"
        )
    if urlsplit(place).scheme == "https" and urlsplit(new).scheme != "https":
        raise _refused(url, f"it redirects to {short(new)}, which is not encrypted")
    return new


def _take(
    response: HTTPResponse,
    url: str,
    origin: Origin | None,
    part: PartialFile,
    progress: ByteProgress,
) -> None:
    status = _line(f"status {response.status} {response.reason}")
    if response.status == OK:
        origin = Origin.of(url, response.headers)
        part.start(origin)
    elif response.status == PARTIAL_CONTENT:
        _check_continuation(response, origin, part)
    elif response.status == RANGE_NOT_SATISFIABLE and origin:
        return _check_whole(response, origin, part)
    elif response.status in WORTH_RETRYING:
        raise _BrokenOffError(status)
    else:
        raise _refused(url, status)
    return _append(response, url, part, origin.size if origin else None, progress)


def _check_continuation(response: HTTPResponse, origin: Origin | None, part: PartialFile) -> None:
    place = response.headers.get("Content-Range", "")
    found = re.fullmatch(rf"bytes ({NUMBER})-{NUMBER}/({NUMBER})", place)
    if not (origin and found and (int(found[1]), int(found[2])) == (part.size, origin.size)):
        _start_afresh(part)


def _check_whole(response: HTTPResponse, origin: Origin, part: PartialFile) -> None:
    """Begin again unless nothing is missing, as a range that is not there may mean."""
    whole = f"bytes */{origin.size}"
    if part.size != origin.size or response.headers.get("Content-Range", whole) != whole:
        _start_afresh(part)


def _start_afresh(part: PartialFile) -> NoReturn:
    part.discard()
    raise _BrokenOffError("the file on the server has changed")


def _append(
    response: HTTPResponse, url: str, part: PartialFile, total: int | None, progress: ByteProgress
) -> None:
    progress(part.size, total)
    while chunk := response.read1(CHUNK_BYTES):  # what is there, as all of it may take hours
        part.append(chunk)
        progress(part.size, total)
        if total is not None and part.size > total:
            _start_afresh(part)
        if part.size > MAX_BYTES:
            part.discard()
            raise _refused(url, f"more than {MAX_BYTES} bytes came")
    if not part.size:
        raise _BrokenOffError("nothing came")
    if total is not None and part.size != total:
        raise _BrokenOffError(f"{part.size} of {total} bytes came")


class _WatchedInput(RawIOBase):
    """What comes from a server; every read, of headers and trailers too, looks at the clock."""

    def __init__(self, raw: RawIOBase, part: PartialFile):
        self._raw, self._part = raw, part
        self._open_window()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if time.monotonic() - self._start >= WINDOW_SECONDS:
            if self._part.size - self._size_at_start < WINDOW_BYTES:
                fault = f"less than {WINDOW_BYTES} bytes came in {WINDOW_SECONDS} seconds"
                raise TimeoutError(fault)
            self._open_window()
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()

    def _open_window(self) -> None:
        self._start, self._size_at_start = time.monotonic(), self._part.size


class _Watched(request.AbstractHTTPHandler):
    def __init__(self, part: PartialFile):
        super().__init__()
        self._part = part

    def do_open(self, http_class: Any, req: request.Request, **options: Any) -> HTTPResponse:
        def connection(*arguments: Any, **options: Any) -> HTTPConnection:
            made = http_class(*arguments, **options)
            made.response_class = self._response
            return made

        return super().do_open(connection, req, **options)

    def _response(self, *arguments: Any, **options: Any) -> HTTPResponse:
        response = HTTPResponse(*arguments, **options)
        response.fp = BufferedReader(_WatchedInput(response.fp.detach(), self._part))
        return response


class _Handler(_Watched, request.HTTPHandler):
    pass


class _TLSHandler(_Watched, request.HTTPSHandler):
    pass
