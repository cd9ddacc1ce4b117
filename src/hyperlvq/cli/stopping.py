"""Ctrl-C, and what it leaves behind."""

from collections.abc import Iterator
from contextlib import contextmanager

NOTHING_WRITTEN = "nothing was written"


class StoppedError(Exception):
    """A command was stopped by Ctrl-C; the message says what that leaves behind."""


@contextmanager
def if_stopped(consequence: str | None) -> Iterator[None]:
    """Say after Ctrl-C what holds if it comes within the block; None where nothing is sure."""
    try:
        yield
    except KeyboardInterrupt:
        if consequence is None:
            raise
        raise StoppedError(consequence) from None
