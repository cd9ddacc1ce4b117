"""Predict tables batch by batch, however long they are."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hyperlvq.checks import InputError
from hyperlvq.prediction import Predictor
from hyperlvq.tables.columns import Column, labels, to_arrays
from hyperlvq.tables.confusion import Confusion, in_order
from hyperlvq.tables.names import listed
from hyperlvq.tables.read import Chunk, TableReader

#: A table's batches are the same however its reader cuts it up, and so is every last digit.
BATCH_ROWS = 8192
#: More values that are no class are another column's, and a matrix of them would fill the memory.
MOST_UNKNOWN = 1000
#: A matrix of more classes would fill the memory.
MOST_CLASSES, MOST_OCCURRING = 1000, 5000
WHOLE_NUMBER = re.compile(r"^(-?[0-9]+)\.0+$")


@dataclass(frozen=True)
class Prediction:
    """The rows of a batch, their classes and, if asked for, their margins."""

    rows: pa.Table
    classes: np.ndarray
    margins: np.ndarray | None = None


def predict(
    model: Predictor, columns: Sequence[Column], reader: TableReader, with_margins: bool = False
) -> Iterator[Prediction]:
    """Yield the predictions of a table in its order."""
    for batch in batches(reader):
        values = to_arrays(batch.data, columns, reader, batch.first_row)
        with _refusals_of_the_model(reader.name):
            decisions = model.decide(values)
        margins = margins_of(decisions) if with_margins else None
        yield Prediction(batch.data, model.labels(decisions), margins)


@contextmanager
def _refusals_of_the_model(table: str) -> Iterator[None]:
    """Make one sentence of what a model says, such as one of Python that takes no missing value."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{table}: the model refuses it: {str(error).splitlines()[0]}") from None


def margins_of(scores: np.ndarray) -> np.ndarray:
    """Return by how much each row's best score exceeds the next best.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperlvq.tables.prediction import margins_of
    >>> margins_of(np.array([[-1.0, -4.0, -2.0]])), margins_of(np.array([-3.0]))
    (array([1.]), array([3.]))
    """
    if scores.ndim == 1:
        return np.abs(scores)
    best_two = np.partition(scores, -2, axis=1)[:, -2:]
    return best_two[:, 1] - best_two[:, 0]


@dataclass(frozen=True)
class Evaluation:
    """How predictions compare with a target, and what is to be said about it."""

    confusion: Confusion
    notes: tuple[str, ...]


def evaluate(
    model: Predictor, columns: Sequence[Column], reader: TableReader, target: str
) -> Evaluation:
    """Compare the predictions of a table with its target."""
    known = in_order(map(str, model.classes))
    spellings = {_as_number(name): name for name in known} | {name: name for name in known}
    # of very many classes, only those that occur
    confusion = Confusion.of([], [], known if len(known) <= MOST_CLASSES else ())
    n_without_label = 0
    unknown: set[str] = set()
    for prediction in predict(model, columns, reader):
        y = labels(prediction.rows, target, reader)
        has_label = np.array([label is not None for label in y])
        y = y[has_label]
        true = [spellings.get(label) or spellings.get(_as_number(label), label) for label in y]
        unknown.update({*true} - spellings.keys())
        if len(unknown) > MOST_UNKNOWN:
            raise InputError(
                f"{reader.name}, column {target!r}: more than {MOST_UNKNOWN} of its values are no "
                f"class of the model: {listed(in_order(unknown))}"
            )
        confusion += Confusion.of(true, prediction.classes[has_label].astype(str))
        if len(confusion.classes) > MOST_OCCURRING:
            raise InputError(
                f"{reader.name}: more than {MOST_OCCURRING} classes occur, too many to compare"
            )
        n_without_label += int((~has_label).sum())
    if not confusion.n_rows:
        raise InputError(f"{reader.name} has no value in the target column {target!r}")
    if not confusion.counts[: len(known)].any():
        raise InputError(
            f"{reader.name}, column {target!r}: none of its values is a class of the model, "
            f"only {listed(confusion.classes[len(known) :])}"
        )
    return Evaluation(confusion, tuple(_notes(confusion, known, n_without_label)))


def _as_number(label: str) -> str:
    """Return 1 for 1.0, which programs make of whole numbers in a column with a missing one."""
    return WHOLE_NUMBER.sub(r"\1", label)


def _notes(confusion: Confusion, known: list[str], n_without_label: int) -> Iterator[str]:
    if n_without_label:
        yield f"rows without a class, left out: {n_without_label}"
    unknown = [name for name in confusion.classes if name not in known]
    if unknown:
        yield f"classes that the model does not know: {', '.join(unknown)}"


def batches(reader: TableReader) -> Iterator[Chunk]:
    """Yield a table in batches of `BATCH_ROWS` rows; the last one has what is left."""
    first_row, waiting = 1, None
    for chunk in reader.chunks():
        waiting = chunk.data if waiting is None else pa.concat_tables([waiting, chunk.data])
        while len(waiting) >= BATCH_ROWS:
            yield Chunk(first_row, waiting.slice(0, BATCH_ROWS))
            first_row, waiting = first_row + BATCH_ROWS, waiting.slice(BATCH_ROWS)
    if waiting is not None and len(waiting):
        yield Chunk(first_row, waiting)
