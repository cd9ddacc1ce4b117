"""`hyperlvq evaluate`: how good a model is on a table whose classes are known."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperlvq.checks import InputError
from hyperlvq.cli.options import (
    JsonOption,
    MinAccuracy,
    ModelArgument,
    QuietOption,
    TableArgument,
    check_inputs,
    give,
    read_saved,
)
from hyperlvq.cli.stopping import NOTHING_WRITTEN, if_stopped
from hyperlvq.cli.text import aligned, confusion_lines, facts, short

if TYPE_CHECKING:
    from hyperlvq.tables.evaluation import Evaluation


def evaluate(
    model: ModelArgument,
    table: TableArgument,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="The column of the classes, if not as in training."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the confusion matrix: *.svg, *.png or *.pdf.")
    ] = None,
    min_accuracy: MinAccuracy = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compare a model's predictions with the known classes of a table.

    Example: hyperlvq evaluate model.hlvq test.csv --target species --picture confusion.svg
    """
    check_inputs(model, table)
    with if_stopped(None if picture is None else NOTHING_WRITTEN):
        if picture is not None:
            from hyperlvq.report.confusion import check_picture, write_confusion

            check_picture(picture)
        evaluation = _evaluate(model, table, target)
    if picture is not None:
        write_confusion(evaluation.confusion, picture)
    give(_lines(evaluation), _values(evaluation), as_json, quiet)
    if min_accuracy is not None and evaluation.confusion.accuracy < min_accuracy:
        raise typer.Exit(1)


def _evaluate(model: str, table: str, target: str | None) -> "Evaluation":
    from hyperlvq.tables.about import columns_of
    from hyperlvq.tables.dialect import tidy
    from hyperlvq.tables.evaluation import evaluate_table
    from hyperlvq.tables.read import open_table

    saved = read_saved(model)
    known = target or saved.about["target"]
    if known is None:
        raise InputError("a model saved in Python does not know its target: give --target")
    columns = columns_of(saved.about)
    needed = [*(column.name for column in columns), tidy(known)]
    with open_table(table, columns=needed) as reader:
        return evaluate_table(saved.predictor, columns, reader, known)


def _lines(evaluation: "Evaluation") -> list[str]:
    confusion = evaluation.confusion
    right = f"{confusion.accuracy:.3f}: {confusion.n_right} of {confusion.n_rows} rows"
    guessing = f"always the largest class: {confusion.largest_share:.3f}"
    rows = [
        [short(row["class"]), str(row["rows"]), _share(row["precision"]), _share(row["recall"])]
        for row in confusion.by_class()
    ]
    return [
        *facts(
            [
                ("accuracy", f"{right} ({guessing})"),
                ("balanced accuracy", f"{confusion.balanced_accuracy:.3f}"),
                *(("note", note) for note in evaluation.notes),
            ]
        ),
        "",
        *aligned([["class", "rows", "precision", "recall"], *rows]),
        "",
        *confusion_lines(confusion),
    ]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _values(evaluation: "Evaluation") -> dict[str, Any]:
    confusion = evaluation.confusion
    return {
        "rows": confusion.n_rows,
        "accuracy": confusion.accuracy,
        "balanced_accuracy": confusion.balanced_accuracy,
        "largest_class_share": confusion.largest_share,
        "classes": confusion.by_class(),
        "confusion": confusion.to_dict(),
        "notes": list(evaluation.notes),
    }
