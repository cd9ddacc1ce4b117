"""Settings of the models per data set (and split), from a file, of our own search or by default.

A settings file is a table with a column `dataset`, optionally one `split`, and the columns that the
models of `experiments` name. A model that has no column there, or whose data set has no row, has
its defaults; one with an empty cell leaves the data set out. A column `tuning` names the protocol
that the settings were tuned by, or "published" where that was the paper's own search.

The paper's table is a settings file, too. Its models were solved and started in another way than
ours, which has to be asked for (`as_published`); it lacks columns of what the paper says in its
text.
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
RowKey = tuple[str, int | None]


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
    rows: dict[RowKey, dict[str, float | None]] = field(default_factory=dict)
    tuning: str | None = None

    def choose(
        self, model: Model, dataset: str, split: int, as_published: bool = False
    ) -> Choice | None:
        """Return the model's parameters on a split, or None where it leaves the set out."""
        row = self.rows.get((dataset, split), self.rows.get((dataset, None)))
        columns = {name: column for name, column in model.columns.items() if column in self.columns}
        if row is None or not columns:
            return Choice(dict(model.defaults), DEFAULTS)
        values = {name: row[column] for name, column in columns.items()}
        if None in values.values():
            return None
        return Choice({**(model.as_published if as_published else {}), **values}, self.name)

    def check(self, models: Iterable[Model], protocol: str, as_published: bool = False) -> None:
        """Raise if models cannot be run with these settings, or not by the protocol."""
        if as_published and not self.columns:
            raise InputError(
                "--as-published needs --settings with the paper's table, paper_results.csv"
            )
        if protocol == "strict" and self.rows and self.tuning != "strict":
            raise InputError(
                f"the settings {self.name} cannot be used with the protocol strict: their column "
                "'tuning' must say strict"
            )
        for model in models:
            if not self.columns.isdisjoint(model.columns.values()):
                self._check_columns(model, as_published)

    def _check_columns(self, model: Model, as_published: bool) -> None:
        """Raise if columns of a model are missing, or it is unclear how to train it."""
        given = model.as_published if as_published else {}
        for name, column in model.columns.items():
            if column not in self.columns and name not in given:
                hint = "; --as-published accepts such settings, like the paper's table"
                raise InputError(
                    f"the settings {self.name} lack the column {column!r} of {model.name}, but "
                    f"have others{hint if name in model.as_published else ''}"
                )
        if model.as_published and not as_published and self.tuning == "published":
            raise InputError(
                f"the settings {self.name} were tuned as published: give --as-published to train "
                f"{model.name} so as well"
            )
        if self.tuning is None and model.as_published and not as_published:
            raise InputError(
                f"the settings {self.name} have no column 'tuning': add it if {model.name} "
                "was tuned with hyperlvq, or use --as-published to train it as in the paper"
            )


@cache
def searched_settings() -> Settings:
    """Return the settings that our own search found on the collection, by the protocol "paper"."""
    with as_file(files("hyperlvq.study") / "searched_settings.csv") as path:
        return replace(read_settings(path), name=SEARCH)


def read_settings(path: str | Path) -> Settings:
    """Return the settings of a file, or the defaults where they are asked for by their name."""
    if str(path) == DEFAULTS:
        return Settings()
    rows: dict[RowKey, dict[str, float | None]] = {}
    header, lines = read_table_of_sets(path)
    for line, cells in lines.items():
        place = f"{path}, line {line}"
        split = _number(cells.get("split", ""), f"{place}, column split")
        if split is not None and (split < 0 or split % 1):
            raise InputError(f"{place}, column split: {cells['split']!r} is not a split number")
        key = cells["dataset"], None if split is None else int(split)
        if key in rows:
            of_split = "" if key[1] is None else f", split {key[1]},"
            raise InputError(f"{place}: {key[0]!r}{of_split} occurs twice")
        rows[key] = {
            name: _number(text, f"{place}, column {name}")
            for name, text in cells.items()
            if name in KNOWN_COLUMNS
        }
    tunings = {cells.get("tuning") for cells in lines.values()}
    tuning = tunings.pop() if len(tunings) == 1 else ""
    # All files that were tuned have one name: they are called after their folders.
    path = Path(path)
    name = path.absolute().parent.name if path.name == TUNED_FILE else path.stem
    return Settings(name, KNOWN_COLUMNS.intersection(header), rows, tuning)


def read_table_of_sets(path: str | Path) -> tuple[list[str], dict[int, dict[str, str]]]:
    """Return the header of a CSV file with a column `dataset`, and its cells by line and column."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a CSV file in UTF-8") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    reader = csv.reader(text.splitlines(), strict=True)
    try:
        numbered = [(reader.line_num, [*map(str.strip, cells)]) for cells in reader if cells]
    except csv.Error as error:
        fault = f"invalid CSV: {error}"
        raise InputError(f"{path}, line {reader.line_num}: {fault}") from None
    header = numbered[0][1] if numbered else []
    if "dataset" not in header:
        raise InputError(f"{path}, line 1: no column 'dataset'")
    if repeated := [name for name in header if header.count(name) > 1]:
        raise InputError(f"{path}, line 1: column {repeated[0]!r} occurs twice")
    rows = {}
    for line, cells in numbered[1:]:
        if len(cells) != len(header):
            fault = f"expected {len(header)} cells, as in the header, got {len(cells)}"
            raise InputError(f"{path}, line {line}: {fault}")
        rows[line] = dict(zip(header, cells, strict=True))
    return header, rows


def _number(text: str, place: str) -> float | None:
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{place}: {text!r} is not a finite number")
    return int(number) if number.is_integer() else number


def write_settings(path: str | Path, rows: dict[RowKey, Parameters], tuning: str) -> None:
    """Write values by data set, split and column, as `read_settings` takes them."""
    columns = sorted({column for values in rows.values() for column in values})
    has_splits = any(split is not None for _, split in rows)
    header = ["dataset", *(["split"] if has_splits else []), "tuning", *columns]
    table = StringIO()
    writer = csv.DictWriter(table, header, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for dataset, split in sorted(rows, key=lambda key: (key[0], key[1] is not None, key[1])):
        place = {"dataset": dataset, "split": split, "tuning": tuning}
        writer.writerow({**place, **rows[dataset, split]})
    write_bytes(table.getvalue().encode(), path)
