"""`hyperlvq fit`: from a table to a model."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hyperlvq.checks import InputError
from hyperlvq.cli.device import Chip, Device, Input, budget_lines
from hyperlvq.cli.options import (
    STANDARD,
    JsonOption,
    MinAccuracy,
    QuietOption,
    TableArgument,
    check_not_an_input,
    give,
)
from hyperlvq.cli.text import size

if TYPE_CHECKING:
    from hyperlvq.saving import SavedModel
    from hyperlvq.tables.about import About
    from hyperlvq.tables.training import Task, Trained

MOST_UNITS = 100_000
DEVICE_PANEL = "A device to fit (then hyperlvq export)"
MODEL_PANEL = "The model (parameters as in Python, with the same defaults)"


def fit(
    table: TableArgument,
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The model file; - for stdout.")],
    hidden: Annotated[
        Literal["features", "rvfl", "intrvfl"],
        typer.Option(help="The hidden layer.", rich_help_panel=MODEL_PANEL),
    ] = "intrvfl",
    readout: Annotated[
        Literal["rls", "centroids", "perceptron", "lvq1", "glvq", "kglvq"],
        typer.Option(help="What classifies its activations.", rich_help_panel=MODEL_PANEL),
    ] = "glvq",
    n_units: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_UNITS, help="Hidden units.", rich_help_panel=MODEL_PANEL),
    ] = None,
    clip: Annotated[
        int | None,
        typer.Option(
            min=1, max=32767, help="Largest activation of intrvfl.", rich_help_panel=MODEL_PANEL
        ),
    ] = None,
    prototypes_per_class: Annotated[
        int | None,
        typer.Option(
            min=1, max=1000, help="Prototypes of each class.", rich_help_panel=MODEL_PANEL
        ),
    ] = None,
    slope: Annotated[
        float | None,
        typer.Option(help="Steepness of the sigmoid of glvq.", rich_help_panel=MODEL_PANEL),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Penalty of rls.", rich_help_panel=MODEL_PANEL)
    ] = None,
    gamma: Annotated[
        float | None,
        typer.Option(help="Width of the kernel of kglvq.", rich_help_panel=MODEL_PANEL),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(help="Step of perceptron and lvq1.", rich_help_panel=MODEL_PANEL),
    ] = None,
    max_iter: Annotated[
        int | None,
        typer.Option(min=1, help="Most iterations of training.", rich_help_panel=MODEL_PANEL),
    ] = None,
    max_flash: Annotated[
        str | None,
        typer.Option(
            help="Choose sizes for so much flash, as in 16k.", rich_help_panel=DEVICE_PANEL
        ),
    ] = None,
    max_ram: Annotated[
        str | None,
        typer.Option(help="Choose sizes for so much RAM, as in 2k.", rich_help_panel=DEVICE_PANEL),
    ] = None,
    chip: Annotated[
        Chip, typer.Option(help="The device's processor.", rich_help_panel=DEVICE_PANEL)
    ] = "cortex-m3",
    input_type: Annotated[
        Input,
        typer.Option("--input", help="The type of a feature there.", rich_help_panel=DEVICE_PANEL),
    ] = "float",
    tune: Annotated[
        bool, typer.Option("--tune", help="Search parameters that are not given.")
    ] = False,
    cv: Annotated[
        int, typer.Option(min=0, max=100, help="Folds of cross-validation; 0 for none.")
    ] = 5,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Where all random numbers come from.")
    ] = 0,
    keep: Annotated[
        list[str] | None, typer.Option(help="A column to use whatever it looks like; repeatable.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="A column to leave out; repeatable.")
    ] = None,
    min_accuracy: MinAccuracy = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Learn to predict a column of a table from the others, and save the model.

    Numbers are scaled, text becomes one feature a level, missing values are fine; dates,
    identifiers and constant columns are left out, with a word.

    Example: hyperlvq fit train.csv --target species -o model.hlvq
    """
    from hyperlvq.tables.training import Task

    if cv == 1:
        raise InputError("--cv must be 0 or at least 2: one fold leaves nothing to train on")
    device = Device.parsed(chip, input_type, max_flash, max_ram)
    options = {
        "n_units": n_units,
        "clip": clip,
        "prototypes_per_class": prototypes_per_class,
        "slope": slope,
        "alpha": alpha,
        "gamma": gamma,
        "learning_rate": learning_rate,
        "max_iter": max_iter,
    }
    parameters = {name: value for name, value in options.items() if value is not None}
    task = Task(
        target.strip(),
        hidden,
        readout,
        parameters,
        n_folds=cv,
        tune=tune,
        seed=seed,
        keep=keep or (),
        drop=drop or (),
        sizes=None if device is None else device.sizes(hidden, readout, parameters),
    )
    if min_accuracy is not None and cv == 0:
        raise InputError("--min-accuracy needs cross-validation, which --cv 0 switches off")
    saved, n_bytes = _train_and_save(table, task, device, output, min_accuracy, quiet)
    give(_lines(saved.about, output, n_bytes), saved.about, as_json, quiet, output == STANDARD)
    if n_bytes is None:
        raise typer.Exit(1)


def _train_and_save(
    table: str,
    task: "Task",
    device: Device | None,
    output: str,
    min_accuracy: float | None,
    quiet: bool,
) -> "tuple[SavedModel, int | None]":
    """Return the model and the size of its file, or None if it was not good enough to save."""
    from hyperlvq.cli.steps import shown_steps
    from hyperlvq.saving import SavedModel, to_bytes
    from hyperlvq.tables.about import about_training
    from hyperlvq.tables.read import read_table
    from hyperlvq.tables.training import train
    from hyperlvq.writing import check_writable, standard_output, write_bytes

    if output != STANDARD:
        check_writable(output)
        check_not_an_input(output, table)
    with shown_steps(quiet) as progress:
        data = read_table(table)
        trained = train(data, task, progress)
    about = dict(about_training(trained, task, data.name))
    if device is not None:
        about["device"] = device.budget_of(trained.model)
    saved = SavedModel(trained.model, about)
    if min_accuracy is not None and not _is_at_least(trained, min_accuracy):
        return saved, None
    content = to_bytes(saved)
    if output == STANDARD:
        with standard_output() as stream:
            stream.buffer.write(content)
    else:
        write_bytes(content, output)
    return saved, len(content)


def _is_at_least(trained: "Trained", min_accuracy: float) -> bool:
    if trained.validation is None:
        raise InputError("--min-accuracy: the table is too small to cross-validate")
    return trained.validation.mean >= min_accuracy


def _lines(about: "About", output: str, n_bytes: int | None) -> list[str]:
    from hyperlvq.cli.about_text import training_lines

    if n_bytes is None:
        outcome = "not saved: the accuracy is below --min-accuracy"
    else:
        place = "standard output" if output == STANDARD else output
        outcome = f"saved: {place} ({size(n_bytes)})"
    device = ["", *budget_lines(about["device"])] if "device" in about else []
    return [*training_lines(about), *device, "", outcome]
