"""Options that several commands share, and how they give their results."""

import json
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from typer import Argument, Option

from hyperlvq.checks import InputError
from hyperlvq.writing import STANDARD, printable, standard_output

if TYPE_CHECKING:
    from hyperlvq.model_files import ModelFile
    from hyperlvq.prediction import Predictor
    from hyperlvq.tables.about import About
    from hyperlvq.tables.evaluation import Confusion

#: A larger confusion table does not fit a terminal; its mistakes are listed instead.
MOST_CLASSES = 12
MOST_MISTAKES = 10
LONGEST_NAME = 20

TABLE = Argument(..., help="CSV, TSV or Parquet file, optionally gzipped, or - for standard input.")
MODEL = Argument(..., help="Model file, or - for standard input.")
JSON = Option(False, "--json", help="Print JSON instead of text.")
QUIET = Option(False, "--quiet", "-q", help="Print only errors, and JSON if asked for.")
#: How a table is to be read, for all commands that read one.
MISSING = Option(None, help="Additional marker for missing values, such as -999; repeatable.")
ENCODING = Option(None, help="Text encoding of the table.", show_default="detected")
STRICT = Option(
    False, "--strict", help="Reject values not seen in training instead of reporting them."
)
SKIP_ROWS = Option(0, min=0, help="Number of lines to skip before the header.")
#: The symbols P and I of the paper's training costs.
PROTOTYPES_PER_CLASS = Option(1, min=1, help="Number of prototypes P per class.")
N_ITER = Option(10, min=1, help="Number of iterations I of GLVQ.")


def print_result(
    lines: Iterable[str],
    values: Any = None,
    as_json: bool = False,
    quiet: bool = False,
    to_stderr: bool = False,
) -> None:
    """Print a result as text, each line on one line, or its values as JSON."""
    if as_json:
        lines = json.dumps(values, ensure_ascii=False, allow_nan=False, indent=2).split("\n")
    elif quiet:
        return
    with nullcontext(sys.stderr) if to_stderr else standard_output() as stream:
        print(*map(printable, lines), sep="\n", file=stream)


def check_not_an_input(output: str, *inputs: str) -> None:
    """Refuse to write over what is read."""
    if output != STANDARD and Path(output).is_file():
        for path in inputs:
            with suppress(OSError):  # it is not there, which is for its reader to say
                if Path(output).samefile(path):
                    raise InputError(f"{output} is also an input: choose another output file")


class SavedModel(NamedTuple):
    """The parts of a model, and all that is known about it."""

    file: "ModelFile"
    about: "About"

    @property
    def predictor(self) -> "Predictor":
        """The model as what predicts columns, without scikit-learn."""
        from hyperlvq.prediction import Predictor

        return Predictor(self.file.parts)


def read_saved(model: str, table: str | None = None) -> SavedModel:
    """Return the model at a path or on standard input, for a table that comes from elsewhere."""
    from hyperlvq.model_files import read_path, read_stream
    from hyperlvq.tables.about import about_python_model, from_notes

    if model == table == STANDARD:
        raise InputError("the model and the table cannot both come from standard input")
    if model == STANDARD and sys.stdin is None:
        raise InputError("standard input is closed")
    name = "standard input" if model == STANDARD else model
    file = read_stream(sys.stdin.buffer, name) if model == STANDARD else read_path(model)
    known = from_notes if file.notes else about_python_model
    return SavedModel(file, known(file, name))


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
