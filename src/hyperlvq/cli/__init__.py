"""The command line: `hyperlvq`."""

import sys

from hyperlvq.checks import InputError

EXTRA_NEEDED = "the command line needs: pip install 'hyperlvq[cli]'"
BAD_INPUT = 2


def main() -> None:
    """Run a command; what was given wrong is one sentence and exit code 2."""
    try:
        from hyperlvq.cli.app import app

        app()
    except InputError as error:
        sys.exit(_complain(str(error)))
    except ModuleNotFoundError as error:
        if error.name not in ("jinja2", "matplotlib", "pandas", "rich", "typer"):
            raise
        sys.exit(_complain(EXTRA_NEEDED))


def _complain(sentence: str) -> int:
    print(f"hyperlvq: {sentence}", file=sys.stderr)
    return BAD_INPUT
