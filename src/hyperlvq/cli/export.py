"""`hyperlvq export`: a model as integer-only C, or as ONNX."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hyperlvq.checks import InputError
from hyperlvq.cli.device import InputOption
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

if TYPE_CHECKING:
    import numpy as np

    from hyperlvq.export import Comparison, Plan
    from hyperlvq.export.learning import GLVQLearner, PerceptronLearner

#: A self-test with every row of a table would not fit the device.
MOST_VECTORS = 64

Bits = Annotated[Literal["8", "16"], typer.Option(help="Width of a prototype's entry.")]


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
        from hyperlvq.export import make_learner, make_plan, to_c

        saved = read_saved(model)
        written: Plan | PerceptronLearner | GLVQLearner
        if trainable:
            written = make_learner(
                saved.model, name=name, input=input_type, rule=rule, learning_rate=learning_rate
            )
            plan = written.plan
        else:
            width = int(bits or 8)
            written = plan = make_plan(saved.model, name=name, input=input_type, bits=width)
        samples = None if vectors is None else _read_samples(saved, vectors)
        features = None if samples is None or to == "onnx" else samples.vectors(saved)
    files = _write_onnx(plan, output) if to == "onnx" else to_c(written, output, vectors=features)
    comparison = None if samples is None else samples.compare(saved, written)
    result = plan, files, comparison, 0 if samples is None else samples.n_left_out
    give(_lines(*result), _values(*result), as_json, quiet)


@dataclass(frozen=True)
class Samples:
    """The rows of a table that have no missing values, and their classes if it has them."""

    frame: Any
    labels: "np.ndarray | None"
    n_left_out: int

    def compare(
        self, saved: SavedModel, written: "Plan | PerceptronLearner | GLVQLearner"
    ) -> "Comparison":
        """Return how the model and what is written of it do on them."""
        from hyperlvq.export import compare

        return compare(saved.model, written, self.frame, self.labels)

    def vectors(self, saved: SavedModel) -> "np.ndarray":
        """Return the features of some rows, from all over the table."""
        import numpy as np

        from hyperlvq.export.fitted import device_features

        rows = np.unique(np.linspace(0, len(self.frame) - 1, MOST_VECTORS).astype(int))
        return device_features(saved.model, self.frame.iloc[rows])


def _read_samples(saved: SavedModel, path: str) -> Samples:
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
    return Samples(frame[is_whole], known, int((~is_whole).sum()))


def _write_onnx(plan: "Plan", output: Path) -> list[Path]:
    from hyperlvq.export import to_onnx

    to_onnx(plan, output)
    return [output]


def _lines(
    plan: "Plan", files: list[Path], comparison: "Comparison | None", n_left_out: int
) -> list[str]:
    pairs = [("note", note) for note in plan.notes]
    if n_left_out:
        pairs.append(("note", f"rows with missing numbers, left out: {n_left_out}"))
    if comparison is not None:
        pairs += [
            (field.replace("_", " "), f"{share:.4f}")
            for field, share in comparison._asdict().items()
            if share is not None
        ]
    return [*(facts(pairs) if pairs else []), *map(str, files)]


def _values(
    plan: "Plan", files: list[Path], comparison: "Comparison | None", n_left_out: int
) -> dict[str, Any]:
    return {
        "files": list(map(str, files)),
        "comparison": None if comparison is None else comparison._asdict(),
        "left_out": n_left_out,
        "notes": list(plan.notes),
    }
