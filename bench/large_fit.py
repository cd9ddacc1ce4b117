"""One large GLVQ on intRVFL: numpy on the cores there are, and torch on a GPU where there is one.

    python bench/large_fit.py [--device cpu|cuda]

100,000 samples, 50 features, 1500 units, 2 classes of 5 prototypes, at most 200 iterations. Both
sides are the same estimators; a GPU's first fit, which loads libraries, is not counted.
"""

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # before scipy is imported: scikit-learn's dispatch needs it

import argparse
import resource
import time
import warnings

import numpy as np
from measure import Table
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning

from hyperlvq import GLVQClassifier, IntRVFLLayer

SHAPE = 100_000, 50
DEVICES = ("cpu", "cuda")
HEADER = ["device", "encoding", "fit", "iterations", "an iteration", "cost", "host memory"]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time one large GLVQ.")
    parser.add_argument("--device", choices=DEVICES, help="one of them only")
    device = parser.parse_args().device
    print(large_fit_table((device,) if device else DEVICES))


def large_fit_table(devices=DEVICES):
    """Return the figures of every device that is there, and how they compare."""
    X, y = samples()
    rows, fits, notes = [], {}, []
    for device in devices:
        if not is_there(device):
            notes.append(f"No figures of {device}: torch finds none.")
            continue
        encoding, fit_seconds, readout = fit_on(device, X, y)
        fits[device] = fit_seconds, fit_seconds / readout.n_iter_
        # the most that the process has held
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        rows.append(
            [
                *(device, f"{encoding:.2f} s", f"{fit_seconds:.2f} s", str(readout.n_iter_)),
                *(f"{1e3 * fits[device][1]:.1f} ms", f"{readout.loss_curve_[-1]:.6f}"),
                f"{memory:.2f} GB",
            ]
        )
    if len(fits) == len(DEVICES):
        whole, by_iteration = np.divide(fits["cpu"], fits["cuda"])
        notes.append(f"The GPU fits {whole:.0f} times as fast, by iteration {by_iteration:.0f}.")
    return Table("One GLVQ fit, 100,000 × 1500", HEADER, rows, notes)


def is_there(device):
    """Return whether there is such a device."""
    if device == "cpu":
        return True
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def samples():
    """Return two classes that overlap, features in [0, 1]."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=SHAPE[0])
    return np.clip(rng.normal(0.45 + 0.1 * y[:, np.newaxis], 0.25, size=SHAPE), 0, 1), y


def fit_on(device, X, y):
    """Return the seconds of encoding and of a fit on a device, and the fitted readout."""
    if device == "cpu":
        return fit(X, y, wait=lambda: None)
    import torch

    with config_context(array_api_dispatch=True):
        X, y = (torch.as_tensor(array, device=device) for array in (X, y))
        fit(X, y, wait=torch.cuda.synchronize)
        return fit(X, y, wait=torch.cuda.synchronize)


def fit(X, y, wait):
    """Fit arrays or tensors; `wait` ends when the device is done."""
    layer = IntRVFLLayer(1500, clip=3, n_jobs=-1, random_state=0).fit(X)
    readout = GLVQClassifier(5, slope=10, max_iter=200, tol=0, random_state=0)
    wait()
    start = time.perf_counter()
    activations = layer.transform(X)
    wait()
    encoded = time.perf_counter()
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        readout.fit(activations, y)
    wait()
    return encoded - start, time.perf_counter() - encoded, readout


if __name__ == "__main__":
    main()
