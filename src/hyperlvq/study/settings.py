"""Settings of the models per data set (and split), from a file, of our own search or by default.

A settings file is a table with a column `dataset`, optionally one `split`, and the columns that the
models of `experiments` name. A model that has no column there, or whose data set has no row, has
its defaults; one with an empty cell leaves the data set out. A column `tuning` names the protocol
that the settings were tuned by. Settings without that column are taken for the paper's, and the
models trained as published; so are models of which a column is missing that the paper's table lacks
too. Our own searches, which the defaults come from too, solve least squares exactly and start GLVQ
as it is better, and what they found is run that way.
"""

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import as_file, files
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from hyperlvq.checks import InputError
from hyperlvq.study.experiments import MODELS, Model
from hyperlvq.writing import write_bytes

KNOWN_COLUMNS = frozenset(column for model in MODELS.values() for column in model.columns.values())
DEFAULTS = "defaults"
SEARCH = "search"
TUNED_FILE = "settings.csv"
Parameters = dict[str, Any]


class Choice(NamedTuple):
    """A model's parameters on a split, and the name of the settings they are from."""

    parameters: Parameters
    origin: str


@dataclass(frozen=True)
class Settings:
    """Values by (data set, split or None) and column; None stands for an empty cell.

    `tuning` is the protocol they were tuned by: None where the file has no such column, "" where
    its rows disagree.
    """

    name: str = DEFAULTS
    columns: frozenset[str] = frozenset()
    rows: dict[tuple[str, int | None], dict[str, float | None]] = field(default_factory=dict)
    tuning: str | None = None

    def choose(self, model: Model, dataset: str, split: int) -> Choice | None:
        """Return the model's parameters on a split, or None where it leaves the set out."""
        row = self.rows.get((dataset, split), self.rows.get((dataset, None)))
        columns = self._columns_of(model)
        if row is None or not columns or self._missing_columns(model):
            return Choice(dict(model.defaults), DEFAULTS)
        values = {name: row[column] for name, column in columns.items()}
        if None in values.values():
            return None
        is_published = self.tuning is None or len(columns) < len(model.columns)
        return Choice({**(model.as_published if is_published else {}), **values}, self.name)

    def check(self, models: Iterable[Model]) -> None:
        """Raise if the file has some columns of a model, but not all."""
        for model in models:
            missing = self._missing_columns(model)
            if missing and self._columns_of(model):
                raise InputError(
                    f"the settings {self.name} have no column {missing[0]!r}, "
                    f"but others of {model.name}"
                )

    def _columns_of(self, model: Model) -> dict[str, str]:
        """Return the model's columns that are here, by parameter."""
        return {name: column for name, column in model.columns.items() if column in self.columns}

    def _missing_columns(self, model: Model) -> list[str]:
        """Return the model's columns that are not here and should be."""
        return [
            column
            for name, column in model.columns.items()
            if column not in self.columns and name not in model.as_published
        ]


@cache
def searched_settings() -> Settings:
    """Return the settings that our own search found on the collection, by the protocol "paper"."""
    with as_file(files("hyperlvq.study") / "searched_settings.csv") as path:
        return replace(read_settings(path), name=SEARCH)


def read_settings(path: str | Path) -> Settings:
    """Return the settings of a file."""
    lines = csv.reader(_text(path).splitlines())
    try:
        header = next(lines, [])
        _check_header(header, path)
        rows: dict[tuple[str, int | None], dict[str, float | None]] = {}
        tunings = set()
        for cells in lines:
            if cells:
                texts = _cells_by_column(header, cells, f"{path}, line {lines.line_num}")
                _add_row(rows, texts, f"{path}, line {lines.line_num}")
                tunings.add(texts.get("tuning"))
    except csv.Error as error:
        raise InputError(f"{path}, line {lines.line_num}: {error}") from None
    tuning = tunings.pop() if len(tunings) == 1 else ""
    return Settings(_name(Path(path)), KNOWN_COLUMNS.intersection(header), rows, tuning)


def _name(path: Path) -> str:
    """Return what to call the settings: a tuned file by its folder, as all have one name."""
    return path.absolute().parent.name if path.name == TUNED_FILE else path.stem


def write_settings(
    path: str | Path, rows: dict[tuple[str, int | None], Parameters], tuning: str
) -> None:
    """Write values by data set, split and column, as `read_settings` takes them."""
    columns = sorted({column for values in rows.values() for column in values})
    has_splits = any(split is not None for _, split in rows)
    table = StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["dataset", *(["split"] if has_splits else []), "tuning", *columns])
    for dataset, split in sorted(rows, key=lambda key: (key[0], key[1] is not None, key[1])):
        cells = [rows[dataset, split].get(column) for column in columns]
        writer.writerow([dataset, *([split] if has_splits else []), tuning, *cells])
    write_bytes(table.getvalue().encode(), path)


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is no settings file: not text in UTF-8") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def _check_header(header: list[str], path: str | Path) -> None:
    if "dataset" not in header:
        raise InputError(f"{path}, line 1: settings need a column 'dataset'")
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise InputError(f"{path}, line 1: column {twice!r} stands there twice")


def _cells_by_column(header: list[str], cells: list[str], place: str) -> dict[str, str]:
    if len(cells) != len(header):
        raise InputError(f"{place}: {len(cells)} cells, {len(header)} columns")
    return dict(zip(header, cells, strict=True))


def _add_row(rows: dict, texts: dict[str, str], place: str) -> None:
    key = texts["dataset"], _split(texts.get("split", ""), f"{place}, column split")
    if key in rows:
        of_split = "" if key[1] is None else f", split {key[1]},"
        raise InputError(f"{place}: {key[0]!r}{of_split} stands there twice")
    rows[key] = {
        name: _number(texts[name], f"{place}, column {name}")
        for name in texts
        if name in KNOWN_COLUMNS
    }


def _split(text: str, place: str) -> int | None:
    number = _number(text, place)
    if number is None:
        return None
    if number < 0 or number % 1:
        raise InputError(f"{place}: {text!r} is no split")
    return int(number)


def _number(text: str, place: str) -> float | None:
    if not text.strip():
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{place}: {text!r} is no finite number")
    return int(number) if number.is_integer() else number
