"""Fixtures for all tests, and a setting that must stand before scipy is imported."""

import csv
import os
import tracemalloc
from pathlib import Path

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn skips its array API checks without

import numba
import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris, load_wine

from hyperlvq.batched.backend import Backend, backend_of
from hyperlvq.study.collection import open_collection


def pytest_collection_modifyitems(items):
    """Skip what would only be slow where compilation is switched off."""
    if numba.config.DISABLE_JIT:
        for item in items:
            if item.get_closest_marker("compiled"):
                item.add_marker(pytest.mark.skip(reason="compilation is switched off"))


@pytest.fixture
def rng():
    return np.random.default_rng(20211)


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture
def wine():
    """Wine in [0, 1]."""
    X, y = load_wine(return_X_y=True)
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), y


@pytest.fixture
def activations(rng):
    """Return int8 activations of three classes that overlap, and their class indices."""
    y = np.repeat(np.arange(3), 30)
    centres = rng.integers(-2, 3, size=(3, 40))
    X = np.clip(centres[y] + rng.integers(-3, 4, size=(90, 40)), -3, 3)
    return X.astype(np.int8), y


@pytest.fixture
def peak_memory():
    """Return a function that returns how many bytes a call has at the most, beside those before."""

    def measure(call):
        tracemalloc.start()
        call()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    return measure


@pytest.fixture(scope="session")
def uci_path():
    """Return where the UCI collection is; skip the test where there is none."""
    path = os.environ.get("HYPERLVQ_DATA")
    if not path:
        pytest.skip("needs the UCI collection: set HYPERLVQ_DATA to its archive")
    return Path(path)


@pytest.fixture(scope="session")
def uci(uci_path):
    return open_collection(uci_path)


@pytest.fixture(scope="session")
def published(uci_path):
    """Return the paper's settings and accuracies by data set."""
    with open(uci_path.with_name("paper_results.csv"), newline="") as table:
        return {row["dataset"]: row for row in csv.DictReader(table)}


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    """Return every device that torch has here."""
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'hyperlvq[torch]'")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a GPU that torch can use")
    return request.param


@pytest.fixture
def on_device(device):
    """Return what brings arrays to the device."""
    import torch

    return lambda *arrays: [torch.as_tensor(array, device=device) for array in arrays]


@pytest.fixture
def dispatch():
    """Let estimators keep tensors, as users do by scikit-learn's array_api_dispatch."""
    with config_context(array_api_dispatch=True):
        yield


@pytest.fixture(params=["numpy", "torch"])
def backend(request):
    """Return every backend that can compute here."""
    if request.param == "numpy":
        yield Backend(np)
        return
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'hyperlvq[torch]'")
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)  # threads of so small arrays wait for each other
    yield backend_of(torch.zeros(0))
    torch.set_num_threads(n_threads)
