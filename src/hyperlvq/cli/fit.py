"""`hyperlvq fit`: from a table to a model."""

import inspect
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from typer import BadParameter, Exit, Option

from hyperlvq.checks import InputError
from hyperlvq.cli import NOTHING_WRITTEN, devices, if_stopped, options
from hyperlvq.cli.options import check_not_an_input, print_result, readable_size
from hyperlvq.cli.show import table_lines, training_lines
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
from hyperlvq.writing import STANDARD, check_writable, standard_output, write_bytes

if TYPE_CHECKING:
    from hyperlvq.tables.about import About
    from hyperlvq.tables.training import Task

#: Options that stand under a heading of their own.
DeviceOption: Callable[..., Any] = partial(
    Option, rich_help_panel="Device limits (for hyperlvq export)"
)
ModelOption: Callable[..., Any] = partial(
    Option, rich_help_panel="Model (parameters and defaults as in Python)"
)
LIMIT_HELP = "Maximum {}. The default classifier then has one network."
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


def options_of(records: Iterable[PartRecord]) -> dict[str, Parameter]:
    """Return the parameters of parts that have an option."""
    return {
        name: parameter
        for record in records
        for name, parameter in record.parameters.items()
        if parameter.option is not None
    }


def with_parameter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each parameter of hidden layers and readouts that has one."""
    signature = inspect.signature(command)
    *declared, _ = signature.parameters.values()  # the last one takes all others
    for name, parameter in options_of(PARTS.values()).items():
        kind: Any = parameter.option
        value_type = Literal[kind] if isinstance(kind, tuple) else kind
        limit = "" if parameter.largest is None else f", at most {parameter.largest}"
        of_name = [each for each in PARTS.values() if name in options_of([each])]
        models = ", ".join(each.recipe_name or "default classifier" for each in of_name)
        text = f"{parameter.help}{limit} ({models})."
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


@with_parameter_options
def fit(
    table: str = options.TABLE,
    target: str = Option(..., "--target", "-t", help="Column to predict."),
    output: str = Option(..., "--output", "-o", help="Model file, or - for standard output."),
    hidden: Hidden | None = ModelOption(
        None,
        help="Hidden layer of a recipe, trained instead of the default classifier.",
        show_default=f"{USUAL_HIDDEN} in a recipe",
    ),
    readout: Readout | None = ModelOption(
        None,
        help="Readout of a recipe, trained instead of the default classifier.",
        show_default=f"{USUAL_READOUT} in a recipe",
    ),
    max_flash: str | None = DeviceOption(None, help=LIMIT_HELP.format("flash, such as 16k")),
    max_ram: str | None = DeviceOption(None, help=LIMIT_HELP.format("RAM, such as 2k")),
    chip: devices.Chip | None = DeviceOption(
        None, help="Target processor.", show_default=devices.DEFAULT_CHIP
    ),
    input_type: devices.Input | None = DeviceOption(
        None,
        "--input",
        help="Type of the features on the device.",
        show_default=devices.DEFAULT_INPUT,
    ),
    tune: bool = Option(False, "--tune", help="Tune the recipe's parameters that are not given."),
    cv: int | None = Option(
        None,
        min=0,
        max=100,
        help="Number of cross-validation folds; 0 disables it.",
        show_default="5, but 0 for the default classifier above 1000 rows",
    ),
    seed: int = Option(0, min=0, max=2**32 - 1, help="Seed of the random numbers."),
    keep: list[str] | None = Option(
        None, help="Column to use even if it would be left out; repeatable."
    ),
    drop: list[str] | None = Option(None, help="Column to leave out; repeatable."),
    category: list[str] | None = Option(
        None, help="Column to treat as categories even if it holds numbers; repeatable."
    ),
    number: list[str] | None = Option(None, help="Column that must hold numbers; repeatable."),
    missing: list[str] | None = options.MISSING,
    encoding: str | None = options.ENCODING,
    skip_rows: int = options.SKIP_ROWS,
    min_accuracy: float | None = Option(
        None,
        min=0,
        max=1,
        help="Minimum cross-validated accuracy; below it, save nothing and exit with code 1.",
    ),
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
    **parameters: Any,
) -> None:
    """Train a classifier that predicts one column of a table, and save it.

    Text becomes one feature per level. Dates become year, month, weekday and hour. Missing values
    are supported. Identifiers and constant columns are left out and reported.

    The default classifier is a weighted vote of four networks and needs no tuning. A recipe is one
    hidden layer with one readout. An option of recipes, such as --readout, --slope or --tune,
    trains a recipe instead of the default classifier.

    Example: hyperlvq fit train.csv --target species -o model.hlvq
    """
    n_folds = _folds(cv, min_accuracy)
    given = {name: value for name, value in parameters.items() if value is not None}
    recipe = _recipe(hidden, readout, tune, given)
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
    device = ["", *devices.budget_lines(about["device"])] if "device" in about else []
    lines = [*training_lines(about), *device, "", _outcome(output, content)]
    print_result(lines, to_plain(about), as_json, quiet, output == STANDARD)
    if content is None:
        raise Exit(1)


def _folds(cv: int | None, min_accuracy: float | None) -> int | None:
    """Return how many folds are asked for, None where none are."""
    if cv == 1:
        raise InputError("--cv must be 0 or at least 2, got 1")
    if min_accuracy is None:
        return cv
    if cv == 0:
        raise InputError("--min-accuracy needs cross-validation, but --cv 0 disables it")
    from hyperlvq.tables.training import USUAL_FOLDS

    return cv or USUAL_FOLDS


def _recipe(
    hidden: HiddenName | None, readout: ReadoutName | None, tune: bool, given: Collection[str]
) -> Recipe | None:
    """Return the names of the hidden layer and the readout; None for the default classifier.

    A recipe is what has one of these, is tuned, or has parameters that only recipes have.
    """
    asked = {"--hidden": hidden, "--readout": readout}
    asking = [f"{option} {value}" for option, value in asked.items() if value is not None]
    asking += ["--tune"] if tune else []
    asking += [flag_of(name) for name in given if name not in options_of([DEFAULT])]
    if not asking:
        return None
    of_recipes = options_of(record for record in PARTS.values() if record.recipe_name)
    for name in given:
        if name not in of_recipes:
            raise InputError(
                f"{flag_of(name)} is for the default classifier and cannot be combined with "
                f"{asking[0]}"
            )
    return hidden or USUAL_HIDDEN, readout or USUAL_READOUT


def _check_given(given: dict[str, Any], recipe: Recipe | None) -> None:
    """Check the parameters that were given, all of which the model must have."""
    known = options_of([DEFAULT] if recipe is None else recipe_records(*recipe))
    for name, value in given.items():
        if name not in known:
            listed = ", ".join(map(flag_of, known)) or "no parameters"
            model = " with ".join(recipe or ())
            raise InputError(f"{flag_of(name)} is not a parameter of {model}, which has {listed}")
        try:
            known[name].check(flag_of(name), value)
        except (TypeError, ValueError) as error:
            raise InputError(str(error)) from None
        largest = known[name].largest
        if largest is not None and value > largest:
            raise InputError(f"{flag_of(name)} must be at most {largest}, got {value}")


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
            raise InputError(
                "--min-accuracy needs cross-validation, but the table is too small for it"
            )
        if about["validation"].mean < min_accuracy:
            return about, None
    return about, to_bytes(replace(parts, notes=to_notes(about)))


def _outcome(output: str, content: bytes | None) -> str:
    if content is None:
        return "not saved: the accuracy is below --min-accuracy"
    place = "standard output" if output == STANDARD else output
    return f"saved: {place} ({readable_size(len(content))})"
