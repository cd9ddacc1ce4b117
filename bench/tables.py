"""Tables as plain text."""

from typing import NamedTuple


class Table(NamedTuple):
    """Rows of text under a header; the notes say what the reader must know beside them."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str]


def as_text(table):
    """Write a table in columns of fixed width."""
    columns = [align(title, cells) for title, *cells in zip(table.header, *table.rows, strict=True)]
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    return "\n".join([table.title, *lines, *table.notes])


def align(title, cells):
    """Return one column with a rule below its title, numbers to the right and words to the left."""
    width = max(map(len, [title, *cells]))
    is_numeric = all(cell[:1].isdigit() for cell in cells if cell)
    pad = str.rjust if is_numeric else str.ljust
    return [pad(cell, width) for cell in [title, "-" * width, *cells]]
