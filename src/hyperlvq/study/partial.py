"""A download under way: its bytes so far, and beside them which version of which file they are."""

import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from email.message import Message
from errno import ENOSPC
from io import FileIO
from pathlib import Path

from hyperlvq.checks import InputError
from hyperlvq.study.records import lock
from hyperlvq.writing import move_into_place

#: A length or a place that fits a file.
NUMBER = r"[0-9]{1,18}"
MAX_NOTES_BYTES = 1 << 16


@dataclass(frozen=True)
class Origin:
    """Where bytes come from; `validator` and `size` tell one version of the file from another."""

    url: str
    validator: str | None
    size: int | None

    @classmethod
    def of(cls, url: str, headers: Message) -> "Origin":
        """Return the origin that the headers of a whole file describe."""
        etag = headers.get("ETag", "")
        # HTTP has no ranges of what a weak tag names
        validator = etag if etag.startswith('"') else headers.get("Last-Modified", "")
        return cls(url, validator if _is_header(validator) else None, _length(url, headers))

    @classmethod
    def from_json(cls, text: bytes) -> "Origin | None":
        """Return the origin that was noted, None where there can be no continuation."""
        try:
            origin = cls(**json.loads(text))
        except (ValueError, TypeError, RecursionError):
            return None
        is_continuable = type(origin.size) is int
        has_validator = origin.validator is None or _is_header(origin.validator)
        return origin if is_continuable and has_validator else None


def _is_header(value: object) -> bool:
    """Return whether a value can be sent to a server."""
    return isinstance(value, str) and re.fullmatch("[ -~]+", value) is not None


def _length(url: str, headers: Message) -> int | None:
    lengths = set(headers.get_all("Content-Length", []))
    if not lengths or headers.get("Transfer-Encoding", "").lower() == "chunked":
        return None  # as the end of the chunks is that of the file
    length = lengths.pop().strip()
    if lengths or not re.fullmatch(NUMBER, length):
        raise InputError(f"{url} cannot be fetched: the server gives its length as {length[:50]!r}")
    return int(length)


class PartialFile:
    """What has come of a file, in `<target>.part` and `<target>.part.json`.

    Other downloads to the same place are refused while one holds it as a context.
    """

    def __init__(self, path: str | Path):
        self._name = path
        self.target = Path(os.path.realpath(path))  # so that a link stays one
        self.path = Path(f"{self.target}.part")
        self._notes_path = Path(f"{self.target}.part.json")

    def __enter__(self) -> "PartialFile":
        with self._writing(), ExitStack() as opened:
            _check_target(self.target, self._name)
            self._notes = opened.enter_context(_open_plain(self._notes_path))
            lock(self._notes, Path(self._name))
            if not _is_same_file(self._notes, self._notes_path):  # the other has just ended
                raise InputError(f"another run is writing to {self._name}")
            opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with self._writing(), self._notes:
            if not self.size:
                if os.name == "nt":  # which removes no file that is open
                    self._notes.close()
                self._notes_path.unlink(missing_ok=True)
                self.path.unlink(missing_ok=True)

    @property
    def size(self) -> int:
        """Return how many bytes have come."""
        try:
            found = self.path.lstat()
        except FileNotFoundError:
            return 0
        return found.st_size if stat.S_ISREG(found.st_mode) else 0

    def origin(self, url: str) -> Origin | None:
        """Return where the bytes came from, if it was `url` and they can be continued."""
        with self._writing():
            self._notes.seek(0)
            origin = Origin.from_json(self._notes.read(MAX_NOTES_BYTES))
            return origin if origin and origin.url == url and self.size else None

    def start(self, origin: Origin) -> None:
        """Begin again, with bytes from `origin`."""
        self.discard()
        with self._writing():
            self._notes.write(json.dumps(asdict(origin)).encode())

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
            move_into_place(self.path, self.target)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"{self._name} cannot be written: {reason}") from None


def _check_target(target: Path, name: str | Path) -> None:
    if target.is_dir():
        raise InputError(f"{name} is a folder, not where a file can go")
    if target.exists() and not target.is_file():
        raise InputError(f"{name} is not a plain file, and is left as it is")


def _open_plain(path: Path) -> FileIO:
    """Open a file to read and append; neither a link, which may lead anywhere, nor a device."""
    no_follow, binary = getattr(os, "O_NOFOLLOW", 0), getattr(os, "O_BINARY", 0)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | no_follow | binary
    descriptor = os.open(path, flags, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InputError(f"{path} is not a plain file, and is left as it is")
    return FileIO(descriptor, "ab+")


def _is_same_file(file: FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
