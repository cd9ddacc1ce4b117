"""`hyperlvq export`, `budget` and `costs`: models for devices, and what they and training take."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

from typer import Option

from hyperlvq.checks import InputError
from hyperlvq.cli import NOTHING_WRITTEN, if_stopped, options
from hyperlvq.cli.options import aligned, fact_lines, print_result, read_saved
from hyperlvq.registry import Recipe

#: A self-test with every row of a table would not fit the device.
MOST_VECTORS = 64
Chip = Literal["cortex-m3", "avr", "riscv32"]
Input = Literal["float", "int16", "int32"]
Bits = Literal["8", "16"]
DEFAULT_CHIP: Chip = "cortex-m3"
DEFAULT_INPUT: Input = "float"
INPUT = Option(
    DEFAULT_INPUT, "--input", help="Type of the features; integers avoid floating point."
)


def export(
    model: str = options.MODEL,
    output: Path = Option(..., "--output", "-o", help="Folder for the C files, or the ONNX file."),
    to: Literal["c", "onnx"] = Option("c", help="Output format."),
    name: str = Option("model", help="Prefix of all names in the code."),
    input_type: Input = INPUT,
    bits: Bits | None = Option(None, help="Bits of each weight.", show_default="8"),
    vectors: str | None = Option(
        None, help="Table to compare the exported model on; some rows become a C self-test."
    ),
    trainable: bool = Option(
        False, "--trainable", help="Write C that can learn, with prototypes in RAM."
    ),
    rule: Literal["perceptron", "glvq"] | None = Option(
        None,
        help="Learning rule: perceptron in integers or glvq in float.",
        show_default="that of the model",
    ),
    learning_rate: float | None = Option(
        None, help="Learning rate on the device.", show_default="that of the model"
    ),
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Export a model to C99 or ONNX, without floating point if --input is an integer type.

    Example: hyperlvq export model.hlvq --to c --name digits -o firmware --vectors test.csv
    """
    if trainable and to != "c":
        raise InputError("--trainable needs --to c, because ONNX models cannot learn")
    for option, value in {"--rule": rule, "--learning-rate": learning_rate}.items():
        if value is not None and not trainable:
            raise InputError(f"{option} needs --trainable")
    if bits is not None and trainable:
        raise InputError("--bits cannot be combined with --trainable, which uses 16 bits or float")
    with if_stopped(NOTHING_WRITTEN):
        from hyperlvq.export import make_learner, make_plan, to_c, to_onnx

        saved = read_saved(model)
        common: dict[str, Any] = {"name": name, "input": input_type}
        if trainable:
            common |= {"rule": rule, "learning_rate": learning_rate}
            exported: Any = make_learner(saved.file, **common)
            plan = exported.plan
        else:
            exported = plan = make_plan(saved.file, bits=int(bits or 8), **common)
        features, comparison, n_left_out = None, {}, 0
        if vectors is not None:
            compared = _compare_on(vectors, saved, exported, plan.takes_missing)
            features, comparison, n_left_out = compared
    files = [output]
    if to == "onnx":
        to_onnx(plan, output)
    else:
        files = to_c(exported, output, vectors=features)
    pairs = [("note", note) for note in plan.notes]
    if n_left_out:
        pairs.append(("note", f"rows left out because of missing numbers: {n_left_out}"))
    pairs += [
        (field.replace("_", " "), f"{share:.4f}")
        for field, share in comparison.items()
        if share is not None
    ]
    values: dict[str, Any] = {
        "files": list(map(str, files)),
        "comparison": comparison or None,
        "left_out": n_left_out,
        "notes": list(plan.notes),
    }
    print_result([*fact_lines(pairs), *values["files"]], values, as_json, quiet)


def _compare_on(path, saved, exported, takes_missing):
    """Return features of some rows, a comparison on all, and how many had to be left out."""
    import numpy as np

    from hyperlvq.export.fitted import PREPARATION
    from hyperlvq.export.plan import compare_labels
    from hyperlvq.tables.about import columns_of
    from hyperlvq.tables.columns import target_labels, to_arrays
    from hyperlvq.tables.read import read_table

    table = read_table(path, missing=saved.about.get("missing", ()))
    predictor = saved.predictor
    columns = to_arrays(table, columns_of(saved.about))
    outside = [part for name, part in saved.file.steps if part and name == PREPARATION]
    features = predictor.transform(columns, outside)
    is_whole = ~np.isnan(features).any(axis=1) | takes_missing
    if not is_whole.any():
        raise InputError(
            f"{path} has missing numbers in every row, which this exported model does not support"
        )
    whole, target = features[is_whole], saved.about["target"]
    expected = predictor.labels(predictor.decide(columns))[is_whole]
    known = target_labels(table, target)[is_whole] if target in table.form.columns else None
    comparison = compare_labels(expected, exported.predict(whole), known)
    # From all over the table.
    spread = np.unique(np.linspace(0, len(whole) - 1, MOST_VECTORS).astype(int))
    return whole[spread], comparison._asdict(), int((~is_whole).sum())


def budget(
    model: str = options.MODEL,
    target: Chip = Option(DEFAULT_CHIP, help="Target processor."),
    input_type: Input = INPUT,
    bits: Bits = Option("8", help="Bits of each weight."),
    as_json: bool = options.JSON,
) -> None:
    """Predict flash, RAM, stack and instructions of an exported model within about 10 %.

    Example: hyperlvq budget model.hlvq --target avr --input int16
    """
    values = budget_values(read_saved(model).file, target, input_type, int(bits))
    print_result(budget_lines(values), values, as_json)


def costs(
    n_samples: int = Option(..., min=1, help="Training samples T."),
    n_classes: int = Option(..., min=2, help="Classes L."),
    n_features: int | None = Option(
        None, min=1, help="Features K, to compute the costs of a prediction too."
    ),
    n_units: int = Option(1000, min=1, help="Hidden units N."),
    prototypes_per_class: int = options.PROTOTYPES_PER_CLASS,
    n_iter: int = options.N_ITER,
    as_json: bool = options.JSON,
) -> None:
    """Compute training costs by Table I of the paper, and costs of a prediction.

    Example: hyperlvq costs --n-samples 1000 --n-classes 3 --n-units 500 --n-features 20
    """
    from hyperlvq.costs import FORMS, prediction_cost, steps_by_method

    by_method = steps_by_method(n_samples, n_units, n_classes, prototypes_per_class, n_iter)
    steps = dict(zip(("RLS", "RLS by QR", "GLVQ"), by_method.values(), strict=True))
    training = {name: sum(flops.values()) for name, flops in steps.items()}
    rows = [["training", "flops", "relative"]]
    for name, of_steps in steps.items():
        parts = {name: training[name], **{f"  {step}": f for step, f in of_steps.items()}}
        rows += [[title, f"{f:.4g}", f"{f / training['RLS']:.4f}"] for title, f in parts.items()]
    lines = aligned(rows)
    prediction = {}
    if n_features is not None:
        sizes = n_features, n_units, n_classes * prototypes_per_class
        rows = [["prediction", "bytes", "operations"]]
        for form in FORMS:
            cost = prediction_cost("intrvfl", *sizes, form=form)
            prediction[form] = cost._asdict()
            rows.append([f"intRVFL + GLVQ, {form}", *map(str, cost)])
        lines += ["", *aligned(rows)]
    values = {"training_flops": training, "training_steps": steps, "prediction": prediction}
    print_result(lines, values, as_json)


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
                raise InputError(f"{option} needs --max-flash or --max-ram")
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
        "max_flash": max_flash and parse_size(max_flash, "--max-flash"),
        "max_ram": max_ram and parse_size(max_ram, "--max-ram"),
    }


def sizes(
    recipe: Recipe | None, given: Mapping[str, Any], limits: dict[str, Any]
) -> Callable[[int, int], list[dict[str, Any]]] | None:
    """Return what finds sizes for so many features and classes; None without limits."""
    if not limits:
        return None
    from hyperlvq.export import device_settings

    if recipe is None:
        return partial(_network_sizes, given, **limits)
    return partial(device_settings, **limits, **given)


def _network_sizes(given, n_features, n_classes, **limits):
    """Return the size of one network of the default classifier that a device can hold."""
    from hyperlvq.export import device_units
    from hyperlvq.export.device import ENOUGH_UNITS

    if given.get("n_networks", 1) > 1:
        raise InputError(f"--max-flash and --max-ram need --networks 1, got {given['n_networks']}")
    most = device_units(n_features, n_classes, **limits)
    wanted = given.get("n_units", min(most, ENOUGH_UNITS["comparisons"]))
    if wanted > most:
        raise InputError(f"--n-units must be at most {most} to fit the device, got {wanted}")
    return [{"n_networks": 1, "n_units": wanted}]


def budget_values(model: Any, chip: str, input_type: str, bits: int = 8) -> dict[str, Any]:
    """Return what a fitted model takes of a chip, as plain values."""
    from hyperlvq.export import make_plan, predict_budget

    predicted = predict_budget(make_plan(model, input=input_type, bits=bits), chip)
    return {"target": chip, "input": input_type, "bits": bits, **predicted._asdict()}


def budget_lines(values: dict[str, Any]) -> list[str]:
    """Return a budget as text."""
    pairs = [
        ("target", f"{values['target']}, {values['input']} features, {values['bits']}-bit weights"),
        ("flash", f"{values['flash']} bytes (tables and code)"),
        ("RAM", f"{values['ram']} bytes static, {values['stack']} bytes stack"),
        ("instructions", f"{values['instructions']} per prediction"),
    ]
    if values["complaint"]:
        pairs.append(("does not fit", values["complaint"]))
    return fact_lines(pairs)
