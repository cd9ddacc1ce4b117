"""`hyperlvq budget` and `costs`: what models take of a device, and what training takes."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from typer import Option

from hyperlvq.checks import InputError
from hyperlvq.cli import options
from hyperlvq.cli.options import aligned, fact_lines, print_result, read_saved
from hyperlvq.registry import Recipe

Chip = Literal["cortex-m3", "avr", "riscv32"]
Input = Literal["float", "int16", "int32"]
Bits = Literal["8", "16"]
DEFAULT_CHIP: Chip = "cortex-m3"
DEFAULT_INPUT: Input = "float"
INPUT = Option(
    DEFAULT_INPUT, "--input", help="The type of a feature on the device; integers: no floats."
)


def budget(
    model: str = options.MODEL,
    target: Chip = Option(DEFAULT_CHIP, help="The processor."),
    input_type: Input = INPUT,
    bits: Bits = Option("8", help="Width of a prototype's entry."),
    as_json: bool = options.JSON,
) -> None:
    """Predict flash, RAM, stack and instructions of an exported model, to about 10 %.

    Example: hyperlvq budget model.hlvq --target avr --input int16
    """
    values = budget_values(read_saved(model).file, target, input_type, int(bits))
    print_result(budget_lines(values), values, as_json)


def costs(
    n_samples: int = Option(..., min=1, help="Training samples T."),
    n_classes: int = Option(..., min=2, help="Classes L."),
    n_features: int | None = Option(
        None, min=1, help="Features K; with it, the costs of a prediction too."
    ),
    n_units: int = Option(1000, min=1, help="Hidden units N."),
    prototypes_per_class: int = Option(1, min=1, help="Prototypes P."),
    n_iter: int = Option(10, min=1, help="Iterations I of GLVQ."),
    as_json: bool = options.JSON,
) -> None:
    """Show what training costs by Table I of the paper, and what a prediction of intRVFL costs.

    Example: hyperlvq costs --n-samples 1000 --n-classes 3 --n-units 500 --n-features 20
    """
    from hyperlvq.costs import FORMS, flops_by_method, prediction_cost

    flops = flops_by_method(n_samples, n_units, n_classes, prototypes_per_class, n_iter).values()
    training = dict(zip(("RLS", "RLS by QR", "GLVQ"), flops, strict=True))
    rows = [[name, f"{f:.4g}", f"{f / training['RLS']:.4f}"] for name, f in training.items()]
    lines = aligned([["training", "flops", "relative"], *rows])
    prediction = {}
    if n_features is not None:
        sizes = n_features, n_units, n_classes * prototypes_per_class
        rows = [["prediction", "bytes", "operations"]]
        for form in FORMS:
            cost = prediction_cost("intrvfl", *sizes, form=form)
            prediction[form] = cost._asdict()
            rows.append([f"intRVFL + GLVQ, {form}", *map(str, cost)])
        lines += ["", *aligned(rows)]
    print_result(lines, {"training_flops": training, "prediction": prediction}, as_json)


def device_limits(
    recipe: Recipe | None,
    chip: Chip | None,
    input_type: Input | None,
    max_flash: str | None,
    max_ram: str | None,
) -> dict[str, Any]:
    """Return the options of `sizes`; none where there is no limit."""
    if max_flash is None and max_ram is None:
        for option, value in {"--chip": chip, "--input": input_type}.items():
            if value is not None:
                raise InputError(
                    f"{option} needs --max-flash or --max-ram: without them it changes nothing"
                )
        return {}
    from hyperlvq.export.device import exportable_recipe, parse_size

    names = {}
    if recipe is not None:
        try:
            exportable_recipe(*recipe)
        except InputError as error:
            raise InputError(f"--max-flash and --max-ram: {error}") from None
        names = dict(zip(("hidden", "readout"), recipe, strict=True))
    return {
        **names,
        "chip": chip or DEFAULT_CHIP,
        "input": input_type or DEFAULT_INPUT,
        "max_flash": max_flash and parse_size(max_flash),
        "max_ram": max_ram and parse_size(max_ram),
    }


def sizes(
    recipe: Recipe | None, given: Mapping[str, Any], limits: dict[str, Any]
) -> Callable[[int, int], list[dict[str, Any]]] | None:
    """Return what finds sizes for so many features and classes; None without limits."""
    find = network_sizes if recipe is None else recipe_sizes
    return partial(find, given, **limits) if limits else None


def recipe_sizes(
    given: Mapping[str, Any], n_features: int, n_classes: int, **limits: Any
) -> list[dict[str, Any]]:
    """Return sizes of a recipe that a device can hold, to choose the best from."""
    from hyperlvq.export import device_settings

    return device_settings(n_features, n_classes, **limits, **given)


def network_sizes(
    given: Mapping[str, Any], n_features: int, n_classes: int, **limits: Any
) -> list[dict[str, Any]]:
    """Return the size of one network of the default classifier that a device can hold."""
    from hyperlvq.export import device_units
    from hyperlvq.export.device import ENOUGH_UNITS

    if given.get("n_networks", 1) > 1:
        raise InputError(
            f"--max-flash and --max-ram are for one network, not for {given['n_networks']}"
        )
    most = device_units(n_features, n_classes, **limits)
    wanted = given.get("n_units", min(most, ENOUGH_UNITS["comparisons"]))
    if wanted > most:
        raise InputError(f"a network of {wanted} units does not fit the device, one of {most} does")
    return [{"n_networks": 1, "n_units": wanted}]


def budget_values(model: Any, chip: str, input_type: str, bits: int = 8) -> dict[str, Any]:
    """Return what a fitted model takes of a chip, as plain values."""
    from hyperlvq.export import make_plan, predict_budget

    predicted = predict_budget(make_plan(model, input=input_type, bits=bits), chip)
    return {"target": chip, "input": input_type, "bits": bits, **predicted._asdict()}


def budget_lines(values: dict[str, Any]) -> list[str]:
    """Return a budget as text."""
    pairs = [
        ("target", f"{values['target']}, features as {values['input']}, {values['bits']} bits"),
        ("flash", f"{values['flash']} bytes, tables and code"),
        ("RAM", f"{values['ram']} bytes static, {values['stack']} bytes of stack"),
        ("instructions", f"{values['instructions']} per prediction"),
    ]
    if values["complaint"]:
        pairs.append(("does not fit", values["complaint"]))
    return fact_lines(pairs)
