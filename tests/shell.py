"""The command line as a shell calls it, in this process and in one of its own."""

import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from unittest.mock import patch

import pytest

from hyperlvq.cli import main

PROGRAM = (sys.executable, "-c", "from hyperlvq.cli import main; main()")


def hyperlvq(*arguments, standard_input=b""):
    """Run a command: exit code, standard output, standard error."""
    code, output, errors = hyperlvq_bytes(*arguments, standard_input=standard_input)
    return code, output.decode(), errors


def hyperlvq_bytes(*arguments, standard_input=b""):
    """Run a command whose standard output may be no text."""
    output, errors = TextIOWrapper(BytesIO(), encoding="utf-8"), StringIO()
    with (
        redirect_stdout(output),
        redirect_stderr(errors),
        patch("sys.stdin", TextIOWrapper(BytesIO(standard_input), encoding="utf-8")),
        patch("sys.argv", ["hyperlvq", *map(str, arguments)]),
        pytest.raises(SystemExit) as exited,
    ):
        main()
    output.flush()
    return exited.value.code or 0, output.buffer.getvalue(), errors.getvalue()
