"""The published accuracies: a CSV file with one row a data set, its columns read by name."""

import csv
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path

import pandas as pd

from hyperlvq.checks import InputError
from hyperlvq.study.experiments import MODELS

NAME = "dataset"


@dataclass(frozen=True)
class Published:
    """What someone else measured: accuracies by data set and model, and all cells by name."""

    accuracies: pd.DataFrame
    rows: list[dict[str, str]]


def read_published(path: str | Path) -> Published:
    """Read a published file; raise InputError with its line and column where it is wrong."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a CSV file: not text in UTF-8") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    return parse_published(text, str(path))


def parse_published(text: str, path: str) -> Published:
    """Parse the text of a published file; `path` is for messages."""
    numbered = _numbered_rows(text, path)
    header = _header(numbered, path)
    columns = {name: model.accuracy_column for name, model in MODELS.items()}
    known = {name: column for name, column in columns.items() if column in header}
    if not known:
        wanted = ", ".join(column for column in columns.values() if column)
        raise InputError(f"{path}, line 1: none of the columns of accuracies ({wanted})")
    rows = _rows_by_name(numbered[1:], header, path)
    accuracies = {
        row[NAME]: {
            name: _accuracy(row[column], f"{path}, line {line}, column {column}")
            for name, column in known.items()
        }
        for line, row in rows.items()
    }
    table = pd.DataFrame.from_dict(accuracies, orient="index", columns=list(known), dtype=float)
    return Published(table, list(rows.values()))


def _numbered_rows(text: str, path: str) -> list[tuple[int, list[str]]]:
    reader = csv.reader(text.splitlines(), strict=True)
    try:
        return [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise InputError(
            f"{path}, line {reader.line_num}: not a line of a CSV file: {error}"
        ) from None


def _header(numbered: list[tuple[int, list[str]]], path: str) -> list[str]:
    header = [name.strip() for name in numbered[0][1]] if numbered else []
    if NAME not in header:
        raise InputError(f"{path}, line 1: no column {NAME!r}")
    repeated = [name for name in header if header.count(name) > 1]
    if repeated:
        raise InputError(f"{path}, line 1: column {repeated[0]!r} occurs twice")
    return header


def _rows_by_name(
    numbered: list[tuple[int, list[str]]], header: list[str], path: str
) -> dict[int, dict[str, str]]:
    """Return the rows by line number, once their width and their names are checked."""
    rows = {}
    line_of_name: dict[str, int] = {}
    for line, cells in numbered:
        if len(cells) != len(header):
            raise InputError(
                f"{path}, line {line}: {len(cells)} cells where the header has {len(header)}"
            )
        row = dict(zip(header, map(str.strip, cells), strict=True))
        name = row[NAME]
        if not name or name in line_of_name:
            fault = f"{name!r} is on line {line_of_name[name]} too" if name else "empty"
            raise InputError(f"{path}, line {line}, column {NAME}: {fault}")
        line_of_name[name] = line
        rows[line] = row
    if not rows:
        raise InputError(f"{path} has a header and no rows")
    return rows


def _accuracy(text: str, where: str) -> float:
    """Return the accuracy in a cell; an empty one is not given."""
    if not text:
        return nan
    try:
        accuracy = float(text)
    except ValueError:
        raise InputError(f"{where}: {text!r} is not a number") from None
    if not (isnan(accuracy) or 0 <= accuracy <= 1):
        raise InputError(f"{where}: an accuracy lies from 0 to 1, got {text}")
    return accuracy
