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
PAX, PAX_OF_SOLARIS, PAX_OF_ALL, GNU_NAME, GNU_LINK = b"x", b"X", b"g", b"L", b"K"
PAX_RECORD = re.compile(rb"(\d{1,9}) ([^=]+)=")
SPARSE = b"GNU.sparse."
NOT_PLAIN = "which is not a plain file or a folder"
_DAMAGE = (HeaderError, EOFError, lzma.LZMAError, zlib.error, ValueError)

_names = Repr()  # a name may be as long as all headers together
_names.maxstring = 200


def read_archive(
    path: Path, is_wanted: Callable[[PurePosixPath], bool]
) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the files of an archive that are wanted, with their contents; nothing is unpacked."""
    with open(path, "rb") as file:
        stream = _Stream(file, path)
        try:
            while (member := _next_member(stream)) is not None:
                name = PurePosixPath(member.name)
                if member.isdir():  # whose size, if it has one, counts no bytes
                    continue
                if is_wanted(name):
                    stream.count_wanted(member.size)
                    yield name, stream.read(member.size)
                else:
                    stream.read(member.size)
        except InputError:
            raise
        except (OSError, *_DAMAGE) as error:
            # gzip and bz2 raise OSError without a number for bad data
            if isinstance(error, OSError) and error.errno is not None:
                raise
            if not stream.n_bytes:
                raise InputError(f"{path} is neither a folder nor a tar archive") from None
            raise InputError(f"{path} is damaged or cut off: {error}") from None


class _Stream:
    """The unpacked bytes of an archive, counted before they are read."""

    def __init__(self, file: BufferedReader, path: Path):
        self._path, self._file = path, file
        self.n_bytes = self._n_header_bytes = self._n_wanted_bytes = 0
        for magic, unpacker in UNPACKERS.items():
            if file.peek(len(magic)).startswith(magic):
                self._file = unpacker(file)

    def next_header(self) -> TarInfo | None:
        """Return the next header, None after the last."""
        self._count_header(BLOCK_BYTES)
        block = self._file.read(BLOCK_BYTES)
        if block == bytes(BLOCK_BYTES) or (not block and self.n_bytes):
            return None
        header = TarInfo.frombuf(block, "utf-8", "surrogateescape")
        self.n_bytes += BLOCK_BYTES
        self._check_size(header)
        return header

    def read_more_header(self, size: int) -> bytes:
        """Return what stands behind a header that tells more of a member."""
        self._count_header(size)
        return self.read(size)

    def read(self, size: int) -> bytes:
        """Return so many bytes, and pass over what fills up their last block."""
        content = self._take(size)
        self._take(-size % BLOCK_BYTES)
        return content

    def count_wanted(self, size: int) -> None:
        """Refuse more than memory should hold."""
        self._n_wanted_bytes += size
        if self._n_wanted_bytes > MAX_WANTED_BYTES:
            raise InputError(f"{self._path} has more than {MAX_WANTED_BYTES} bytes of data sets")

    def refusal(self, member: TarInfo, fault: str) -> InputError:
        """Return what is wrong with a member."""
        return InputError(f"{self._path} has {_names.repr(member.name)}{fault}")

    def check(self, member: TarInfo) -> None:
        """Refuse what has no place in a collection: nothing is unpacked to disk, but still."""
        name = PurePosixPath(member.name)
        if member.type == GNUTYPE_SPARSE or not (member.isreg() or member.isdir()):
            raise self.refusal(member, f", {NOT_PLAIN}")
        if name.is_absolute() or ".." in name.parts:
            raise self.refusal(member, ", which leads out of it")
        self._check_size(member)

    def _check_size(self, member: TarInfo) -> None:
        if not 0 <= member.size <= MAX_MEMBER_BYTES:
            fault = f" of {member.size} bytes: at most {MAX_MEMBER_BYTES} are read"
            raise self.refusal(member, fault)

    def _count_header(self, size: int) -> None:
        self._n_header_bytes += size
        if self._n_header_bytes > MAX_HEADER_BYTES:
            raise InputError(f"{self._path} has more than {MAX_HEADER_BYTES} bytes of headers")

    def _take(self, size: int) -> bytes:
        self.n_bytes += size
        if self.n_bytes > MAX_ARCHIVE_BYTES:
            raise InputError(f"{self._path} unpacks to more than {MAX_ARCHIVE_BYTES} bytes")
        content = self._file.read(size)
        if len(content) < size:
            raise EOFError("it ends too soon")
        return content


def _next_member(stream: _Stream) -> TarInfo | None:
    """Return the next file or folder, with the name and size that extended headers give it."""
    name = size = None
    while (header := stream.next_header()) is not None:
        if header.type == GNU_NAME:
            name = stream.read_more_header(header.size).partition(b"\0")[0]
        elif header.type in (PAX, PAX_OF_SOLARIS):
            records = _pax_records(stream.read_more_header(header.size))
            if any(key.startswith(SPARSE) for key in records):
                raise stream.refusal(header, f", {NOT_PLAIN}")
            name, size = records.get(b"path", name), records.get(b"size", size)
        elif header.type in (PAX_OF_ALL, GNU_LINK):  # comments; links are refused below
            stream.read_more_header(header.size)
        else:
            header.name = header.name if name is None else name.decode("utf-8", "surrogateescape")
            header.size = header.size if size is None else int(size)
            stream.check(header)
            return header
    return None


def _pax_records(content: bytes) -> dict[bytes, bytes]:
    """Return the values by keyword of records `LENGTH KEYWORD=VALUE`, each ended by a newline."""
    records, start = {}, 0
    while start < len(content):
        found = PAX_RECORD.match(content, start)
        end = start + int(found[1]) if found else start
        if not found or found.end() >= end or content[end - 1 : end] != b"\n":
            raise HeaderError("an extended header makes no sense")
        records[found[2]] = content[found.end() : end - 1]
        start = end
    return records
