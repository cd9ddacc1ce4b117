"""Ctrl-C and the signals that ask a process to end, and what they leave behind."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

STOPPED = "stopped"
NOTHING_WRITTEN = "nothing was written"
#: What a shell shows for a process that a signal ended is this and the signal's number.
SIGNALLED = 128
INTERRUPTED = SIGNALLED + signal.SIGINT
#: Windows has no SIGHUP, which a terminal sends when it is closed.
ENDING_SIGNALS = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]


class SignalExit(SystemExit):
    """A signal asked the process to end; the sentence may say what that leaves behind."""

    exit_code: int
    sentence: str

    def __init__(self, exit_code: int, sentence: str = STOPPED) -> None:
        super().__init__(exit_code)
        self.exit_code, self.sentence = exit_code, sentence


@contextmanager
def ending_signals_raise() -> Iterator[None]:
    """Let the signals that end a process unwind the block, as Ctrl-C does.

    A signal that is ignored stays so, as those that `nohup` holds off.
    """
    heeded = [each for each in ENDING_SIGNALS if signal.getsignal(each) == signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():  # which gets the signals
        heeded = []
    for each in heeded:
        signal.signal(each, _exit)
    try:
        yield
    finally:
        for each in heeded:
            signal.signal(each, signal.SIG_DFL)


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    raise SignalExit(SIGNALLED + number)


@contextmanager
def if_stopped(consequence: str | None) -> Iterator[None]:
    """Say what holds if the block is stopped by Ctrl-C or a signal; None where nothing is sure."""
    try:
        yield
    except (KeyboardInterrupt, SignalExit) as error:
        if consequence is None:
            raise
        exit_code = error.exit_code if isinstance(error, SignalExit) else INTERRUPTED
        raise SignalExit(exit_code, f"{STOPPED}; {consequence}") from None
