"""Plain text for people: aligned tables, sizes, confusions."""

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperlvq.tables.evaluation import Confusion

#: A larger confusion table does not fit a terminal; its mistakes are listed instead.
MOST_CLASSES = 12
MOST_MISTAKES = 10
LONGEST_NAME = 20
#: What moves the cursor of a terminal, ends a line, turns the direction of text, or is no letter.
UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(line: str) -> str:
    """Return a line that a terminal shows as it is, whoever wrote what is in it.

    The escapes are those of JSON, so that JSON stays what it is.
    """
    return UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Return the lines of a table; the columns in `left` are flush left, the others right."""
    columns = []
    for position, cells in enumerate(zip(*rows, strict=True)):
        width = max(map(len, cells))
        columns.append([c.ljust(width) if position in left else c.rjust(width) for c in cells])
    return ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]


def fact_lines(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return one line per pair of a heading and what is to be said under it."""
    return aligned(pairs, left=(0, 1))


def shortened(name: str) -> str:
    """Return a name on one line and not too long."""
    line = "".join(character if character.isprintable() else "·" for character in name)
    return line if len(line) <= LONGEST_NAME else f"{line[: LONGEST_NAME - 1]}…"


def counted(count: int, noun: str) -> str:
    """Return "1 row", "2 rows"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def readable_size(n_bytes: int) -> str:
    """Return a number of bytes as people say it."""
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    return f"{n_bytes / 1e3:.0f} kB" if n_bytes < 1e6 else f"{n_bytes / 1e6:.1f} MB"


def confusion_lines(confusion: "Confusion") -> list[str]:
    """Return a confusion table or, of many classes, the most frequent mistakes."""
    if len(confusion.classes) <= MOST_CLASSES:
        names = [shortened(name) for name in confusion.classes]
        counts = confusion.counts.tolist()
        rows = [[name, *map(str, row)] for name, row in zip(names, counts, strict=True)]
        return aligned([["true \\ predicted", *names], *rows])
    mistakes = confusion.mistakes()[:MOST_MISTAKES]
    rows = [[shortened(true), shortened(taken), str(count)] for true, taken, count in mistakes]
    return aligned([["most frequent mistakes: true", "predicted", "rows"], *rows])
