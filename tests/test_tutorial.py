"""The tutorial: its commands print what it says, its Python too."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
TUTORIAL = DOCS / "tutorial.md"


def blocks(language):
    """Return the blocks of a language, in order."""
    return re.findall(
        rf"^```{language}\n(.*?)^```$", TUTORIAL.read_text(), re.MULTILINE | re.DOTALL
    )


def commands():
    """Return each command after a `$ ` and the output below it."""
    text = "".join(blocks("console"))
    return [tuple(part.split("\n", 1)) for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]]


def run(command, folder):
    """Return what a shell prints, where `hyperlvq` is the one of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ).stdout


def check_output(command, expected, found):
    """Compare; `...` stands for anything, as in doctests."""
    same = doctest.OutputChecker().check_output(expected, found, doctest.ELLIPSIS)
    assert same, f"$ {command}\n{found}--- the tutorial has:\n{expected}"


def test_commands_and_python_of_the_tutorial_give_what_it_says(tmp_path, monkeypatch):
    shutil.copy(DOCS / "penguins.csv", tmp_path)

    for command, expected in commands():
        check_output(command, expected, run(command, tmp_path))

    monkeypatch.chdir(tmp_path)  # whose model the Python block loads
    source = "\n".join(blocks("python"))
    examples = doctest.DocTestParser().get_doctest(source, {}, "tutorial", str(TUTORIAL), 0)
    assert doctest.DocTestRunner(verbose=False).run(examples) == (0, len(examples.examples))


def test_the_tutorial_is_read_as_commands():
    names = [command.split()[0] for command, _ in commands()]

    assert names.count("hyperlvq") >= 8
    assert blocks("python")
