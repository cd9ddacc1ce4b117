"""The commands, put together; what each of them imports is loaded when it runs."""

import re
from typing import Any

import typer

from hyperlvq import __version__
from hyperlvq.checks import InputError
from hyperlvq.cli.data import data_app
from hyperlvq.cli.devices import budget, costs, export
from hyperlvq.cli.fit import fit
from hyperlvq.cli.predict import evaluate, predict
from hyperlvq.cli.show import show
from hyperlvq.cli.study import study_app

#: What typer raises for a wrong command, option or value; it exports no name for it.
UsageError: Any = typer.BadParameter.__mro__[1]
#: Typer's wordings that do not read as part of one sentence, and ours.
WORDINGS = {
    "Value error, ": "",
    "Input should be": "it must be",
    ", unable to parse string as an integer": "",
    ", unable to parse string as a number": "",
    "(Possible options": "(possible options",
}

app: typer.Typer = typer.Typer(
    name="hyperlvq",
    help="Train classifiers on tables, apply them and export them to microcontrollers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (fit, predict, evaluate, show, export, budget, costs):
    app.command()(command)
app.add_typer(data_app, name="data")
app.add_typer(study_app, name="study")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def common(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """Train classifiers on tables, apply them and export them to microcontrollers."""


def run() -> int:
    """Run the command of this process's arguments and return the exit code."""
    try:
        return app(prog_name="hyperlvq", standalone_mode=False) or 0
    except UsageError as error:
        message = error.format_message().strip()
        if not message or "\n" in message:  # no command was given, and this is the help
            typer.echo(message, err=True)
            return error.exit_code
        command = error.ctx.command_path if error.ctx else "hyperlvq"
        sentence = re.sub(r"\. Did you mean (.*)\?", r" (did you mean \1?)", message)
        sentence = sentence[0].lower() + sentence[1:].rstrip(".?")
        for words, plainer in WORDINGS.items():
            sentence = sentence.replace(words, plainer)
        raise InputError(f"{sentence}{_given_value(error)}; see {command} --help") from None


def _given_value(error: Any) -> str:
    """Quote the value that typer's message leaves out."""
    faults: list[Any] = getattr(error.__cause__, "errors", list)()
    is_named = not faults or faults[0]["type"] == "value_error"
    return "" if is_named else f", got {faults[0]['input']!r}"
