"""`hyperlvq fit`: from a table to a model."""

import inspect
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from typer import BadParameter, Exit, Option

from hyperlvq.checks import InputError
from hyperlvq.cli import devices, options
from hyperlvq.cli.options import STANDARD, check_not_an_input, print_result
from hyperlvq.cli.show import table_lines, training_lines
from hyperlvq.cli.stopping import NOTHING_WRITTEN, if_stopped
from hyperlvq.cli.text import readable_size
from hyperlvq.registry import (
    PARTS,
    HiddenName,
    Parameter,
    PartRecord,
    ReadoutName,
    Recipe,
    hidden_layers,
    readouts,
    recipe_records,
)
from hyperlvq.writing import check_writable, standard_output, write_bytes

if TYPE_CHECKING:
    from hyperlvq.tables.about import About
    from hyperlvq.tables.training import Task

#: Options that stand under a heading of their own.
DeviceOption: Callable[..., Any] = partial(
    Option, rich_help_panel="A device to fit (then hyperlvq export)"
)
ModelOption: Callable[..., Any] = partial(
    Option, rich_help_panel="The model (parameters as in Python, with the same defaults)"
)
Hidden: Any = Literal[tuple(hidden_layers())]
Readout: Any = Literal[tuple(readouts())]
DEFAULT = PARTS["HyperLVQClassifier"]
USUAL_HIDDEN: HiddenName = "intrvfl"
USUAL_READOUT: ReadoutName = "glvq"
#: Of parameters whose option has another name.
FLAGS = {"n_networks": "--networks"}


def flag_of(name: str) -> str:
    """Return the option of a parameter."""
    return FLAGS.get(name) or "--" + name.replace("_", "-")


def with_parameter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each parameter of hidden layers and readouts that has one."""
    names: dict[str, list[str]] = {}
    parameters: dict[str, Parameter] = {}
    for record in PARTS.values():
        for name, parameter in record.parameters.items():
            if parameter.option is not None:
                names.setdefault(name, []).append(record.recipe_name or "default classifier")
                parameters[name] = parameter
    signature = inspect.signature(command)
    *declared, _ = signature.parameters.values()  # the last one takes all others
    for name, parameter in parameters.items():
        kind: Any = parameter.option
        value_type = Literal[kind] if isinstance(kind, tuple) else kind
        limit = "" if parameter.largest is None else f", at most {parameter.largest}"
        text = f"{parameter.help}{limit} ({', '.join(names[name])})."
        option = ModelOption(None, flag_of(name), help=text)
        if parameter.word is not None:
            option.metavar, option.parser = f"<float|{parameter.word}>", number_or(parameter.word)
        how = inspect.Parameter.KEYWORD_ONLY
        declared.append(inspect.Parameter(name, how, default=option, annotation=value_type | None))
        command.__annotations__[name] = value_type | None
    command.__signature__ = signature.replace(parameters=declared)  # type: ignore[attr-defined]
    return command


def number_or(word: str) -> Callable[[str], float | str]:
    """Return what reads the value of an option that is a number or one word."""

    def parse(text: str) -> float | str:
        try:
            return word if text == word else float(text)
        except ValueError:
            raise BadParameter(f"{text!r} is neither a number nor {word!r}") from None

    return parse


TARGET = Option(..., "--target", "-t", help="The column to predict.")
OUTPUT = Option(..., "--output", "-o", help="The model file; - for stdout.")
HIDDEN = ModelOption(
    None,
    help="Train a recipe with this hidden layer instead of the default classifier.",
    show_default=f"{USUAL_HIDDEN} in a recipe",
)
READOUT = ModelOption(
    None,
    help="Train a recipe with this readout instead of the default classifier.",
    show_default=f"{USUAL_READOUT} in a recipe",
)
MAX_FLASH, MAX_RAM = (
    DeviceOption(None, help=f"Train one network, or a recipe, that takes so much {memory}.")
    for memory in ("flash, as in 16k", "RAM, as in 2k")
)
CHIP = DeviceOption(None, help="The device's processor.", show_default=devices.DEFAULT_CHIP)
INPUT = DeviceOption(
    None, "--input", help="The type of a feature there.", show_default=devices.DEFAULT_INPUT
)
TUNE = Option(False, "--tune", help="Search parameters of a recipe that are not given.")
FOLDS = Option(
    None,
    min=0,
    max=100,
    help="Folds of cross-validation; 0 for none.",
    show_default="5; for the default classifier only up to 1000 rows",
)
SEED = Option(0, min=0, max=2**32 - 1, help="Where all random numbers come from.")
KEEP = Option(None, help="A column to use whatever it looks like; repeatable.")
DROP = Option(None, help="A column to leave out; repeatable.")
CATEGORY = Option(
    None, help="A column whose values are names, even if they are numbers; repeatable."
)
NUMBER = Option(None, help="A column that must be numbers; repeatable.")
MIN_ACCURACY = Option(
    None, min=0, max=1, help="Cross-validate; exit with code 1 if the accuracy is below this."
)


@with_parameter_options
def fit(
    table: str = options.TABLE,
    target: str = TARGET,
    output: str = OUTPUT,
    hidden: Hidden | None = HIDDEN,
    readout: Readout | None = READOUT,
    max_flash: str | None = MAX_FLASH,
    max_ram: str | None = MAX_RAM,
    chip: devices.Chip | None = CHIP,
    input_type: devices.Input | None = INPUT,
    tune: bool = TUNE,
    cv: int | None = FOLDS,
    seed: int = SEED,
    keep: list[str] | None = KEEP,
    drop: list[str] | None = DROP,
    category: list[str] | None = CATEGORY,
    number: list[str] | None = NUMBER,
    missing: list[str] | None = options.MISSING,
    encoding: str | None = options.ENCODING,
    skip_rows: int = options.SKIP_ROWS,
    min_accuracy: float | None = MIN_ACCURACY,
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
    **parameters: Any,
) -> None:
    """Learn to predict a column of a table from the others, and save the model.

    Text becomes one feature per level, a date its year, month, weekday and hour; missing values are
    fine; identifiers and constant columns are left out and reported.

    The default classifier is a vote of a few networks with nothing to tune. Options that only
    recipes have, such as --readout, --slope or --tune, train a recipe instead.

    Example: hyperlvq fit train.csv --target species -o model.hlvq
    """
    n_folds = _folds(cv, min_accuracy)
    given = {name: value for name, value in parameters.items() if value is not None}
    recipe = _recipe({"--hidden": hidden, "--readout": readout, "--tune": tune or None}, given)
    _check_given(given, recipe)
    with if_stopped(NOTHING_WRITTEN):
        from hyperlvq.tables.about import to_plain
        from hyperlvq.tables.dialect import tidy
        from hyperlvq.tables.training import Task

        limits = devices.device_limits(recipe, chip, input_type, max_flash, max_ram)
        task = Task(
            tidy(target),
            recipe,
            given,
            n_folds=n_folds,
            tune=tune,
            seed=seed,
            keep=keep or (),
            drop=drop or (),
            category=[tidy(name) for name in category or ()],
            number=number or (),
            sizes=devices.sizes(recipe, given, limits),
            device_input=limits.get("input", devices.DEFAULT_INPUT),
        )
        how = {"missing": missing or (), "encoding": encoding, "skip_rows": skip_rows}
        about, content = _train(table, how, task, limits, output, min_accuracy, quiet)
    if content is not None and output == STANDARD:
        with standard_output(to_the_end=True) as stream:
            stream.buffer.write(content)
    elif content is not None:
        write_bytes(content, output)
    lines = [*training_lines(about), *_outcome_lines(about, output, content)]
    print_result(lines, to_plain(about), as_json, quiet, output == STANDARD)
    if content is None:
        raise Exit(1)


def _folds(cv: int | None, min_accuracy: float | None) -> int | None:
    """Return how many folds are asked for, None where none are."""
    if cv == 1:
        raise InputError("--cv must be 0 or at least 2: one fold leaves nothing to train on")
    if min_accuracy is None:
        return cv
    if cv == 0:
        raise InputError("--min-accuracy needs cross-validation, which --cv 0 switches off")
    from hyperlvq.tables.training import USUAL_FOLDS

    return cv or USUAL_FOLDS


def _recipe(asked: dict[str, Any], given: Collection[str]) -> Recipe | None:
    """Return the names of the hidden layer and the readout; None for the default classifier.

    `asked` are options that ask for a recipe where they have a value, beside the parameters
    `given` that only recipes have.
    """
    known = _with_options([DEFAULT])
    asking = [
        *(
            option if value is True else f"{option} {value}"
            for option, value in asked.items()
            if value is not None
        ),
        *(flag_of(name) for name in given if name not in known),
    ]
    if not asking:
        return None
    of_recipes = _with_options(record for record in PARTS.values() if record.recipe_name)
    for name in given:
        if name not in of_recipes:
            raise InputError(
                f"{flag_of(name)} goes with the default classifier, not with {asking[0]}"
            )
    return asked["--hidden"] or USUAL_HIDDEN, asked["--readout"] or USUAL_READOUT


def _check_given(given: dict[str, Any], recipe: Recipe | None) -> None:
    """Check the parameters that were given, all of which the model must have."""
    known = _with_options([DEFAULT] if recipe is None else recipe_records(*recipe))
    for name, value in given.items():
        if name not in known:
            listed = ", ".join(map(flag_of, known)) or "no parameters"
            model = " with ".join(recipe or ())
            raise InputError(f"{model} takes no {flag_of(name)}; it takes {listed}")
        try:
            known[name].check(flag_of(name), value)
        except (TypeError, ValueError) as error:
            raise InputError(str(error)) from None
        largest = known[name].largest
        if largest is not None and value > largest:
            raise InputError(f"{flag_of(name)} must be at most {largest}, got {value}")


def _with_options(records: Iterable[PartRecord]) -> dict[str, Parameter]:
    """Return the parameters of parts that have an option."""
    return {
        name: parameter
        for record in records
        for name, parameter in record.parameters.items()
        if parameter.option is not None
    }


def _train(
    table: str,
    how: dict[str, Any],
    task: "Task",
    limits: dict[str, Any],
    output: str,
    min_accuracy: float | None,
    quiet: bool,
) -> "tuple[About, bytes | None]":
    """Return what is known of the model and its file, None if it is not good enough to save."""
    from hyperlvq.cli.progress import shown_progress
    from hyperlvq.model_files import to_bytes
    from hyperlvq.tables.about import to_notes
    from hyperlvq.tables.read import read_table
    from hyperlvq.tables.training import train, training_rows

    if output != STANDARD:
        check_writable(output)
        check_not_an_input(output, table)
    with shown_progress("reading", quiet, in_steps=True):
        rows = training_rows(read_table(table, **how), task)
    above = table_lines(rows.about)
    with shown_progress("training", quiet, in_steps=True, above=above) as progress:
        model, parts, about = train(rows, task, progress)
    if limits:
        about["device"] = devices.budget_values(model, limits["chip"], limits["input"])
    if min_accuracy is not None:
        if about["validation"] is None:
            raise InputError("--min-accuracy: the table is too small to cross-validate")
        if about["validation"].mean < min_accuracy:
            return about, None
    return about, to_bytes(replace(parts, notes=to_notes(about)))


def _outcome_lines(about: "About", output: str, content: bytes | None) -> list[str]:
    """Return what a device needs, and where the model is."""
    if content is None:
        outcome = "not saved: the accuracy is below --min-accuracy"
    else:
        place = "standard output" if output == STANDARD else output
        outcome = f"saved: {place} ({readable_size(len(content))})"
    device = ["", *devices.budget_lines(about["device"])] if "device" in about else []
    return [*device, "", outcome]
