"""The command line as a shell calls it, in this process and in one of its own."""

import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from unittest.mock import patch

import pytest

from hyperlvq.cli import main

PROGRAM = (sys.executable, "-c", "from hyperlvq.cli import main; main()")


def hyperlvq(*arguments):
    """Run a command: exit code, standard output, standard error."""
    output, errors = StringIO(), StringIO()
    with (
        redirect_stdout(output),
        redirect_stderr(errors),
        patch("sys.argv", ["hyperlvq", *map(str, arguments)]),
        pytest.raises(SystemExit) as exited,
    ):
        main()
    return exited.value.code or 0, output.getvalue(), errors.getvalue()
