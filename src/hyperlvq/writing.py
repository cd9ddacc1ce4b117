"""Write files so that nobody ever sees half of one, and to terminals and standard output."""

import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from hyperlvq.checks import InputError

#: The path that stands for standard input or output.
STANDARD = "-"
#: What moves the cursor of a terminal, ends a line, turns the direction of text, or is no letter.
UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def write_bytes(content: bytes, path: str | Path) -> None:
    """Write a file, which replaces an earlier one when it is complete on the disk."""
    with replacing(path) as part:
        part.write_bytes(content)


def check_writable(path: str | Path) -> None:
    """Raise InputError if a file could not be written later."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} cannot be written: it is a folder")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}")
    needed = [path] if path.exists() else []
    if path.is_file() or not path.exists():  # a device is not replaced
        needed.append(path.resolve().parent)
    if not all(os.access(each, os.W_OK) for each in needed):
        raise InputError(f"{path} cannot be written: Permission denied")


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path; what is written there takes the place of `path` in the end.

    If the block raises, nothing of it stays and what was there before is untouched. The same people
    may read and write the new file as the old one. A device or a pipe cannot be replaced and is
    yielded itself.

    Several files become all or none when one `ExitStack` holds all their blocks.
    """
    path = Path(path)
    target = path.resolve()  # so that a link stays one
    # A name that nobody can guess, and that no other thread or process has.
    part = target.with_name(f".hyperlvq-{secrets.token_hex(8)}.part")
    try:
        if path.is_dir():
            raise InputError(f"{path} cannot be written: it is a folder")
        if path.exists() and not path.is_file():
            yield path
            return
        # Until it has the mode of the file it replaces, which may be a secret, nobody else may read
        # it; a new file gets what the umask leaves.
        mode = 0o600 if target.exists() else 0o666
        # Whatever becomes of the path in the meantime, the descriptor is of the file made here.
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            yield part
            _finish(file.fileno(), target)
        os.replace(part, target)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):  # there is none, or not even its folder
            part.unlink()


def _finish(descriptor: int, target: Path) -> None:
    """Bring a file to the disk, for the same people to read and write as the target, or fewer."""
    os.fsync(descriptor)
    if os.name != "posix" or not target.exists():
        return
    old = target.stat()
    mode = old.st_mode & 0o777
    for owner in (old.st_uid, -1):  # root may give a file away, others may share it with a group
        with suppress(PermissionError):
            os.fchown(descriptor, owner, old.st_gid)
            break
    else:
        mode &= 0o707
    os.fchmod(descriptor, mode)


@contextmanager
def standard_output(to_the_end: bool = False) -> Iterator[TextIO]:
    """Yield standard output; its reader may go when it has seen enough, as `head` does.

    With `to_the_end` that is an error too: what is written is of no use unless all of it is read.
    """
    stream = sys.stdout
    if stream is None:
        raise InputError("standard output is closed")
    try:
        if isinstance(stream, TextIOWrapper):  # a label need not fit a terminal's encoding
            stream.reconfigure(errors="backslashreplace")
        yield stream
        stream.flush()
    except OSError as error:
        # what is still waiting to be written would fail again when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if to_the_end or not isinstance(error, BrokenPipeError):
            sentence = f"standard output cannot be written: {error.strerror or error}"
            raise InputError(sentence) from None


def printable(line: str) -> str:
    """Return a line that a terminal shows as it is, whoever wrote what is in it.

    The escapes are those of JSON, so that JSON stays what it is.
    """
    return UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
