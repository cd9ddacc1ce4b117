"""The model of a table: its columns made numbers, then a recipe of `make_classifier`."""

from collections.abc import Sequence
from typing import Any

from sklearn.pipeline import Pipeline

from hyperlvq.checks import InputError
from hyperlvq.frames import FrameVectorizer
from hyperlvq.models import make_classifier
from hyperlvq.tables.columns import Column, Kind
from hyperlvq.tables.rules import fewest_rows

MOST_LEVELS = 100


def table_classifier(
    columns: Sequence[Column],
    n_rows: int,
    hidden: str,
    readout: str,
    seed: int,
    **parameters: Any,
) -> Pipeline:
    """Return a model that fits and predicts data frames with these columns.

    Numbers go on as they are, their missing values included where the integer layer leaves them
    out of its sum; other layers get the column's median. Text becomes one feature per level, with
    a level for missing values and one for all rare levels; a level not seen in training is none.
    """
    model = table_recipe(hidden, readout, seed, **parameters)
    numbers = [column.name for column in columns if column.kind is Kind.NUMBER]
    text = [column.name for column in columns if column.kind is Kind.TEXT]
    vectorizer = FrameVectorizer(
        numbers,
        text,
        fill=hidden != "intrvfl",
        min_rows=fewest_rows(n_rows),
        max_levels=MOST_LEVELS,
    )
    return Pipeline([("columns", vectorizer), *model.steps])


def table_recipe(hidden: str, readout: str, seed: int, **parameters: Any) -> Pipeline:
    """Return the part of the model behind the columns, its random numbers drawn from a seed."""
    try:
        model = make_classifier(hidden, readout, **parameters)
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from None
    seeds = [name for name in model.get_params() if name.endswith("__random_state")]
    return model.set_params(**dict.fromkeys(seeds, seed))
