"""Records of a study: one flat JSON object a line, appended and flushed.

A record says what was run (protocol, model, dataset, split, seed and the model's parameters by
name), what came out (n_train, n_test, accuracy, iterations or None, error or None) and how long it
took (fit_seconds, predict_seconds). Where a data set could not be read, model, split, seed and
accuracy are None and error is the sentence that says why.
"""

import json
from pathlib import Path
from typing import Any

from hyperlvq.checks import InputError

RECORDS_NAME = "records.jsonl"
KEY = ("protocol", "model", "dataset", "split", "seed")
RESULTS = ("n_train", "n_test", "accuracy", "iterations", "error")
TIMES = ("fit_seconds", "predict_seconds")

Record = dict[str, Any]


def read_records(folder: str | Path) -> list[Record]:
    """Return the records of a folder; a last line that was cut off is left out."""
    path = Path(folder) / RECORDS_NAME
    try:
        content = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{folder} holds no {RECORDS_NAME}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    complete = content[: content.rfind("\n") + 1]
    return [_parse(line, path, number) for number, line in enumerate(complete.splitlines(), 1)]


def _parse(line: str, path: Path, number: int) -> Record:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not isinstance(record, dict) or any(name not in record for name in (*KEY, *RESULTS)):
        raise InputError(f"{path}, line {number}: not a record of a study")
    return record
