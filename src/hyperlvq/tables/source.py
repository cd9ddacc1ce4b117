"""Bytes of a file or of standard input; gzip is unpacked, what is no table is named.

Content decides, not the file's name: `data.csv` may be gzip, Parquet, or an Excel file by mistake.
"""

import gzip
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from hyperlvq.checks import InputError

STANDARD_INPUT = "standard input"
GZIP_MAGIC = b"\x1f\x8b"
PARQUET_MAGIC = b"PAR1"
HEAD_SIZE = 4096
SPOOL_BLOCK = 1 << 20

# what a file begins with, what it is, and what to do about it
FOREIGN_FORMATS = (
    *((bytes([0x80, version]), "a Python pickle", "save it as CSV") for version in (2, 3, 4, 5)),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel file", "save it as CSV"),
    (b"SQLite format 3\0", "an SQLite database", "export a table of it as CSV"),
    (b"%PDF-", "a PDF document", "save the table as CSV"),
    (b"\x89PNG", "an image", "give a table in CSV"),
    (b"\xff\xd8\xff", "an image", "give a table in CSV"),
    (b"GIF8", "an image", "give a table in CSV"),
    (b"II*\0", "an image", "give a table in CSV"),
    (b"MM\0*", "an image", "give a table in CSV"),
    (b"\x89HDF", "an HDF5 file", "save the table as CSV or Parquet"),
    (b"\x93NUMPY", "a numpy array", "save it as CSV with a header"),
    (b"ARROW1", "an Arrow file", "save it as Parquet or CSV"),
    (b"ORC", "an ORC file", "save it as Parquet or CSV"),
    (b"Obj\x01", "an Avro file", "save it as Parquet or CSV"),
    (b"RDX", "an R data file", "save it by write.csv"),
    (b"X\n\0\0\0", "an R data file", "save it by write.csv"),
    (b"$FL2", "an SPSS file", "save it as CSV"),
    (b"<stata_dta>", "a Stata file", "save it as CSV"),
    (b"{\\rtf", "a text document", "save the table as CSV"),
    (b"BZh", "compressed by bzip2", "unpack it first"),
    (b"\xfd7zXZ\0", "compressed by xz", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first"),
    (GZIP_MAGIC, "compressed by gzip twice", "unpack it first"),
)
ZIP_MAGIC = b"PK\x03\x04"
SAFETENSORS = b'{"__metadata__"'
WEB_PAGE = (b"<!doctype html", b"<html")
JSON = (b'{"', b"[{", b"[[")


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class Peekable:
    """A stream whose next bytes can be looked at before they are read."""

    def __init__(self, stream: _Readable):
        self._stream = stream
        self._head = b""

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer only at the end, and keep them."""
        parts = [self._head]
        missing = size - len(self._head)
        while missing > 0 and (part := self._stream.read(missing)):
            parts.append(part)
            missing -= len(part)
        self._head = b"".join(parts)
        return self._head[:size]

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, or all; none at the end."""
        if size < 0:
            head, self._head = self._head, b""
            return head + self._stream.read()
        if self._head:
            head, self._head = self._head[:size], self._head[size:]
            return head
        return self._stream.read(size)


class Source:
    """The bytes of a table, unpacked; a context manager that closes what it opened.

    Parameters
    ----------
    name : str
        What messages call it.
    file : binary file
        Where the bytes come from.
    size : int or None
        The file's size, to tell how much of it has been read; None for a pipe.
    """

    def __init__(self, name: str, file: IO[bytes], size: int | None = None):
        self.name = name
        self._file = file
        self._size = size
        self._copy: str | None = None
        packed = Peekable(file)
        with self._sentences():
            self.is_packed = packed.peek(2) == GZIP_MAGIC
        only_read: Any = packed  # as GzipFile does, which is typed to need a whole file
        self._stream = Peekable(gzip.GzipFile(fileobj=only_read) if self.is_packed else packed)

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, unless it is standard input, and remove a copy."""
        if self._copy:
            os.unlink(self._copy)
            self._copy = None
        if self.name != STANDARD_INPUT:
            self._file.close()

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer only at the end, and keep them."""
        with self._sentences():
            return self._stream.peek(size)

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; none at the end."""
        with self._sentences():
            return self._stream.read(size)

    @property
    def position(self) -> float | None:
        """The share of the file that has been read, None for a pipe."""
        if not self._size or self._file.closed:
            return None
        return min(self._file.tell() / self._size, 1.0)

    @property
    def is_parquet(self) -> bool:
        """Whether the bytes are a Parquet file's."""
        return self.peek(len(PARQUET_MAGIC)) == PARQUET_MAGIC

    def stored(self) -> str:
        """Return the path of a file that holds these bytes, as Parquet must be searched.

        What comes from a pipe or is packed is copied to a temporary file, which `close` removes.
        """
        if self._size is not None and not self.is_packed:
            return self.name
        with self._sentences():
            descriptor, self._copy = tempfile.mkstemp()
            with open(descriptor, "wb") as copy:
                shutil.copyfileobj(self._stream, copy, SPOOL_BLOCK)
        return self._copy

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except EOFError:
            raise InputError(f"{self.name} is cut off: its gzip data ends too early") from None
        except (gzip.BadGzipFile, zlib.error):
            raise InputError(f"{self.name} is damaged: its gzip data cannot be unpacked") from None
        except OSError as error:
            raise InputError(f"{self.name} cannot be read: {_reason(error)}") from None


def open_source(path: str | Path) -> Source:
    """Open a path, or standard input for `-`; InputError if it cannot hold a table."""
    source = _standard_input() if str(path) == "-" else _open_file(path)
    try:
        _check_format(source)
    except BaseException:
        source.close()
        raise
    return source


def _standard_input() -> Source:
    if sys.stdin is None:
        raise InputError(f"{STANDARD_INPUT} is closed")
    return Source(STANDARD_INPUT, sys.stdin.buffer)


def _open_file(path: str | Path) -> Source:
    name = str(path)
    try:
        file = open(path, "rb")  # noqa: SIM115, the source closes it
    except FileNotFoundError:
        raise InputError(f"{name} does not exist") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a directory, not a table") from None
    except PermissionError:
        raise InputError(f"{name} may not be read: permission denied") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{name!r} cannot be opened: {_reason(error)}") from None
    try:
        return Source(name, file, _size(file))
    except BaseException:
        file.close()
        raise


def _size(file: IO[bytes]) -> int | None:
    status = os.fstat(file.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _check_format(source: Source) -> None:
    head = source.peek(HEAD_SIZE)
    if not head:
        raise InputError(f"{source.name} is empty")
    if found := _foreign_format(head):
        what, advice = found
        raise InputError(f"{source.name} is {what}: {advice}")


def _foreign_format(head: bytes) -> tuple[str, str] | None:
    if head.startswith(ZIP_MAGIC):
        return _zip_format(head)
    for magic, what, advice in FOREIGN_FORMATS:
        if head.startswith(magic):
            return what, advice
    start = head.lstrip()[:20].lower()
    if head[8:].startswith(SAFETENSORS):
        return "a model file", "give the table itself"
    if start.startswith(WEB_PAGE):
        return "a web page", "download the table itself"
    if start.startswith(JSON):
        return "JSON", "save it as CSV"
    return None


def _zip_format(head: bytes) -> tuple[str, str]:
    if b"opendocument.spreadsheet" in head:
        return "an OpenDocument spreadsheet", "save it as CSV"
    if b"xl/" in head or b"[Content_Types].xml" in head:
        return "an Excel file", "save it as CSV"
    return "a ZIP archive", "unpack it first"
