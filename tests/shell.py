"""The command line as a shell calls it, in this process and in one of its own."""

import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from unittest.mock import patch

import pytest

from hyperlvq.cli import main

PROGRAM = (sys.executable, "-m", "hyperlvq")


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


def output_of(*arguments, standard_input=b""):
    """Return the output of a command that must succeed and complain of nothing."""
    code, output, errors = hyperlvq(*arguments, standard_input=standard_input)
    assert (code, errors) == (0, "")
    return output


def in_process(*arguments, environment=(), **options):
    """Run a command in a process of its own: exit code, standard output, standard error."""
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    done = subprocess.run(
        [*PROGRAM, *arguments],
        env={**os.environ, **dict(environment)},
        text=True,
        **pipes | options,
    )
    return done.returncode, done.stdout, done.stderr


def filled(parts, **places):
    """Return the arguments of a command with places such as {folder} in them filled."""
    return [str(part).format(**places) for part in parts]


def check_is_refused(result, words):
    """Check that a command wrote one sentence with these words, and nothing else."""
    code, output, errors = result
    assert (code, output) == (2, "")
    assert errors.startswith("hyperlvq: ")
    assert errors.count("\n") == 1
    assert errors.endswith("\n")
    assert words in errors
