"""`hyperlvq export`: a model as integer-only C, or as ONNX."""

from pathlib import Path
from typing import Any, Literal

from typer import Option

from hyperlvq.checks import InputError
from hyperlvq.cli import NOTHING_WRITTEN, if_stopped, options
from hyperlvq.cli.budget import INPUT, Bits, Input
from hyperlvq.cli.options import SavedModel, fact_lines, print_result, read_saved

#: A self-test with every row of a table would not fit the device.
MOST_VECTORS = 64


def export(
    model: str = options.MODEL,
    output: Path = Option(
        ..., "--output", "-o", help="The folder of the C files, or the ONNX file."
    ),
    to: Literal["c", "onnx"] = Option("c", help="What to write."),
    name: str = Option("model", help="The prefix of all names in the code."),
    input_type: Input = INPUT,
    bits: Bits | None = Option(None, help="Width of a prototype's entry: 8 without it."),
    vectors: str | None = Option(
        None, help="A table: compare on its rows, and write a self-test with some."
    ),
    trainable: bool = Option(False, "--trainable", help="C that learns, with prototypes in RAM."),
    rule: Literal["perceptron", "glvq"] | None = Option(
        None, help="How it learns: in integers, or in float; as fitted without it."
    ),
    learning_rate: float | None = Option(
        None, help="The step by which it learns; as fitted without it."
    ),
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Write a model as firmware in C99, integers only if features are, or as an ONNX file.

    Example: hyperlvq export model.hlvq --to c --name digits -o firmware --vectors test.csv
    """
    if trainable and to != "c":
        raise InputError("--trainable is for --to c: an ONNX file cannot learn")
    for option, value in {"--rule": rule, "--learning-rate": learning_rate}.items():
        if value is not None and not trainable:
            raise InputError(f"{option} says how a device learns: give --trainable as well")
    if bits is not None and trainable:
        raise InputError(
            "--bits is for models that do not learn: --trainable has widths of its own"
        )
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
        features, comparison, n_left_out = None, None, 0
        if vectors is not None:
            compared = _compare_on(vectors, saved, exported, plan.takes_missing)
            features, comparison, n_left_out = compared
    files = [output]
    if to == "onnx":
        to_onnx(plan, output)
    else:
        files = to_c(exported, output, vectors=features)
    values = {
        "files": list(map(str, files)),
        "comparison": comparison,
        "left_out": n_left_out,
        "notes": list(plan.notes),
    }
    print_result(_lines(values), values, as_json, quiet)


def _compare_on(
    path: str, saved: SavedModel, exported: Any, takes_missing: bool
) -> tuple[Any, dict[str, Any], int]:
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
        raise InputError(f"{path} has no row without missing numbers, which exported models need")
    whole, target = features[is_whole], saved.about["target"]
    expected = predictor.labels(predictor.decide(columns))[is_whole]
    known = target_labels(table, target)[is_whole] if target in table.form.columns else None
    comparison = compare_labels(expected, exported.predict(whole), known)
    # From all over the table.
    spread = np.unique(np.linspace(0, len(whole) - 1, MOST_VECTORS).astype(int))
    return whole[spread], comparison._asdict(), int((~is_whole).sum())


def _lines(values: dict[str, Any]) -> list[str]:
    pairs = [("note", note) for note in values["notes"]]
    if values["left_out"]:
        pairs.append(("note", f"rows with missing numbers, left out: {values['left_out']}"))
    pairs += [
        (field.replace("_", " "), f"{share:.4f}")
        for field, share in (values["comparison"] or {}).items()
        if share is not None
    ]
    return [*fact_lines(pairs), *values["files"]]
