"""What later tables have and training had not: counted by column, said in notes, or refused."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.kernels.features import level_lookups
from hyperlvq.prediction import Predictor
from hyperlvq.tables.cells import quoted
from hyperlvq.tables.columns import Column, Kind, listed
from hyperlvq.tables.dates import days_of
from hyperlvq.tables.read import Table

#: So many different values are remembered of a column.
MOST_VALUES = 1000


class _News(NamedTuple):
    """What can be new about a column: as a note on some rows, and as what is wrong with a cell."""

    note: str
    refusal: str


NEW_LEVEL = _News(
    "has {values} not seen in training in {rows}: {listed}", "{cell} was not seen in training"
)
MISSING = _News(
    "has no value in {rows}, and always had one in training",
    "it has no value, and always had one in training",
)


@dataclass
class _Found:
    """Rows of a column that have something new, and their values."""

    n_rows: int = 0
    values: dict[str, None] = field(default_factory=dict)  # in the order of their first rows


class Unseen:
    """Look for values of columns that a model has not seen, in one batch of rows after another.

    New are levels of text, numbers outside of those of training by more than their range, and
    missing values where none was missing. If `strict`, the first one is refused.
    """

    def __init__(self, model: Predictor, columns: Sequence[Column], strict: bool = False) -> None:
        self._columns = {column.name: column for column in columns}
        self._strict = strict
        self._found: dict[tuple[str, _News], _Found] = {}
        self._levels: dict[str, Mapping[str | None, int]] = {}
        first = model.parts[0]
        if first.kind == "FrameVectorizer":
            lookups = level_lookups(first.learnt)
            self._levels = dict(zip(first.parameters["text"], lookups, strict=True))

    def look_at(self, table: Table, values: Mapping[str, np.ndarray]) -> None:
        """Count what is new in the columns of a table, as `to_arrays` gives them."""
        for name, cells in values.items():
            column = self._columns[name]
            cells = days_of(cells) if column.kind is Kind.DATE else cells
            for news, is_new in self._news(column, cells):
                rows = np.flatnonzero(is_new)
                if len(rows) and self._strict:
                    where = f"{table.form.name}, row {table.first_row + rows[0]}, column {name!r}"
                    refusal = news.refusal.format(cell=f"'{_shown(cells[rows[0]], column)}'")
                    raise InputError(f"{where}: {refusal} (--strict)")
                if len(rows):
                    found = self._found.setdefault((name, news), _Found())
                    found.n_rows += len(rows)
                    for cell in cells[rows] if len(found.values) < MOST_VALUES else ():
                        found.values[_shown(cell, column)] = None

    def _news(self, column: Column, cells: np.ndarray) -> Iterator[tuple[_News, np.ndarray]]:
        """Yield what may be new, and in which rows it is."""
        is_missing = cells != cells  # NaN, of numbers, of dates and of text
        is_known = column.minimum is not None or column.levels is not None
        if is_known and column.n_missing == 0:
            yield MISSING, is_missing
        if column.name in self._levels:
            new = {*cells[~is_missing].tolist()} - self._levels[column.name].keys()
            if new:
                yield NEW_LEVEL, np.array([cell in new for cell in cells])
        elif column.minimum is not None and column.maximum is not None:
            extent = column.maximum - column.minimum
            low, high = column.minimum - extent, column.maximum + extent
            seen = f"{column.shown(column.minimum)} to {column.shown(column.maximum)}"
            far = f"far outside of training's {seen}"
            news = _News(f"is {far} in {{rows}}: {{listed}}", f"{{cell}} is {far}")
            yield news, (cells < low) | (cells > high)

    @property
    def notes(self) -> list[str]:
        """What was new, in one sentence for each column."""
        notes = []
        for (name, news), found in self._found.items():
            rows = "1 row" if found.n_rows == 1 else f"{found.n_rows} rows"
            values = "a value" if len(found.values) == 1 else "values"
            note = news.note.format(rows=rows, values=values, listed=listed(found.values))
            notes.append(f"{name!r} {note}")
        return notes


def _shown(cell: str | float, column: Column) -> str:
    return quoted(cell)[1:-1] if isinstance(cell, str) else column.shown(cell)
