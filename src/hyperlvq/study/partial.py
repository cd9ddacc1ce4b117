"""A download under way: its bytes so far, and beside them which version of which file they are."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from email.message import Message
from pathlib import Path

from hyperlvq.checks import InputError


@dataclass(frozen=True)
class Origin:
    """Where bytes come from; `validator` and `size` tell one version of the file from another."""

    url: str
    validator: str | None
    size: int | None

    @classmethod
    def of(cls, url: str, headers: Message) -> "Origin":
        """Return the origin that the headers of a whole file describe."""
        etag, length = headers.get("ETag", ""), headers.get("Content-Length", "")
        # HTTP has no ranges of what a weak tag names
        validator = etag if etag.startswith('"') else headers.get("Last-Modified")
        return cls(url, validator, int(length) if length.isdecimal() else None)


class PartialFile:
    """What has come of a file, in `<target>.part` and `<target>.part.json`."""

    def __init__(self, target: Path):
        self.target = target
        self.path = Path(f"{target}.part")
        self._notes = Path(f"{target}.part.json")

    @property
    def size(self) -> int:
        """Return how many bytes have come."""
        return self.path.stat().st_size if self.path.exists() else 0

    def origin(self, url: str) -> Origin | None:
        """Return where the bytes came from, if it was `url` and there can be a continuation."""
        try:
            origin = Origin(**json.loads(self._notes.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        return origin if origin.url == url and origin.size is not None and self.size else None

    def start(self, origin: Origin) -> None:
        """Begin again, with bytes from `origin`."""
        with self._writing():
            self.path.write_bytes(b"")
            self._notes.write_text(json.dumps(asdict(origin)))

    def append(self, chunk: bytes) -> None:
        """Add bytes."""
        with self._writing(), open(self.path, "ab") as file:
            file.write(chunk)

    def discard(self) -> None:
        """Forget what has come."""
        with self._writing():
            self.path.unlink(missing_ok=True)
            self._notes.unlink(missing_ok=True)

    def finish(self) -> None:
        """Move the bytes to where they belong."""
        with self._writing():
            os.replace(self.path, self.target)
            self._notes.unlink(missing_ok=True)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(f"{self.target} cannot be written: {error.strerror}") from None
