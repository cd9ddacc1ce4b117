"""Records of a study: one flat JSON object per line, appended and flushed.

A record says what was run (`KEY`, the source of the data set, its number of splits, the model's
parameters by name and the settings they are from), what came out (`RESULTS`) and how long it took
(`TIMES`). Confidence bins have, for each tenth of the probability of the most probable class:
samples, the sum of these probabilities, how many were right. They and log loss are None where a
model has no probabilities or was trained on a device, and absent where not measured yet. A record
that was made on a device names it (device); its seconds are a share of those of the runs that were
trained with it. Where a data set could not be read, model, split, seed and accuracy are None and
error is the sentence that says why.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from typing import Any, Self

from hyperlvq.checks import InputError
from hyperlvq.study.data_set import DataSet
from hyperlvq.study.experiments import Model

RECORDS_NAME = "records.jsonl"
#: Of a split or a seed; random number generators take no larger seed.
LARGEST_NUMBER = 2**32 - 1
KEY = ("protocol", "model", "dataset", "split", "seed")
RESULTS = (
    *("n_train", "n_test", "n_features", "n_classes", "accuracy", "log_loss", "confidence_bins"),
    *("iterations", "error"),
)
TIMES = ("fit_seconds", "predict_seconds")
N_BINS = 10
#: What a probability counts as at least, for every model: half of what one tree in 500 says.
PROBABILITY_FLOOR = 0.001

Record = dict[str, Any]


def key_of(record: Record) -> tuple:
    """Return what tells a record from every other one of its folder."""
    return tuple(record[name] for name in KEY)


def failure(description: Record, error: Exception) -> Record:
    """Return the record of what failed."""
    sentence = str(error).strip().split("\n")[0] or type(error).__name__
    return {**description, **dict.fromkeys(RESULTS), "error": sentence}


@dataclass(frozen=True)
class Job(ABC):
    """A piece of work with a model on a data set, which ends in one record."""

    data_set: DataSet
    model: Model
    protocol: str

    def description(self) -> Record:
        """Return what its record says before it has been made."""
        return {
            "protocol": self.protocol,
            "model": self.model.name,
            "dataset": self.data_set.name,
            "source": self.data_set.source,
        }

    @abstractmethod
    def seconds(self) -> float:
        """Return about how long it will take."""

    @abstractmethod
    def result(self) -> Record:
        """Do it and return its record."""

    def record(self) -> Record:
        """Do it and return its record, whatever happens."""
        try:
            return self.result()
        except Exception as error:  # one bad run must not end a study of thousands
            return failure(self.description(), error)

    def with_data(self, data_set: Any) -> Self:
        """Return the job with other data, such as None where they travel apart from it."""
        return replace(self, data_set=data_set)


def read_records(folder: str | Path, name: str = RECORDS_NAME) -> list[Record]:
    """Return the records of a folder; a last line that was cut off is left out."""
    path = Path(folder) / name
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{folder} holds no {name}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    records = []
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        if (record := _parsed(line)) is None:
            raise InputError(f"{path}, line {number}: not a record of a study")
        records.append(record)
    return records


def _parsed(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
        json.dumps(record, ensure_ascii=False).encode()  # half a character cannot be shown
        protocol, model, dataset, *numbers = key_of(record)
    except (ValueError, RecursionError, LookupError, TypeError):
        return None
    has_names = isinstance(protocol, str) and isinstance(dataset, str)
    is_key = (
        has_names
        and isinstance(model, str | None)
        and all(type(n) is int and 0 <= n <= LARGEST_NUMBER for n in numbers if n is not None)
    )
    return record if is_key else None


@contextmanager
def open_records(folder: str | Path, name: str = RECORDS_NAME) -> Iterator["RecordFile"]:
    """Open a folder's records for appending, one process at a time.

    A last line that a killed run left unfinished is cut off.
    """
    path = Path(folder) / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab", buffering=0)
    except FileExistsError:
        raise InputError(f"{folder} is a file, not a folder") from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    with file:
        lock(file, path)
        records = read_records(folder, name)
        file.truncate(path.read_bytes().rfind(b"\n") + 1)
        yield RecordFile(file, records)


class RecordFile:
    """The records of a study and the open file they are appended to."""

    def __init__(self, file: FileIO, records: list[Record]) -> None:
        self.records = records
        self._file = file

    def append(self, record: Record) -> None:
        """Write one record as one line, out of this process before it returns."""
        line = json.dumps(record, allow_nan=False).encode("ascii") + b"\n"
        try:
            is_whole = self._file.write(line) == len(line)
        except OSError as error:
            raise InputError(f"{self._file.name} cannot be written: {error.strerror}") from None
        if not is_whole:
            raise InputError(f"{self._file.name} cannot be written: the disk is full")
        self.records.append(record)


def lock(file: FileIO, path: Path) -> None:
    """Keep other processes from writing to a file until it is closed, where the system can."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"another run is writing to {path}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be locked: {error.strerror}") from None
