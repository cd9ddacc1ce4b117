"""The command line: `hyperlvq`."""

import sys

from hyperlvq.checks import InputError

EXTRA_NEEDED = "the command line needs: pip install 'hyperlvq[cli]'"
STOPPED = "stopped; run the same command again to go on"
BAD_INPUT = 2
INTERRUPTED = 130


def main() -> None:
    """Run a command; what was given wrong is one sentence and exit code 2."""
    try:
        from hyperlvq.cli.app import app

        app(prog_name="hyperlvq")
    except InputError as error:
        sys.exit(_complain(str(error)))
    except KeyboardInterrupt:
        sys.exit(_complain(STOPPED, INTERRUPTED))
    except SystemExit as ended:
        if ended.code == INTERRUPTED:  # what typer makes of a KeyboardInterrupt
            _complain(STOPPED, INTERRUPTED)
        raise
    except ModuleNotFoundError as error:
        if error.name not in ("jinja2", "matplotlib", "pandas", "rich", "typer"):
            raise
        sys.exit(_complain(EXTRA_NEEDED))


def _complain(sentence: str, code: int = BAD_INPUT) -> int:
    print(f"hyperlvq: {sentence}", file=sys.stderr)
    return code
