"""The commands, put together; what each of them imports is loaded when it runs."""

from typing import Annotated

import typer

from hyperlvq import __version__
from hyperlvq.cli.data import data_app
from hyperlvq.cli.study import study_app

app = typer.Typer(
    name="hyperlvq",
    help="Integer random networks with prototype readouts.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data_app, name="data")
app.add_typer(study_app, name="study")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Integer random networks with prototype readouts."""
