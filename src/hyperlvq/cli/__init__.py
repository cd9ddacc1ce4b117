"""The command line: `hyperlvq`."""

import sys

from hyperlvq.checks import InputError
from hyperlvq.cli.stopping import StoppedError
from hyperlvq.cli.text import printable

EXTRA_NEEDED = "the command line needs: pip install 'hyperlvq[cli]'"
EXTRA_MODULES = ("jinja2", "matplotlib", "pandas", "pyarrow", "rich", "typer")
STOPPED = "stopped"
OUT_OF_MEMORY = "there is not enough memory for this"
BAD_INPUT = 2
INTERRUPTED = 130


def main() -> None:
    """Run a command; what was given wrong is one sentence and exit code 2."""
    stopped = STOPPED
    try:
        from hyperlvq.cli.app import run

        code = run()
    except InputError as error:
        code = _complain(str(error))
    except MemoryError:
        code = _complain(OUT_OF_MEMORY)
    except StoppedError as error:
        code, stopped = INTERRUPTED, f"{STOPPED}; {error}"
    except KeyboardInterrupt:
        code = INTERRUPTED
    except ModuleNotFoundError as error:
        if error.name not in EXTRA_MODULES:
            raise
        code = _complain(EXTRA_NEEDED)
    if code == INTERRUPTED:
        _complain(stopped)
    sys.exit(code)


def _complain(sentence: str) -> int:
    print(printable(f"hyperlvq: {sentence}"), file=sys.stderr)
    return BAD_INPUT
