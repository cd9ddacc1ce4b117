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
from typing import NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from tables import Table, as_text

from hyperlvq import GLVQClassifier, IntRVFLLayer

SHAPE = 100_000, 50
DEVICES = ("cpu", "cuda")


class Measured(NamedTuple):
    """The figures of one fit; `host_memory` is the most that the process has held, in GB."""

    encoding: float
    fit: float
    n_iter: int
    cost: float
    host_memory: float


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time one large GLVQ.")
    parser.add_argument("--device", choices=DEVICES, help="one of them only")
    device = parser.parse_args().device
    print(as_text(large_fit_table((device,) if device else DEVICES)))


def large_fit_table(devices=DEVICES):
    """Return the figures of every device that is there."""
    X, y = samples()
    found = {device: fit_on(device, X, y) for device in devices if is_there(device)}
    missing = [
        f"No figures of {device}: torch finds none." for device in devices if device not in found
    ]
    rows = [
        [
            device,
            f"{one.encoding:.2f} s",
            f"{one.fit:.2f} s",
            str(one.n_iter),
            f"{1e3 * one.fit / one.n_iter:.1f} ms",
            f"{one.cost:.6f}",
            f"{one.host_memory:.2f} GB",
        ]
        for device, one in found.items()
    ]
    header = ["device", "encoding", "fit", "iterations", "an iteration", "cost", "host memory"]
    return Table("One GLVQ fit, 100,000 × 1500", header, rows, [*missing, *ratios(found)])


def ratios(found):
    """Return how many times as fast the GPU is, if both were measured."""
    if len(found) < 2:
        return []
    cpu, gpu = (found[device] for device in DEVICES)
    by_iteration = cpu.fit / cpu.n_iter / (gpu.fit / gpu.n_iter)
    return [f"The GPU fits {cpu.fit / gpu.fit:.0f} times as fast, by iteration {by_iteration:.0f}."]


def is_there(device):
    """Say whether there is such a device."""
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
    """Return the figures of a fit on a device."""
    if device == "cpu":
        return fit(X, y, wait=lambda: None)
    import torch

    with config_context(array_api_dispatch=True):
        X, y = (torch.as_tensor(array, device=device) for array in (X, y))
        fit(X, y, wait=torch.cuda.synchronize)
        return fit(X, y, wait=torch.cuda.synchronize)


def fit(X, y, wait):
    """Return the figures of a fit to arrays or tensors; `wait` ends when the device is done."""
    layer = IntRVFLLayer(1500, clip=3, n_jobs=-1, random_state=0).fit(X)
    readout = GLVQClassifier(prototypes_per_class=5, max_iter=200, tol=0, random_state=0)
    wait()
    start = time.perf_counter()
    activations = layer.transform(X)
    wait()
    encoded = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        readout.fit(activations, y)
    wait()
    end = time.perf_counter()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return Measured(
        encoded - start, end - encoded, readout.n_iter_, readout.loss_curve_[-1], memory
    )


if __name__ == "__main__":
    main()
