"""The published accuracies: a CSV file with one row per data set, its columns read by name."""

import csv
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path

import pandas as pd

from hyperlvq.checks import InputError
from hyperlvq.study.experiments import MODELS

NAME = "dataset"
COLUMNS = {name: model.accuracy_column for name, model in MODELS.items() if model.accuracy_column}


@dataclass(frozen=True)
class Published:
    """What someone else measured: accuracies by data set and model, and all cells by name."""

    accuracies: pd.DataFrame
    rows: list[dict[str, str]]


def read_published(path: str | Path) -> Published:
    """Read a published file; raise InputError with its line and column where it is wrong."""
    header, rows = _read_rows(path)
    known = {name: column for name, column in COLUMNS.items() if column in header}
    if not known:
        wanted = ", ".join(COLUMNS.values())
        raise InputError(f"{path}, line 1: none of the columns of accuracies ({wanted})")
    if not rows:
        raise InputError(f"{path} has a header and no rows")
    line_of_set: dict[str, int] = {}
    for line, row in rows.items():
        earlier = line_of_set.setdefault(row[NAME], line)
        if not row[NAME] or earlier < line:
            fault = f"{row[NAME]!r} is on line {earlier} too" if row[NAME] else "empty"
            raise InputError(f"{path}, line {line}, column {NAME}: {fault}")
    accuracies = {
        row[NAME]: {
            name: _accuracy(row[column], f"{path}, line {line}, column {column}")
            for name, column in known.items()
        }
        for line, row in rows.items()
    }
    table = pd.DataFrame.from_dict(accuracies, orient="index", columns=list(known), dtype=float)
    return Published(table, list(rows.values()))


def _read_rows(path: str | Path) -> tuple[list[str], dict[int, dict[str, str]]]:
    """Return the header and, by line, the cells by column, without the spaces around them."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a CSV file: not text in UTF-8") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    reader = csv.reader(text.splitlines(), strict=True)
    try:
        lines = [(reader.line_num, [*map(str.strip, cells)]) for cells in reader if cells]
    except csv.Error as error:
        place = f"{path}, line {reader.line_num}"
        raise InputError(f"{place}: not a line of a CSV file: {error}") from None
    header = lines.pop(0)[1] if lines else []
    if NAME not in header:
        raise InputError(f"{path}, line 1: no column {NAME!r}")
    repeated = [name for name in header if header.count(name) > 1]
    if repeated:
        raise InputError(f"{path}, line 1: column {repeated[0]!r} occurs twice")
    for line, cells in lines:
        if len(cells) != len(header):
            raise InputError(
                f"{path}, line {line}: {len(cells)} cells where the header has {len(header)}"
            )
    return header, {line: dict(zip(header, cells, strict=True)) for line, cells in lines}


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
