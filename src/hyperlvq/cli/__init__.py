"""The command line: `hyperlvq`."""

import sys

EXTRA_NEEDED = "hyperlvq: the command line needs: pip install 'hyperlvq[cli]'"


def main():
    """Run the command line; what it needs beyond the library is the extra `cli`."""
    try:
        from hyperlvq.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        print(EXTRA_NEEDED, file=sys.stderr)
        sys.exit(2)
    app()
