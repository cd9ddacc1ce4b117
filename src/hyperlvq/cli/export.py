"""`hyperlvq export`: a model as integer-only C, or as ONNX."""

from pathlib import Path
from typing import Any, Literal

from typer import Option

from hyperlvq.checks import InputError
from hyperlvq.cli import options
from hyperlvq.cli.budget import INPUT, Bits, Input
from hyperlvq.cli.options import SavedModel, print_result, read_saved
from hyperlvq.cli.stopping import NOTHING_WRITTEN, if_stopped
from hyperlvq.cli.text import fact_lines

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
        from hyperlvq.export import compare, make_learner, make_plan, to_c, to_onnx

        saved = read_saved(model)
        common: dict[str, Any] = {"name": name, "input": input_type}
        if trainable:
            common |= {"rule": rule, "learning_rate": learning_rate}
            exported: Any = make_learner(saved.file, **common)
            plan = exported.plan
        else:
            exported = plan = make_plan(saved.file, bits=int(bits or 8), **common)
        frame = labels = features = None
        n_left_out = 0
        if vectors is not None:
            frame, labels, features, n_left_out = _read_samples(saved, vectors)
    files, comparison = [output], None
    if to == "onnx":
        to_onnx(plan, output)
    else:
        files = to_c(exported, output, vectors=features)
    if frame is not None:
        comparison = compare(saved.model, exported, frame, labels)._asdict()
    values = {
        "files": list(map(str, files)),
        "comparison": comparison,
        "left_out": n_left_out,
        "notes": list(plan.notes),
    }
    print_result(_lines(values), values, as_json, quiet)


def _read_samples(saved: SavedModel, path: str) -> tuple[Any, Any, Any, int]:
    """Return rows without missing numbers, their labels, features of some, and how many lack any.

    The labels are None where the table has none.
    """
    import numpy as np

    from hyperlvq.export.fitted import device_features
    from hyperlvq.tables.about import columns_of
    from hyperlvq.tables.columns import target_labels, to_frame
    from hyperlvq.tables.read import read_table

    table = read_table(path)
    frame = to_frame(table, columns_of(saved.about))
    features = device_features(saved.model, frame)
    is_whole = ~np.isnan(features).any(axis=1)
    if not is_whole.any():
        raise InputError(f"{path} has no row without missing numbers, which exported models need")
    target = saved.about["target"]
    has_target = target in table.form.columns
    known = target_labels(table, target)[is_whole] if has_target else None
    # From all over the table.
    spread = np.unique(np.linspace(0, is_whole.sum() - 1, MOST_VECTORS).astype(int))
    return frame[is_whole], known, features[is_whole][spread], int((~is_whole).sum())


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
