"""Read a tar archive once, from front to back, within bounds that hold before anything is parsed.

Python's `tarfile` reads names and headers of any length and follows them by recursion, so that a
few kilobytes can take gigabytes, minutes or the stack. Here every byte is counted as it is
unpacked, and what a plain file or folder does not need is refused.
"""

import bz2
import gzip
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path, PurePosixPath
from reprlib import Repr
from tarfile import GNUTYPE_SPARSE, HeaderError, TarInfo
from typing import Any

from hyperlvq.checks import InputError

# the files of the public collection that the study reads have 117 MB, of which the largest has 28
# and headers 0.3; its home packs more with them, 195 MB: far beyond that, an archive is a trap
MAX_ARCHIVE_BYTES = 2**32
MAX_WANTED_BYTES = 2**30
MAX_MEMBER_BYTES = 2**28
MAX_HEADER_BYTES = 2**24

BLOCK_BYTES = 512
UNPACKERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
# the kinds of headers that tell more of the member they precede
PAX, PAX_OF_SOLARIS, PAX_OF_ALL, GNU_NAME, GNU_LINK = KINDS_OF_HEADERS = (
    b"x",
    b"X",
    b"g",
    b"L",
    b"K",
)
PAX_RECORD = re.compile(rb"(\d{1,9}) ([^=]+)=")
SPARSE = b"GNU.sparse."
NOT_PLAIN = "which is not a regular file or a folder"
_DAMAGE = (HeaderError, EOFError, lzma.LZMAError, zlib.error, ValueError)

_names = Repr()  # a name may be as long as all headers together
_names.maxstring = 200


def read_archive(
    path: Path, is_wanted: Callable[[PurePosixPath], bool]
) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the files of an archive that are wanted, with their contents; nothing is unpacked."""
    with open(path, "rb") as file:
        archive = _Archive(file, path)
        try:
            for member in archive.members():
                name = PurePosixPath(member.name)
                if is_wanted(name) and member.isreg():
                    archive.count(member.size, MAX_WANTED_BYTES, "data sets")
                    yield name, archive.read(member.size)
                elif member.isreg():  # the size of a folder, if it has one, counts no bytes
                    archive.read(member.size)
        except InputError:
            raise
        except (OSError, *_DAMAGE) as error:
            # gzip and bz2 raise OSError without a number for bad data
            if isinstance(error, OSError) and error.errno is not None:
                raise
            if not archive.n_bytes:
                raise InputError(f"{path} is neither a folder nor a tar archive") from None
            raise InputError(f"{path} is damaged or truncated: {error}") from None


class _Archive:
    """The unpacked bytes of an archive, of which only so many are read."""

    def __init__(self, file: BufferedReader, path: Path):
        self._path, self._file = path, file
        #: By what they are of.
        self.n_bytes = Counter[str]()
        for magic, unpacker in UNPACKERS.items():
            if file.peek(len(magic)).startswith(magic):
                self._file = unpacker(file)

    def members(self) -> Iterator[TarInfo]:
        """Yield files and folders, with the names and sizes that extended headers give them."""
        name = size = None
        while (header := self._next_header()) is not None:
            content = b""
            if header.type in KINDS_OF_HEADERS:
                self.count(header.size, MAX_HEADER_BYTES, "headers")
                content = self.read(header.size)
            if header.type == GNU_NAME:
                name = content.partition(b"\0")[0]
            elif header.type in (PAX, PAX_OF_SOLARIS):
                records = _pax_records(content)
                if any(key.startswith(SPARSE) for key in records):
                    raise self._refusal(header, f", {NOT_PLAIN}")
                name, size = records.get(b"path", name), records.get(b"size", size)
            elif header.type not in KINDS_OF_HEADERS:
                if name is not None:
                    header.name = name.decode("utf-8", "surrogateescape")
                header.size = header.size if size is None else int(size)
                self._check(header)
                yield header
                name = size = None

    def read(self, size: int) -> bytes:
        """Return so many bytes, and pass over what fills up their last block."""
        n_fill = -size % BLOCK_BYTES
        self.count(size + n_fill, MAX_ARCHIVE_BYTES, "content")
        content, fill = self._file.read(size), self._file.read(n_fill)
        if len(content) + len(fill) < size + n_fill:
            raise EOFError("unexpected end of file")
        return content

    def count(self, size: int, most: int, of: str) -> None:
        """Refuse more bytes of a kind than it may have, before they are read."""
        self.n_bytes[of] += size
        if self.n_bytes[of] > most:
            raise InputError(f"{self._path} unpacks to more than {most} bytes of {of}")

    def _next_header(self) -> TarInfo | None:
        block = self._file.read(BLOCK_BYTES)
        if block == bytes(BLOCK_BYTES) or (not block and self.n_bytes):
            return None
        header = TarInfo.frombuf(block, "utf-8", "surrogateescape")
        self.count(BLOCK_BYTES, MAX_HEADER_BYTES, "headers")
        self.count(BLOCK_BYTES, MAX_ARCHIVE_BYTES, "content")
        self._check_size(header)
        return header

    def _check(self, member: TarInfo) -> None:
        """Refuse what has no place in a collection: nothing is unpacked to disk, but still."""
        name = PurePosixPath(member.name)
        if member.type == GNUTYPE_SPARSE or not (member.isreg() or member.isdir()):
            raise self._refusal(member, f", {NOT_PLAIN}")
        if name.is_absolute() or ".." in name.parts:
            raise self._refusal(member, ", a path outside of it")
        self._check_size(member)

    def _check_size(self, member: TarInfo) -> None:
        if not 0 <= member.size <= MAX_MEMBER_BYTES:
            fault = f" of {member.size} bytes: the limit is {MAX_MEMBER_BYTES}"
            raise self._refusal(member, fault)

    def _refusal(self, member: TarInfo, fault: str) -> InputError:
        return InputError(f"{self._path} contains {_names.repr(member.name)}{fault}")


def _pax_records(content: bytes) -> dict[bytes, bytes]:
    """Return the values by keyword of records `LENGTH KEYWORD=VALUE`, each ended by a newline."""
    records, start = {}, 0
    while start < len(content):
        found = PAX_RECORD.match(content, start)
        end = start + int(found[1]) if found else start
        if not found or found.end() >= end or content[end - 1 : end] != b"\n":
            raise HeaderError("invalid extended header")
        records[found[2]] = content[found.end() : end - 1]
        start = end
    return records
