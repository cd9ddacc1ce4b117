"""A download under way: its bytes so far, and beside them which version of which file they are."""

import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from errno import ENOSPC
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from hyperlvq.checks import InputError
from hyperlvq.study.records import lock
from hyperlvq.writing import move_into_place

MAX_NOTES_BYTES = 1 << 16
NOT_PLAIN = "is not a plain file, and is left as it is"


class Version(NamedTuple):
    """What tells one version of a file from another: what its server calls it, and its size."""

    validator: str | None
    size: int | None


def is_header(value: object) -> bool:
    """Return whether a value can be sent to a server."""
    return isinstance(value, str) and re.fullmatch("[ -~]+", value) is not None


class PartialFile:
    """What has come of the file at `url`, in `<target>.part` and `<target>.part.json`.

    Other downloads to the same place are refused while one holds it as a context.
    """

    path: Path

    def __init__(self, url: str, path: str | Path) -> None:
        self.url = url
        self._name = path
        self._target = Path(os.path.realpath(path))  # so that a link stays one
        self.path = Path(f"{self._target}.part")
        self._notes_path = Path(f"{self._target}.part.json")

    def __enter__(self) -> "PartialFile":
        with self._writing(), ExitStack() as opened:
            if self._target.is_dir():
                raise InputError(f"{self._name} is a folder, not where a file can go")
            if self._target.exists() and not self._target.is_file():
                raise InputError(f"{self._name} {NOT_PLAIN}")
            self._notes = opened.enter_context(_open_plain(self._notes_path))
            lock(self._notes, Path(self._name))
            if not os.fstat(self._notes.fileno()).st_nlink:  # another has just removed it
                raise InputError(f"another run is writing to {self._name}")
            opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with self._writing(), self._notes:
            if not self.size:
                if os.name == "nt":  # which removes no file that is open
                    self._notes.close()
                self.path.unlink(missing_ok=True)
                self._notes_path.unlink(missing_ok=True)  # the last: it holds the place

    @property
    def size(self) -> int:
        """Return how many bytes have come."""
        is_ours = self.path.is_file() and not self.path.is_symlink()
        return self.path.stat().st_size if is_ours else 0

    def version(self) -> Version | None:
        """Return which version of the file the bytes are of, None if they cannot be continued."""
        with self._writing():
            self._notes.seek(0)
            content = self._notes.read(MAX_NOTES_BYTES)
        try:
            notes = json.loads(content)
            url, version = notes["url"], Version(notes["validator"], notes["size"])
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        is_valid = version.validator is None or is_header(version.validator)
        is_continuable = is_valid and type(version.size) is int and url == self.url
        return version if is_continuable and self.size else None

    def start(self, version: Version) -> None:
        """Begin again, with bytes of this version."""
        self.discard()
        with self._writing():
            self._notes.write(json.dumps({"url": self.url, **version._asdict()}).encode())

    def append(self, chunk: bytes) -> None:
        """Add bytes."""
        with self._writing(), _open_plain(self.path) as file:
            if file.write(chunk) != len(chunk):
                raise OSError(ENOSPC, os.strerror(ENOSPC))

    def discard(self) -> None:
        """Forget what has come."""
        with self._writing():
            self.path.unlink(missing_ok=True)
            self._notes.truncate(0)

    def finish(self) -> None:
        """Move the bytes to where they belong."""
        with self._writing():
            move_into_place(self.path, self._target)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except InputError:
            raise
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"{self._name} cannot be written: {reason}") from None


def _open_plain(path: Path) -> FileIO:
    """Open a file to read and append; neither a link, which may lead anywhere, nor a device."""
    no_follow, binary = getattr(os, "O_NOFOLLOW", 0), getattr(os, "O_BINARY", 0)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | no_follow | binary
    descriptor = os.open(path, flags, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InputError(f"{path} {NOT_PLAIN}")
    return FileIO(descriptor, "ab+")
