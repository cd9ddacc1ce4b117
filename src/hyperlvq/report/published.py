"""The published accuracies: a CSV file with one row per data set, its columns read by name."""

from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path

import pandas as pd

from hyperlvq.checks import InputError
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.settings import read_table_of_sets

COLUMNS = {name: model.accuracy_column for name, model in MODELS.items() if model.accuracy_column}


@dataclass(frozen=True)
class Published:
    """What someone else measured: accuracies by data set and model, and all cells by name."""

    accuracies: pd.DataFrame
    rows: list[dict[str, str]]


def read_published(path: str | Path) -> Published:
    """Read a published file; raise InputError with its line and column where it is wrong."""
    header, rows = read_table_of_sets(path)
    known = {name: column for name, column in COLUMNS.items() if column in header}
    if not known:
        wanted = ", ".join(COLUMNS.values())
        raise InputError(f"{path}, line 1: none of the columns of accuracies ({wanted})")
    if not rows:
        raise InputError(f"{path} has a header and no rows")
    accuracies: dict[str, dict[str, float]] = {}
    line_of_set: dict[str, int] = {}
    for line, cells in rows.items():
        place, dataset = f"{path}, line {line}, column", cells["dataset"]
        if not dataset or dataset in line_of_set:
            fault = f"{dataset!r} is on line {line_of_set[dataset]} too" if dataset else "empty"
            raise InputError(f"{place} dataset: {fault}")
        line_of_set[dataset] = line
        accuracies[dataset] = {
            name: _accuracy(cells[column], f"{place} {column}") for name, column in known.items()
        }
    table = pd.DataFrame.from_dict(accuracies, orient="index", columns=list(known), dtype=float)
    return Published(table, list(rows.values()))


def _accuracy(text: str, place: str) -> float:
    """Return the accuracy in a cell; an empty one is not given."""
    if not text:
        return nan
    try:
        accuracy = float(text)
    except ValueError:
        raise InputError(f"{place}: {text!r} is not a number") from None
    if not (isnan(accuracy) or 0 <= accuracy <= 1):
        raise InputError(f"{place}: an accuracy lies from 0 to 1, got {text}")
    return accuracy
