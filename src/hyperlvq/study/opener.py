"""Open addresses over HTTP, where no server may keep a download going that does not get on."""

import time
from collections.abc import Callable
from functools import partial
from http.client import HTTPConnection, HTTPResponse
from io import BufferedReader, RawIOBase
from typing import Any
from urllib import request

TIMEOUT_SECONDS = 30
# a server that sends a byte now and then never times out; no line in use is as slow as this
WINDOW_SECONDS = 60
WINDOW_BYTES = 1024


class Opener:
    """Open addresses whose bytes go to a file of `size()` bytes, which must grow meanwhile."""

    def __init__(self, size: Callable[[], int]):
        self._watch = _Watch(size)
        self._director = request.OpenerDirector()  # urllib's own would go on to ftp and files
        handlers = request.ProxyHandler(), _Handler(self._watch), _TLSHandler(self._watch)
        for handler in (*handlers, request.UnknownHandler()):
            self._director.add_handler(handler)

    def open(self, url: str, headers: dict[str, str]) -> HTTPResponse:
        """Return the answer, whatever its status."""
        wanted = request.Request(url, headers=headers)
        return self._director.open(wanted, timeout=TIMEOUT_SECONDS)


class _Watch:
    """Whether a file grows; TimeoutError says that it does not."""

    def __init__(self, size: Callable[[], int]):
        self._size = size
        self._open_window()

    def check(self) -> None:
        """Raise if a window of time has passed in which too little came."""
        if time.monotonic() - self._start < WINDOW_SECONDS:
            return
        if self._size() - self._size_at_start < WINDOW_BYTES:
            raise TimeoutError(f"less than {WINDOW_BYTES} bytes came in {WINDOW_SECONDS} seconds")
        self._open_window()

    def _open_window(self) -> None:
        self._start, self._size_at_start = time.monotonic(), self._size()


class _WatchedInput(RawIOBase):
    """What comes from a server; every read, of headers and trailers too, looks at the watch."""

    def __init__(self, raw: RawIOBase, watch: _Watch):
        self._raw, self._watch = raw, watch

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._watch.check()
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _watched_response(watch: _Watch, *arguments: Any, **options: Any) -> HTTPResponse:
    response = HTTPResponse(*arguments, **options)
    response.fp = BufferedReader(_WatchedInput(response.fp.detach(), watch))
    return response


class _Watched(request.AbstractHTTPHandler):
    def __init__(self, watch: _Watch):
        super().__init__()
        self._watch = watch

    def do_open(self, http_class: Any, req: request.Request, **options: Any) -> HTTPResponse:
        def connection(*arguments: Any, **options: Any) -> HTTPConnection:
            made = http_class(*arguments, **options)
            made.response_class = partial(_watched_response, self._watch)
            return made

        return super().do_open(connection, req, **options)


class _Handler(_Watched, request.HTTPHandler):
    pass


class _TLSHandler(_Watched, request.HTTPSHandler):
    pass
