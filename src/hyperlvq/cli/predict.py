"""`hyperlvq predict` and `evaluate`: a model's classes of new rows, and how good they are."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Exit, Option

from hyperlvq.checks import InputError
from hyperlvq.cli import NOTHING_WRITTEN, if_stopped, options
from hyperlvq.cli.options import (
    SavedModel,
    aligned,
    check_not_an_input,
    confusion_lines,
    counted,
    fact_lines,
    print_result,
    read_saved,
    shortened,
)
from hyperlvq.writing import STANDARD

if TYPE_CHECKING:
    from hyperlvq.tables.evaluation import Confusion

#: Decimals of a probability that readers can make use of.
PROBABILITY_DIGITS = 4


def predict(
    model: str = options.MODEL,
    table: str = options.TABLE,
    output: str = Option(
        STANDARD,
        "--output",
        "-o",
        help="File to write: *.csv, *.csv.gz, *.tsv or *.parquet; - for standard output.",
    ),
    margins: bool = Option(
        False, "--margins", help="Add the difference between the best and second-best score."
    ),
    proba: bool = Option(
        False, "--proba", help="Add the probability of each class in a column p_<class>."
    ),
    full: bool = Option(
        False, "--full", help="Write probabilities with all digits instead of four decimals."
    ),
    keep: list[str] | None = Option(None, help="Input column to copy to the output; repeatable."),
    strict: bool = options.STRICT,
    missing: list[str] | None = options.MISSING,
    encoding: str | None = options.ENCODING,
    skip_rows: int = options.SKIP_ROWS,
    quiet: bool = options.QUIET,
) -> None:
    """Predict the class of each row of a table, which may be larger than memory.

    Example: hyperlvq predict model.hlvq new.csv -o predictions.csv
    """
    from hyperlvq.cli.progress import shown_progress
    from hyperlvq.tables import batches
    from hyperlvq.tables.about import columns_of
    from hyperlvq.tables.columns import check_present
    from hyperlvq.tables.dialect import tidy
    from hyperlvq.tables.read import open_table

    batches.check_output(output)
    check_not_an_input(output, model, table)
    saved = read_saved(model, table)
    predictor = saved.predictor
    if proba and not predictor.has_probabilities:
        raise InputError(
            f"--proba: {saved.about['readout']} has no probabilities; use --margins, or train "
            "another model, such as the default classifier"
        )
    columns, kept = columns_of(saved.about), [tidy(name) for name in keep or ()]
    name = saved.about["target"] or "prediction"
    needed = [*(column.name for column in columns), *kept]
    # of a stream, rows are seen as they come, not once all of them are there
    is_stream = output == STANDARD or (Path(output).exists() and not Path(output).is_file())
    how = _how(saved, missing, encoding, skip_rows)
    digits = None if full else PROBABILITY_DIGITS
    n_rows, unseen = 0, batches.Unseen(predictor, columns, strict)
    with (
        open_table(table, columns=needed, **how) as reader,
        batches.open_output(output) as write,
        shown_progress("predicting", quiet, in_steps=False) as progress,
        if_stopped(None if is_stream else NOTHING_WRITTEN),
    ):
        check_present(kept, reader)
        for found in batches.predict_batches(predictor, columns, reader, unseen):
            write(batches.prediction_table(predictor, *found, name, kept, margins, proba, digits))
            n_rows += len(found[0].data)
            if reader.position is not None:
                progress("predicting", reader.position, 1)
    if unseen.notes:
        print_result((f"note: {note}" for note in unseen.notes), quiet=quiet, to_stderr=True)
    if output != STANDARD:
        print_result([f"{output}: {counted(n_rows, 'row')} predicted"], quiet=quiet)


def evaluate(
    model: str = options.MODEL,
    table: str = options.TABLE,
    target: str | None = Option(
        None, "--target", "-t", help="Column of the true classes.", show_default="as in training"
    ),
    picture: Path | None = Option(None, help="Confusion matrix to draw: *.svg, *.png or *.pdf."),
    min_accuracy: float | None = Option(
        None, min=0, max=1, help="Minimum accuracy; below it, exit with code 1."
    ),
    strict: bool = options.STRICT,
    missing: list[str] | None = options.MISSING,
    encoding: str | None = options.ENCODING,
    skip_rows: int = options.SKIP_ROWS,
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Evaluate a model on a table with known classes.

    Example: hyperlvq evaluate model.hlvq test.csv --target species --picture confusion.svg
    """
    from hyperlvq.tables.about import columns_of
    from hyperlvq.tables.dialect import tidy
    from hyperlvq.tables.evaluation import evaluate_table
    from hyperlvq.tables.read import open_table

    with if_stopped(None if picture is None else NOTHING_WRITTEN):
        if picture is not None:
            from hyperlvq.report.confusion import check_picture, write_confusion

            check_picture(picture)
        saved = read_saved(model, table)
        known = target or saved.about["target"]
        if known is None:
            raise InputError("--target is required, because models saved in Python do not store it")
        columns = columns_of(saved.about)
        needed = [*(column.name for column in columns), tidy(known)]
        how = _how(saved, missing, encoding, skip_rows)
        with open_table(table, columns=needed, **how) as reader:
            confusion, notes = evaluate_table(saved.predictor, columns, reader, known, strict)
    if picture is not None:
        write_confusion(confusion, picture)
    print_result(_lines(confusion, notes), _values(confusion, notes), as_json, quiet)
    if min_accuracy is not None and confusion.accuracy < min_accuracy:
        raise Exit(1)


def _how(
    saved: SavedModel, missing: list[str] | None, encoding: str | None, skip_rows: int
) -> dict[str, Any]:
    """Return how to read a table: words for missing values are also those of training."""
    words = [*saved.about.get("missing", ()), *(missing or ())]
    return {"missing": words, "encoding": encoding, "skip_rows": skip_rows}


def _lines(confusion: "Confusion", notes: list[str]) -> list[str]:
    right = f"{confusion.accuracy:.3f}: {confusion.n_right} of {confusion.n_rows} rows"
    guessing = f"always predicting the largest class: {confusion.largest_share:.3f}"
    pairs = [
        ("accuracy", f"{right} ({guessing})"),
        ("balanced accuracy", f"{confusion.balanced_accuracy:.3f}"),
        *(("note", note) for note in notes),
    ]
    rows = [["class", "rows", "precision", "recall"]]
    for each in confusion.by_class():
        shares = (each["precision"], each["recall"])
        shown = ("-" if share is None else f"{share:.3f}" for share in shares)
        rows.append([shortened(each["class"]), str(each["rows"]), *shown])
    return [*fact_lines(pairs), "", *aligned(rows), "", *confusion_lines(confusion)]


def _values(confusion: "Confusion", notes: list[str]) -> dict[str, Any]:
    return {
        "rows": confusion.n_rows,
        "accuracy": confusion.accuracy,
        "balanced_accuracy": confusion.balanced_accuracy,
        "largest_class_share": confusion.largest_share,
        "classes": confusion.by_class(),
        "confusion": confusion.to_dict(),
        "notes": notes,
    }
