"""Download a file over HTTP; what breaks off is resumed, now or by the next call."""

import re
import time
from collections.abc import Callable
from hashlib import file_digest
from http.client import HTTPException, HTTPResponse, InvalidURL
from pathlib import Path
from typing import NoReturn
from urllib import request
from urllib.error import HTTPError
from urllib.parse import urlsplit

from hyperlvq.checks import InputError
from hyperlvq.study.partial import Origin, PartialFile

ATTEMPTS = 5
TIMEOUT_SECONDS = 30
CHUNK_BYTES = 1 << 16
PARTIAL_CONTENT = 206
RANGE_NOT_SATISFIABLE = 416
WORTH_RETRYING = {408, 429, 500, 502, 503, 504}

Progress = Callable[[int, int | None], None]


class _BrokenOffError(Exception):
    """The download did not come to its end, but may when tried again."""


def fetch(
    url: str,
    path: str | Path,
    sha256: str | None = None,
    progress: Progress = lambda done, total: None,
    first_wait: float = 0.5,
) -> None:
    """Download `url` to `path`, which appears only once it is whole.

    Parameters
    ----------
    url : str
        An http or https address.
    path : str or Path
        Where the file shall be; until it is whole, it is `<path>.part`.
    sha256 : str, optional
        The checksum it must have, in hexadecimal.
    progress : callable
        Called with the bytes so far and those in all, None where the server doesn't say.
    first_wait : float
        Seconds before the second attempt; each further wait is twice as long.
    """
    _check_url(url)
    _check_sha256(sha256)
    if Path(path).is_dir():
        raise InputError(f"{path} is a folder, expected where the file shall be")
    part = PartialFile(Path(path))
    _download(url, part, progress, first_wait)
    if sha256 and (found := _sha256_of(part.path)) != sha256.lower():
        part.discard()
        raise InputError(f"{url} has SHA-256 {found}, expected {sha256.lower()}")
    part.finish()


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        valid = False
    if not valid or not re.fullmatch(r"[!-~]+", url):  # printable ASCII without spaces
        raise InputError(f"{url!r} is not an http or https address")


def _check_sha256(sha256: str | None) -> None:
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise InputError(f"sha256 must be 64 hexadecimal digits, got {sha256!r}")


def _sha256_of(path: Path) -> str:
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _download(url: str, part: PartialFile, progress: Progress, wait: float) -> None:
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


def _attempt(url: str, part: PartialFile, progress: Progress) -> None:
    """Add what is missing to the part; `_BrokenOffError` says that it is worth another try."""
    origin = part.origin(url)
    try:
        with _open(url, origin, part.size) as response:
            if response.status == PARTIAL_CONTENT:
                _check_continuation(response, origin, part)
            else:
                origin = Origin.of(url, response.headers)
                part.start(origin)
            _append(response, part, origin.size if origin else None, progress)
    except HTTPError as error:
        with error:
            _judge_status(error, url, origin, part)
    except InvalidURL as error:
        raise InputError(f"{url!r} is not an http or https address: {error}") from None
    except (HTTPException, OSError) as error:  # the part's own errors are InputErrors
        raise _BrokenOffError(getattr(error, "reason", error)) from None


def _opener() -> request.OpenerDirector:
    """Return an opener that, unlike urllib's own, isn't led on to ftp by a redirect."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPRedirectHandler,
        request.HTTPErrorProcessor,
        request.UnknownHandler,
    ):
        opener.add_handler(handler())
    return opener


def _open(url: str, origin: Origin | None, size: int) -> HTTPResponse:
    headers = {"User-Agent": "hyperlvq"}
    if origin:
        headers["Range"] = f"bytes={size}-"
    if origin and origin.validator:
        headers["If-Range"] = origin.validator  # all of the file comes if it is another by now
    return _opener().open(request.Request(url, headers=headers), timeout=TIMEOUT_SECONDS)


def _check_continuation(response: HTTPResponse, origin: Origin | None, part: PartialFile) -> None:
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", response.headers.get("Content-Range", ""))
    if not (origin and found and (int(found[1]), int(found[2])) == (part.size, origin.size)):
        _start_afresh(part)


def _start_afresh(part: PartialFile) -> NoReturn:
    part.discard()
    raise _BrokenOffError("the file on the server has changed")


def _append(
    response: HTTPResponse, part: PartialFile, total: int | None, progress: Progress
) -> None:
    progress(part.size, total)
    while chunk := response.read(CHUNK_BYTES):
        part.append(chunk)
        progress(part.size, total)
    if total is not None and part.size != total:
        raise _BrokenOffError(f"{part.size} of {total} bytes came")


def _judge_status(error: HTTPError, url: str, origin: Origin | None, part: PartialFile) -> None:
    """Raise what an HTTP error means, unless it means that nothing is missing."""
    if error.code == RANGE_NOT_SATISFIABLE and origin:
        whole = f"bytes */{origin.size}"
        if part.size != origin.size or error.headers.get("Content-Range", whole) != whole:
            _start_afresh(part)
    elif error.code in WORTH_RETRYING:
        raise _BrokenOffError(f"status {error.code} {error.reason}")
    else:
        raise InputError(f"{url} cannot be fetched: status {error.code} {error.reason}")
