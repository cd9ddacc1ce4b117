"""Options that several commands share, and how they give their results."""

import json
import sys
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from typer import Argument, Option

from hyperlvq.checks import InputError
from hyperlvq.cli.text import printable
from hyperlvq.writing import standard_output

if TYPE_CHECKING:
    from hyperlvq.model_files import ModelFile
    from hyperlvq.prediction import Predictor
    from hyperlvq.tables.about import About

STANDARD = "-"

TABLE = Argument(..., help="A CSV, TSV or Parquet file, gzipped or not; - reads standard input.")
MODEL = Argument(..., help="A model of hyperlvq fit; - reads standard input.")
JSON = Option(False, "--json", help="Print one JSON object instead of text.")
QUIET = Option(False, "--quiet", "-q", help="Print nothing but results asked for and errors.")
#: How a table is to be read, for all commands that read one.
MISSING = Option(None, help="A word for a missing value, beside NA and its like; repeatable.")
ENCODING = Option(None, help="The encoding of the text.", show_default="found out")
STRICT = Option(
    False, "--strict", help="Refuse values that were not seen in training instead of a note."
)
SKIP_ROWS = Option(0, min=0, help="How many lines stand before the header.")


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
                    raise InputError(f"{output} is what is read: write to another file")


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
