"""How both sides are measured and shown; needs only numpy, so that peers can import it too."""

import time
import tracemalloc
from statistics import median
from typing import NamedTuple

import numpy as np

PREDICTIONS = 7


class Table(NamedTuple):
    """Rows of text under a header; the notes say what the reader must know beside them."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str]

    def __str__(self):
        columns = [
            align(title, cells) for title, *cells in zip(self.header, *self.rows, strict=True)
        ]
        lines = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
        return "\n".join([self.title, *lines, *self.notes])


def align(title, cells):
    """Return one column with a rule below its title, numbers to the right and words to the left."""
    width = max(map(len, [title, *cells]))
    is_numeric = all(cell[:1].isdigit() for cell in cells if cell)
    pad = str.rjust if is_numeric else str.ljust
    return [pad(cell, width) for cell in [title, "-" * width, *cells]]


def seconds(call):
    """Return the wall-clock seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def median_seconds(calls, repeats):
    """Return the median seconds of each call; they take turns, so that noise hits them all."""
    for call in calls:
        call()  # compiles what is compiled on first use
    rounds = [[seconds(call) for call in calls] for _ in range(repeats)]
    return [median(durations) for durations in zip(*rounds, strict=True)]


def peak_bytes(call):
    """Return the most memory that Python and numpy held beyond what was there before the call."""
    call()
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def evaluate(models, data_sets, seeds):
    """Return one record for every data set and model: the medians of one fit per seed.

    `models` has by name what makes a model from a seed, `data_sets` have X_train, y_train, X_test
    and y_test.
    """
    records = []
    for data_name, data in data_sets.items():
        for name, build in models.items():
            run(build(seeds[0]), data)
            runs = [run(build(seed), data) for seed in seeds]
            medians = {field: median(result[field] for result in runs) for field in runs[0]}
            records.append({"data": data_name, "model": name, **medians})
    return records


def run(model, data):
    """Fit and test one model."""
    X_test = data["X_test"]
    fit_seconds = seconds(lambda: model.fit(data["X_train"], data["y_train"]))
    (predict_seconds,) = median_seconds([lambda: model.predict(X_test)], PREDICTIONS)
    return {
        "fit_s": fit_seconds,
        "predict_us": 1e6 * predict_seconds / len(X_test),
        "accuracy": float(np.mean(model.predict(X_test) == data["y_test"])),
    }
