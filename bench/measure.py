"""How both sides are measured; needs nothing but numpy, so that peers can import it too."""

import time
import tracemalloc
from statistics import median

import numpy as np

PREDICTIONS = 7


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


def evaluate(build, data, seeds):
    """Return the medians, over one fit a seed, of fit and prediction times and of accuracy.

    `build` makes a model from a seed; `data` maps X_train, y_train, X_test and y_test to arrays.
    """
    run(build(seeds[0]), data)
    runs = [run(build(seed), data) for seed in seeds]
    return {name: median(result[name] for result in runs) for name in runs[0]}


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
