"""`hyperlvq export`: a model as integer-only C, or as ONNX."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hyperlvq.checks import InputError
from hyperlvq.cli.budget import InputOption
from hyperlvq.cli.options import (
    JsonOption,
    ModelArgument,
    QuietOption,
    SavedModel,
    give,
    read_saved,
)
from hyperlvq.cli.stopping import NOTHING_WRITTEN, if_stopped
from hyperlvq.cli.text import facts

#: A self-test with every row of a table would not fit the device.
MOST_VECTORS = 64


def export(
    model: ModelArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder of the C files, or the ONNX file.")
    ],
    to: Annotated[Literal["c", "onnx"], typer.Option(help="What to write.")] = "c",
    name: Annotated[str, typer.Option(help="The prefix of all names in the code.")] = "model",
    input_type: InputOption = "float",
    bits: Annotated[
        Literal["8", "16"] | None, typer.Option(help="Width of a prototype's entry: 8 without it.")
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(help="A table: compare on its rows, and write a self-test with some."),
    ] = None,
    trainable: Annotated[
        bool, typer.Option("--trainable", help="C that learns, with prototypes in RAM.")
    ] = False,
    rule: Annotated[
        Literal["perceptron", "glvq"] | None,
        typer.Option(help="How it learns: in integers, or in float; as fitted without it."),
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="The step by which it learns; as fitted without it.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
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
        from hyperlvq.export import compare, make_learner, make_plan, to_c, to_onnx

        saved = read_saved(model)
        common: dict[str, Any] = {"name": name, "input": input_type}
        if trainable:
            exported: Any = make_learner(
                saved.model, rule=rule, learning_rate=learning_rate, **common
            )
            plan = exported.plan
        else:
            exported = plan = make_plan(saved.model, bits=int(bits or 8), **common)
        frame, labels, n_left_out = None, None, 0
        if vectors is not None:
            frame, labels, n_left_out = _read_samples(saved, vectors)
        samples = None if frame is None else _spread_rows(saved, frame)
    files = [output]
    if to == "onnx":
        to_onnx(plan, output)
    else:
        files = to_c(exported, output, vectors=samples)
    comparison = {}
    if frame is not None:
        comparison = compare(saved.model, exported, frame, labels)._asdict()
    values = {
        "files": list(map(str, files)),
        "comparison": comparison or None,
        "left_out": n_left_out,
        "notes": list(plan.notes),
    }
    give(_lines(values), values, as_json, quiet)


def _read_samples(saved: SavedModel, path: str) -> tuple[Any, Any, int]:
    """Return rows without missing values, their classes if known, and how many are left out."""
    import numpy as np

    from hyperlvq.export.fitted import device_features
    from hyperlvq.tables.about import columns_of
    from hyperlvq.tables.columns import target_labels, to_frame
    from hyperlvq.tables.read import read_table

    table = read_table(path)
    frame = to_frame(table, columns_of(saved.about))
    is_whole = ~np.isnan(device_features(saved.model, frame)).any(axis=1)
    if not is_whole.any():
        raise InputError(f"{path} has no row without missing numbers, which exported models need")
    target = saved.about["target"]
    has_target = target in table.form.columns
    known = target_labels(table, target)[is_whole] if has_target else None
    return frame[is_whole], known, int((~is_whole).sum())


def _spread_rows(saved: SavedModel, frame: Any) -> Any:
    """Return the features of some rows, from all over the table."""
    import numpy as np

    from hyperlvq.export.fitted import device_features

    rows = np.unique(np.linspace(0, len(frame) - 1, MOST_VECTORS).astype(int))
    return device_features(saved.model, frame.iloc[rows])


def _lines(values: dict[str, Any]) -> list[str]:
    pairs = [("note", note) for note in values["notes"]]
    if values["left_out"]:
        pairs.append(("note", f"rows with missing numbers, left out: {values['left_out']}"))
    pairs += [
        (field.replace("_", " "), f"{share:.4f}")
        for field, share in (values["comparison"] or {}).items()
        if share is not None
    ]
    return [*(facts(pairs) if pairs else []), *values["files"]]
