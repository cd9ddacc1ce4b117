"""`hyperlvq predict`: the classes of new rows."""

from pathlib import Path
from typing import Annotated

import typer

from hyperlvq.cli.options import (
    STANDARD,
    ModelArgument,
    QuietOption,
    TableArgument,
    check_inputs,
    check_not_an_input,
    give,
    read_saved,
)
from hyperlvq.cli.stopping import NOTHING_WRITTEN, if_stopped
from hyperlvq.cli.text import counted


def predict(
    model: ModelArgument,
    table: TableArgument,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", help="A *.csv, *.tsv, *.parquet or *.csv.gz file; - for stdout."
        ),
    ] = STANDARD,
    margins: Annotated[
        bool,
        typer.Option("--margins", help="Add by how much the class's score exceeds the next best."),
    ] = False,
    keep: Annotated[
        list[str] | None, typer.Option(help="A column of the table to copy; repeatable.")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Predict the rows of a table, in their order and however many there are.

    Example: hyperlvq predict model.hlvq new.csv -o predictions.csv
    """
    from hyperlvq.cli.steps import shown_share
    from hyperlvq.tables.about import columns_of
    from hyperlvq.tables.batches import (
        check_output,
        open_output,
        predict_batches,
        prediction_table,
    )
    from hyperlvq.tables.columns import check_present
    from hyperlvq.tables.dialect import tidy
    from hyperlvq.tables.read import open_table

    check_inputs(model, table)
    check_output(output)
    check_not_an_input(output, model, table)
    saved = read_saved(model)
    columns, kept = columns_of(saved.about), [tidy(name) for name in keep or ()]
    name = saved.about["target"] or "prediction"
    needed = [*(column.name for column in columns), *kept]
    # of a stream, rows are seen as they come, not once all of them are there
    is_stream = output == STANDARD or (Path(output).exists() and not Path(output).is_file())
    n_rows = 0
    with (
        open_table(table, columns=needed) as reader,
        open_output(output) as write,
        shown_share("predicting", quiet) as progress,
        if_stopped(None if is_stream else NOTHING_WRITTEN),
    ):
        check_present(kept, reader)
        for batch in predict_batches(saved.predictor, columns, reader, margins):
            write(prediction_table(batch, name, kept))
            n_rows += len(batch.classes)
            progress(reader.position)
    if output != STANDARD:
        give([f"{output}: {counted(n_rows, 'row')} predicted"], None, as_json=False, quiet=quiet)
