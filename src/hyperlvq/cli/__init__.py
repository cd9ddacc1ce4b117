"""The command line: `hyperlvq`, and how it ends: by an error, Ctrl-C or another signal."""

import atexit
import errno
import gc
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from hyperlvq.checks import InputError
from hyperlvq.writing import printable

EXTRA_MODULES = ("jinja2", "matplotlib", "pandas", "pyarrow", "rich", "typer")
BAD_INPUT = 2
OUT_OF_FILES = (errno.EMFILE, errno.ENFILE)
UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
STOPPED = "stopped"
NOTHING_WRITTEN = "nothing was written"
#: What a shell shows for a process that a signal ended is this and the signal's number.
SIGNALLED = 128
INTERRUPTED = SIGNALLED + signal.SIGINT
#: Windows has no SIGHUP, which a terminal sends when it is closed.
ENDING_SIGNALS = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]


def main() -> None:
    """Run a command; what was given wrong is one sentence and exit code 2."""
    # At its end Python looks for cycles in all that is loaded, which takes a third of a second.
    atexit.register(gc.freeze)
    try:
        with ending_signals_raise():
            from hyperlvq.cli.app import run

            code = run()
            if code == INTERRUPTED:  # which typer makes of Ctrl-C
                raise KeyboardInterrupt
    except InputError as error:
        code = _complain(str(error))
    except MemoryError:
        code = _complain("not enough memory")
    except SignalExit as error:
        code = _complain(error.sentence, error.exit_code)
    except KeyboardInterrupt:
        code = _complain(STOPPED, INTERRUPTED)
    except ModuleNotFoundError as error:
        if error.name not in EXTRA_MODULES:
            raise
        code = _complain("the command line needs more packages: pip install 'hyperlvq[cli]'")
    except Exception as error:
        system_error = _system_error(error)
        if system_error is None:
            raise
        code = _complain(_sentence(system_error))
    sys.exit(code)


def _system_error(error: BaseException) -> OSError | None:
    """Return the error of the system that one is, or that led to it where files ran out."""
    if isinstance(error, OSError):
        return error
    before = error.__context__
    while before is not None and getattr(before, "errno", None) not in OUT_OF_FILES:
        before = before.__context__
    return before if isinstance(before, OSError) else None


def _sentence(error: OSError) -> str:
    """Return what the system refused, be it help or a line of text on standard output.

    Commands say themselves what they cannot read or write.
    """
    from hyperlvq.writing import standard_output

    with suppress(InputError), standard_output():  # what waits there would fail again
        pass
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{error.filename} cannot be opened: {reason}"
    place = (
        "standard output cannot be written"
        if error.errno in UNWRITTEN
        else "operating system error"
    )
    return f"{place}: {reason}"


def _complain(sentence: str, code: int = BAD_INPUT) -> int:
    with suppress(OSError):  # nobody can be told, but the exit code still counts
        print(printable(f"hyperlvq: {sentence}"), file=sys.stderr)
    return code


class SignalExit(SystemExit):
    """A signal asked the process to end; the sentence may say what that leaves behind."""

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
