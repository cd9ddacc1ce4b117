"""Records of a study: one flat JSON object per line, appended and flushed.

A record says what was run (`KEY`, the source of the data set, its number of splits, the model's
parameters by name and the settings they are from), what came out (`RESULTS`) and how long it took
(`TIMES`). Log loss and confidence bins (see `probabilities`) are None where a model has no
probabilities or was trained on a device, and absent where they had not been measured yet. A record
that was made on a device names it (device); its seconds are a share of those of the runs that were
trained with it. Where a data set could not be read, model, split, seed and accuracy are None and
error is the sentence that says why.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

from hyperlvq.checks import InputError

RECORDS_NAME = "records.jsonl"
#: Of a split or a seed; random number generators take no larger seed.
LARGEST_NUMBER = 2**32 - 1
KEY = ("protocol", "model", "dataset", "split", "seed")
RESULTS = (
    *("n_train", "n_test", "n_features", "n_classes", "accuracy", "log_loss", "confidence_bins"),
    *("iterations", "error"),
)
TIMES = ("fit_seconds", "predict_seconds")

Record = dict[str, Any]


def key_of(record: Record) -> tuple:
    """Return what tells a record from every other one of its folder."""
    return tuple(record[name] for name in KEY)


def failure(description: Record, error: Exception) -> Record:
    """Return the record of what failed."""
    sentence = str(error).strip().split("\n")[0] or type(error).__name__
    return {**description, **dict.fromkeys(RESULTS), "error": sentence}


def read_records(folder: str | Path, name: str = RECORDS_NAME) -> list[Record]:
    """Return the records of a folder; a last line that was cut off is left out."""
    path = Path(folder) / name
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{folder} holds no {name}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    lines = content[: content.rfind(b"\n") + 1].split(b"\n")[:-1]
    records = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            json.dumps(record, ensure_ascii=False).encode()  # half a character cannot be shown
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or not _has_key(record):
            raise InputError(f"{path}, line {number}: not a record of a study")
        records.append(record)
    return records


def _has_key(record: Record) -> bool:
    if not record.keys() >= {*KEY}:
        return False
    protocol, model, dataset, *numbers = key_of(record)
    has_names = isinstance(protocol, str) and isinstance(dataset, str)
    return (
        has_names
        and isinstance(model, str | None)
        and all(type(n) is int and 0 <= n <= LARGEST_NUMBER for n in numbers if n is not None)
    )


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
