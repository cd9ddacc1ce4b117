"""The pages of the documentation: their commands print what they say, their Python too."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    DOCS / "getting_started.md",
    DOCS / "tutorial.md",
    *sorted(DOCS.glob("guide/*.md")),
    *sorted(DOCS.glob("howto/*.md")),
]


def blocks(page, languages):
    """Return the language and the text of each block of a page, in order."""
    pattern = rf"^```({languages})\n(.*?)^```$"
    return re.findall(pattern, page.read_text(), re.MULTILINE | re.DOTALL)


def commands(text):
    """Return each command after a `$ ` and the output below it."""
    return [tuple(part.split("\n", 1)) for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]]


def run(command, folder):
    """Return what a command prints that must succeed; `hyperlvq` is this environment's."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"$ {command}\n{done.stdout}"
    return done.stdout


def check_output(command, expected, found):
    """Compare; `...` stands for anything, as in doctests."""
    same = doctest.OutputChecker().check_output(expected, found, doctest.ELLIPSIS)
    assert same, f"$ {command}\n{found}--- the page has:\n{expected}"


def check_python(text, names, page):
    """Run the examples of a block in the names of those before."""
    examples = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
    report = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    outcome = runner.run(examples, out=report.append, clear_globs=False)
    names.update(examples.globs)
    assert outcome == (0, len(examples.examples)), "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_and_python_of_a_page_give_what_it_says(page, tmp_path, monkeypatch):
    shutil.copy(DOCS / "penguins.csv", tmp_path)
    monkeypatch.chdir(tmp_path)  # where commands and Python find each other's files
    names, found = {}, blocks(page, "console|python")

    assert found or page.stem in ("index", "choose")
    for language, text in found:
        if language == "python":
            check_python(text, names, page)
        else:
            for command, expected in commands(text):
                check_output(command, expected, run(command, tmp_path))


def test_the_tutorial_is_read_as_commands():
    found = dict(blocks(DOCS / "tutorial.md", "console|python"))
    texts = "".join(text for _, text in blocks(DOCS / "tutorial.md", "console"))

    assert [command.split()[0] for command, _ in commands(texts)].count("hyperlvq") >= 8
    assert "python" in found
