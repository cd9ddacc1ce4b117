"""Write files so that nobody ever sees half of one, and standard output."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from hyperlvq.checks import InputError


def write_bytes(content: bytes, path: str | Path) -> None:
    """Write a file, which replaces an earlier one when it is complete on the disk."""
    with replacing(path) as part, open(part, "wb") as file:
        file.write(content)
        file.flush()
        if part != Path(path):
            os.fsync(file.fileno())


def check_writable(path: str | Path) -> None:
    """Say now what would keep a file from being written later."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} cannot be written: it is a folder")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: {path.parent} is not a folder")
    is_device = path.exists() and not path.is_file()
    needed = [path] if path.exists() else []
    needed += [] if is_device else [path.resolve().parent]  # where the new file is renamed
    if not all(os.access(each, os.W_OK) for each in needed):
        raise InputError(f"{path} cannot be written: Permission denied")


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path; what is written there takes the place of `path` in the end.

    If the block raises, nothing of it stays and what was there before is untouched. A device or a
    pipe cannot be replaced and is yielded itself.

    Several files become all or none when one `ExitStack` holds all their blocks.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} cannot be written: it is a folder")
    if path.exists() and not path.is_file():
        with _saying_what_fails(path):
            yield path
        return
    target = path.resolve()  # so that a link stays one
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _saying_what_fails(path):
            yield part
            os.replace(part, target)
    finally:
        with suppress(OSError):  # there is none, or not even its folder
            part.unlink()


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Yield standard output; its reader may go when it has seen enough, as `head` does."""
    stream = sys.stdout
    if stream is None:
        raise InputError("standard output is closed")
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # a label need not fit a terminal's encoding
    try:
        yield stream
        stream.flush()
    except OSError as error:
        # what is still waiting to be written would fail again when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            sentence = f"standard output cannot be written: {error.strerror or error}"
            raise InputError(sentence) from None


@contextmanager
def _saying_what_fails(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
