"""The directive `command-line`: all commands and their options, as typer knows them."""

import re

import typer
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from hyperlvq.cli.app import app


def commands(command, path):
    """Return the name and the command of each leaf."""
    if not hasattr(command, "commands"):
        return [(path, command)]
    return [
        leaf
        for name, inner in command.commands.items()
        for leaf in commands(inner, f"{path} {name}")
    ]


def described(name, command):
    """Return the section of a command, as lines of reStructuredText."""
    context = typer.Context(command, info_name=name)
    usage = command.get_usage(context).removeprefix("Usage: ")
    text, _, example = command.help.partition("Example: ")
    lines = [name, "-" * len(name), "", ".. code-block:: console", "", f"   $ {usage}", ""]
    lines += [*plain(text).splitlines(), ""]
    if example:
        lines += ["Example:", "", ".. code-block:: console", "", f"   $ {example.strip()}", ""]
    lines += [f".. program:: {name}", ""]
    for parameter in command.get_params(context):
        names, text = parameter.get_help_record(context)
        if names != "--help":
            lines += [f".. option:: {names.strip()}", "", f"   {plain(text)}", ""]
    return lines


def plain(text):
    """Return text without anything that reStructuredText would take for markup."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)


class CommandLine(SphinxDirective):
    """Sections for all commands."""

    def run(self):
        """Return the sections."""
        lines = [
            line
            for name, command in commands(typer.main.get_command(app), "hyperlvq")
            for line in described(name, command)
        ]
        container = nodes.section()
        container.document = self.state.document
        self.state.nested_parse(StringList(lines, "command line"), 0, container, match_titles=True)
        return container.children


def setup(sphinx):
    """Add this extension to Sphinx."""
    sphinx.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True}
