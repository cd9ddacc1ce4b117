"""Public calls with 1, 2 and 4 threads, on an idle machine and beside a busy process."""

import subprocess
import sys
import warnings
from contextlib import contextmanager
from functools import partial
from statistics import median

import numpy as np
from measure import Table, seconds
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from hyperlvq import (
    CentroidClassifier,
    GLVQClassifier,
    IntRVFLLayer,
    KGLVQClassifier,
    LVQ1Classifier,
    PerceptronClassifier,
    RLSClassifier,
    RVFLLayer,
    make_classifier,
)

THREADS = (1, 2, 4)
REPEATS = 5
N_SAMPLES, N_UNITS = 20_000, 1000
#: Of one thread's time. Timings on shared machines differ by as much from run to run.
LARGEST_RATIO = 1.15


def threads_table():
    """Measure every call in turn with each number of threads, so that noise hits them all."""
    calls = public_calls()
    alone = {name: medians(call) for name, call in calls.items()}
    with busy_process():
        beside = {name: medians(call) for name, call in calls.items()}
    rows = [
        [name, f"{1e3 * alone[name][0]:.1f} ms", *ratios(alone[name]), *ratios(beside[name])]
        for name in calls
    ]
    return Table(
        f"Public calls with {THREADS} threads, over the time of one thread",
        ["", "one thread", "2", "4", "2, busy", "4, busy"],
        rows,
        [
            "busy: beside a process that takes a core, over one thread beside it.",
            f"None should exceed {LARGEST_RATIO}: more threads never slow a call down.",
        ],
    )


def public_calls():
    """Return calls without arguments by name."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(N_SAMPLES, 20)), rng.integers(5, size=N_SAMPLES)
    encoder = IntRVFLLayer(N_UNITS, random_state=0).fit(X)
    layer, H = RVFLLayer(N_UNITS, random_state=0).fit(X), encoder.transform(X)
    few = slice(2000)
    glvq = GLVQClassifier(2, max_iter=10, random_state=0)
    rls, kglvq = RLSClassifier(32.0), KGLVQClassifier(max_iter=10, random_state=0)
    fits = {
        "GLVQ": partial(glvq.fit, H, y),
        "RLS": partial(rls.fit, H, y),
        "KGLVQ, 2,000 samples": partial(kglvq.fit, X[few], y[few]),
        "centroids": partial(CentroidClassifier().fit, H, y),
        "LVQ1": partial(LVQ1Classifier(max_iter=2, random_state=0).fit, H, y),
        "perceptron": partial(PerceptronClassifier(max_iter=2, random_state=0).fit, H, y),
    }
    for fit in fits.values():
        fit()
    digits, labels = load_digits(return_X_y=True)
    recipe = make_classifier(random_state=0).fit(digits, labels)
    return {
        "IntRVFLLayer.transform": partial(encoder.transform, X),
        "RVFLLayer.transform": partial(layer.transform, X),
        **{f"fit of {name}": fit for name, fit in fits.items()},
        "predict of GLVQ": partial(glvq.predict, H),
        "predict of RLS": partial(rls.predict, H),
        "predict of KGLVQ, 2,000 samples": partial(kglvq.predict, X[few]),
        "predict of the recipe, digits": partial(recipe.predict, digits),
        "predict of the recipe, one sample": partial(recipe.predict, digits[:1]),
    }


def medians(call):
    """Return the median seconds with each number of threads, which take turns."""
    durations: dict[int, list[float]] = {n_threads: [] for n_threads in THREADS}
    for _ in range(REPEATS):
        for n_threads, found in durations.items():
            with threadpool_limits(n_threads):
                call()  # threads of BLAS that were idle start here
                found.append(seconds(call))
    return [median(found) for found in durations.values()]


def ratios(durations):
    """Return times over that of one thread."""
    return [f"{duration / durations[0]:.2f}" for duration in durations[1:]]


@contextmanager
def busy_process():
    """Keep a core busy."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        print(threads_table())
