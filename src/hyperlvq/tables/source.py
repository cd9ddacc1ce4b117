"""Bytes of a file or of standard input; gzip is unpacked, what is not a table is named.

Content decides, not the file's name: `data.csv` may be gzip, Parquet, or an Excel file by mistake.
"""

import gzip
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from hyperlvq.checks import InputError

STANDARD_INPUT = "standard input"
GZIP_MAGIC = b"\x1f\x8b"
PARQUET_MAGIC = b"PAR1"
ZIP_MAGIC = b"PK\x03\x04"
HEAD_SIZE = 4096
COPY_BLOCK = 1 << 20

#: What a file begins with, what it is and what to do about it.
FOREIGN_FORMATS = (
    ((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), "a Python pickle: save it as CSV"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel file: save it as CSV"),
    (b"SQLite format 3\0", "an SQLite database: export a table of it as CSV"),
    (b"%PDF-", "a PDF document: save the table as CSV"),
    ((b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*"), "an image: give a table in CSV"),
    (b"\x89HDF", "an HDF5 file: save the table as CSV or Parquet"),
    (b"\x93NUMPY", "a numpy array: save it as CSV with a header"),
    (b"ARROW1", "an Arrow file: save it as Parquet or CSV"),
    (b"ORC", "an ORC file: save it as Parquet or CSV"),
    (b"Obj\x01", "an Avro file: save it as Parquet or CSV"),
    ((b"RDX", b"X\n\0\0\0"), "an R data file: save it by write.csv"),
    (b"$FL2", "an SPSS file: save it as CSV"),
    (b"<stata_dta>", "a Stata file: save it as CSV"),
    (b"{\\rtf", "a text document: save the table as CSV"),
    (b"BZh", "compressed by bzip2: unpack it first"),
    (b"\xfd7zXZ\0", "compressed by xz: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
    (GZIP_MAGIC, "compressed by gzip twice: unpack it first"),
)
#: Formats of text, which blanks may precede, in lower case.
FOREIGN_TEXT = (
    ((b"<!doctype html", b"<html"), "a web page: download the table itself"),
    ((b'{"', b"[{", b"[["), "JSON: save it as CSV"),
)
#: What is in a ZIP archive of a spreadsheet; all archives have the last.
ZIP_CONTENTS = (
    (b"opendocument.spreadsheet", "an OpenDocument spreadsheet: save it as CSV"),
    (b"xl/", "an Excel file: save it as CSV"),
    (b"[Content_Types].xml", "an Excel file: save it as CSV"),
    (ZIP_MAGIC, "a ZIP archive: unpack it first"),
)


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Peekable:
    """A stream whose next bytes can be looked at before they are read."""

    def __init__(self, stream: _Readable) -> None:
        self._stream = stream
        self._head = b""

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer only at the end, and keep them."""
        parts = [self._head]
        missing = size - len(self._head)
        while missing > 0 and (part := self._read_on(missing)):
            parts.append(part)
            missing -= len(part)
        self._head = b"".join(parts)
        return self._head[:size]

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; none at the end."""
        if self._head:
            head, self._head = self._head[:size], self._head[size:]
            return head
        return self._read_on(size)

    def _read_on(self, size: int) -> bytes:
        return self._stream.read(size)


class Source(Peekable, AbstractContextManager):
    """The bytes of a table, unpacked; a context manager that closes what was opened."""

    def __init__(self, name: str, file: IO[bytes], size: int | None = None) -> None:
        self.name = name  # what messages call it
        self._file = file
        self._size = size  # None for a pipe
        self._copy: str | None = None
        packed: Any = Peekable(file)  # GzipFile is typed to need a whole file, and only reads
        with self._one_sentence():
            self._is_packed = packed.peek(len(GZIP_MAGIC)) == GZIP_MAGIC
        super().__init__(gzip.GzipFile(fileobj=packed) if self._is_packed else packed)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, unless it is standard input, and remove a copy."""
        if self._copy:
            os.unlink(self._copy)
            self._copy = None
        if self.name != STANDARD_INPUT:
            self._file.close()

    def _read_on(self, size: int) -> bytes:
        with self._one_sentence():
            return super()._read_on(size)

    @property
    def position(self) -> float | None:
        """The share of the file that has been read, None for a pipe."""
        return min(self._file.tell() / self._size, 1.0) if self._size else None

    def stored(self) -> str:
        """Return the path of a file that holds these bytes, as Parquet must be searched.

        What comes from a pipe or is packed is copied to a temporary file, which `close` removes.
        """
        if self._size is not None and not self._is_packed:
            return self.name
        with self._one_sentence():
            descriptor, self._copy = tempfile.mkstemp()
            with open(descriptor, "wb") as copy:
                while block := self.read(COPY_BLOCK):
                    copy.write(block)
        return self._copy

    @contextmanager
    def _one_sentence(self) -> Iterator[None]:
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
    if str(path) != "-":
        source = _open_file(path)
    elif sys.stdin is None:
        raise InputError(f"{STANDARD_INPUT} is closed")
    else:
        source = Source(STANDARD_INPUT, sys.stdin.buffer)
    try:
        if what := _foreign_format(source.peek(HEAD_SIZE)):
            raise InputError(f"{source.name} is {what}")
    except BaseException:
        source.close()
        raise
    return source


def _open_file(path: str | Path) -> Source:
    try:
        file = open(path, "rb")  # noqa: SIM115, the source closes it
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory, not a table") from None
    except PermissionError:
        raise InputError(f"{path} may not be read: permission denied") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be opened: {_reason(error)}") from None
    status = os.fstat(file.fileno())
    return Source(str(path), file, status.st_size if stat.S_ISREG(status.st_mode) else None)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _foreign_format(head: bytes) -> str | None:
    """Return what the bytes are and what to do about it, if they are known not to be a table."""
    if not head:
        return "empty"
    if head.startswith(ZIP_MAGIC):
        return next(what for part, what in ZIP_CONTENTS if part in head)
    if head[8:].startswith(b'{"__metadata__"'):  # of safetensors
        return "a model file: give the table itself"
    text = head.lstrip()[:20].lower()
    for start, formats in ((head, FOREIGN_FORMATS), (text, FOREIGN_TEXT)):
        for magic, what in formats:
            if start.startswith(magic):
                return what
    return None
