"""The command line: `hyperlvq`."""

import sys

from hyperlvq.checks import InputError
from hyperlvq.cli.stopping import INTERRUPTED, SignalExit, StoppedError, ending_signals_raise

EXTRA_NEEDED = "the command line needs: pip install 'hyperlvq[cli]'"
EXTRA_MODULES = ("jinja2", "matplotlib", "pandas", "pyarrow", "rich", "skops", "typer")
STOPPED = "stopped"
OUT_OF_MEMORY = "there is not enough memory for this"
BAD_INPUT = 2


def main() -> None:
    """Run a command; what was given wrong is one sentence and exit code 2."""
    try:
        with ending_signals_raise():
            code = _run()
    except InputError as error:
        code = _complain(str(error))
    except MemoryError:
        code = _complain(OUT_OF_MEMORY)
    except StoppedError as error:
        code = _complain(f"{STOPPED}; {error}", error.exit_code)
    except SignalExit as error:
        code = _complain(STOPPED, error.exit_code)
    except KeyboardInterrupt:
        code = _complain(STOPPED, INTERRUPTED)
    except ModuleNotFoundError as error:
        if error.name not in EXTRA_MODULES:
            raise
        code = _complain(EXTRA_NEEDED)
    sys.exit(code)


def _run() -> int:
    from hyperlvq.cli.app import run

    code = run()
    if code == INTERRUPTED:  # which typer makes of Ctrl-C
        raise KeyboardInterrupt
    return code


def _complain(sentence: str, code: int = BAD_INPUT) -> int:
    print(f"hyperlvq: {sentence}", file=sys.stderr)
    return code
