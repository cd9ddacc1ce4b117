"""Bytes of a file or of standard input; gzip is unpacked, what is not a table is named.

Content decides, not the file's name: `data.csv` may be gzip, Parquet, or an Excel file by mistake.
"""

import gzip
import os
import re
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from hyperlvq.checks import InputError
from hyperlvq.writing import STANDARD

STANDARD_INPUT = "standard input"
GZIP_MAGIC = b"\x1f\x8b"
PARQUET_MAGIC = b"PAR1"
HEAD_SIZE = 4096
COPY_BLOCK = 1 << 20

#: What a file begins with, what it is and what to do about it.
FOREIGN_FORMATS = (
    (rb"\Z", "empty"),
    (rb'.{8}\{"__metadata__"', "a model file, not a table"),  # of safetensors
    (rb"PK\x03\x04.*opendocument\.spreadsheet", "an OpenDocument spreadsheet: save it as CSV"),
    (rb"PK\x03\x04.*(xl/|\[Content_Types\]\.xml)", "an Excel file: save it as CSV"),
    (rb"PK\x03\x04", "a ZIP archive: unpack it first"),
    (rb"\x80[\x02-\x05]", "a Python pickle: save it as CSV"),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel file: save it as CSV"),
    (rb"SQLite format 3\0", "an SQLite database: export a table of it as CSV"),
    (rb"%PDF-", "a PDF document: save the table as CSV"),
    (rb"\x89PNG|\xff\xd8\xff|GIF8|II\*\0|MM\0\*", "an image: give a table in CSV"),
    (rb"\x89HDF", "an HDF5 file: save the table as CSV or Parquet"),
    (rb"\x93NUMPY", "a numpy array: save it as CSV with a header"),
    (rb"ARROW1", "an Arrow file: save it as Parquet or CSV"),
    (rb"ORC", "an ORC file: save it as Parquet or CSV"),
    (rb"Obj\x01", "an Avro file: save it as Parquet or CSV"),
    (rb"RDX|X\n\0\0\0", "an R data file: save it with write.csv"),
    (rb"\$FL2", "an SPSS file: save it as CSV"),
    (rb"<stata_dta>", "a Stata file: save it as CSV"),
    (rb"\{\\rtf", "a text document: save the table as CSV"),
    (rb"BZh", "compressed with bzip2: decompress it first"),
    (rb"\xfd7zXZ\0", "compressed with xz: decompress it first"),
    (rb"\x28\xb5\x2f\xfd", "compressed with zstd: decompress it first"),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
    (GZIP_MAGIC, "compressed with gzip twice: decompress it first"),
    (rb"\s*<(?i:!doctype html|html)", "a web page: download the data file instead"),
    (rb'\s*(\{"|\[[{[])', "JSON: save it as CSV"),
)


class Peekable:
    """A stream whose next bytes can be looked at before they are read."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read_on = read
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


class Source(Peekable, ExitStack):
    """The bytes of a table, unpacked; a context manager that closes what was opened."""

    def __init__(self, name: str, file: IO[bytes], size: int | None = None) -> None:
        ExitStack.__init__(self)
        self.name = name  # what messages call it
        self._file, self._size = file, size  # None for a pipe
        if name != STANDARD_INPUT:
            self.enter_context(file)
        packed: Any = Peekable(file.read)  # GzipFile is typed to need a whole file, and only reads
        with self._one_sentence():
            self._is_packed = packed.peek(len(GZIP_MAGIC)) == GZIP_MAGIC
        self._stream = gzip.GzipFile(fileobj=packed) if self._is_packed else packed
        Peekable.__init__(self, self._read_stream)

    def _read_stream(self, size: int) -> bytes:
        with self._one_sentence():
            return self._stream.read(size)

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
            descriptor, path = tempfile.mkstemp()
            self.callback(os.unlink, path)
            with open(descriptor, "wb") as copy:
                while block := self.read(COPY_BLOCK):
                    copy.write(block)
        return path

    @contextmanager
    def _one_sentence(self) -> Iterator[None]:
        try:
            yield
        except EOFError:
            raise InputError(f"{self.name} is truncated: its gzip data ends too early") from None
        except (gzip.BadGzipFile, zlib.error):
            raise InputError(
                f"{self.name} is damaged: its gzip data cannot be decompressed"
            ) from None
        except OSError as error:
            raise InputError(f"{self.name} cannot be read: {_reason(error)}") from None


def open_source(path: str | Path) -> Source:
    """Open a path, or standard input for `-`."""
    if str(path) == STANDARD:
        if sys.stdin is None:
            raise InputError(f"{STANDARD_INPUT} is closed")
        return Source(STANDARD_INPUT, sys.stdin.buffer)
    try:
        file = open(path, "rb")  # noqa: SIM115, the source closes it
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory, not a table") from None
    except PermissionError:
        raise InputError(f"{path} cannot be read: permission denied") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be opened: {_reason(error)}") from None
    status = os.fstat(file.fileno())
    return Source(str(path), file, status.st_size if stat.S_ISREG(status.st_mode) else None)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def check_format(source: Source) -> None:
    """Refuse what is known not to be a table, and say what to do about it."""
    head = source.peek(HEAD_SIZE)
    for pattern, what in FOREIGN_FORMATS:
        if re.match(pattern, head, re.DOTALL):
            raise InputError(f"{source.name} is {what}")
