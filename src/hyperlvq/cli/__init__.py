"""The command line: `hyperlvq`."""

import atexit
import errno
import gc
import sys
from contextlib import suppress

from hyperlvq.checks import InputError
from hyperlvq.cli.stopping import INTERRUPTED, STOPPED, SignalExit, ending_signals_raise
from hyperlvq.cli.text import printable

EXTRA_MODULES = ("jinja2", "matplotlib", "pandas", "pyarrow", "rich", "typer")
BAD_INPUT = 2
OUT_OF_FILES = (errno.EMFILE, errno.ENFILE)
UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


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
        code = _complain("there is not enough memory for this")
    except SignalExit as error:
        code = _complain(error.sentence, error.exit_code)
    except KeyboardInterrupt:
        code = _complain(STOPPED, INTERRUPTED)
    except ModuleNotFoundError as error:
        if error.name not in EXTRA_MODULES:
            raise
        code = _complain("the command line needs: pip install 'hyperlvq[cli]'")
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
    place = "standard output cannot be written" if error.errno in UNWRITTEN else "the system says"
    return f"{place}: {reason}"


def _complain(sentence: str, code: int = BAD_INPUT) -> int:
    with suppress(OSError):  # nobody can be told, but the exit code still counts
        print(printable(f"hyperlvq: {sentence}"), file=sys.stderr)
    return code
