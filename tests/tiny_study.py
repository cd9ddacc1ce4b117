"""Data sets small enough to study in a moment, and a source of them."""

from dataclasses import replace

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.study.data_set import DataSet, SplitRows
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.records import TIMES, key_of

GRIDS = {
    "rls_features": {"alpha": (0.5, 1.0)},
    "rvfl_rls": {"n_units": (20, 30), "alpha": (0.5, 2.0)},
    "rvfl_glvq": {"slope": (3,), "prototypes_per_class": (1, 2)},
    "intrvfl_rls": {"n_units": (20, 30), "clip": (1, 3), "alpha": (0.5, 2.0)},
    "intrvfl_glvq_p1": {"slope": (3, 5)},
    "intrvfl_glvq": {"slope": (3, 5), "prototypes_per_class": (1, 2)},
    "glvq_features": {"slope": (2, 5), "prototypes_per_class": (1,)},
    "knn": {"n_neighbors": (3, 1000, 1)},
}


def make_grids_small(monkeypatch):
    """Let searches try the values of GRIDS, the quick ones the defaults of all else."""
    for name, grid in GRIDS.items():
        defaults = {key: (value,) for key, value in MODELS[name].defaults.items()}
        small = replace(MODELS[name], grid=grid, quick_grid={**defaults, **grid})
        monkeypatch.setitem(MODELS, name, small)


def make_set(name="tiny", n_samples=40, has_test_file=False, n_classes=2):
    """Return a data set of classes that overlap, with splits as the public ones."""
    rng = np.random.default_rng(len(name))
    y = np.arange(n_samples) % n_classes
    X = rng.normal(size=(n_samples, 3)) + y[:, np.newaxis]
    splits = [rows_of(rng.permutation(n_samples), 3 * n_samples // 4) for _ in range(4)]
    tuning = rows_of(rng.permutation(n_samples), n_samples // 2)
    test_file = (X[::2] * 10 + 5, y[::2]) if has_test_file else (None, None)
    return DataSet(name, X, y, tuning, tuple(splits), *test_file)


def rows_of(order, n_train):
    return SplitRows(np.sort(order[:n_train]), np.sort(order[n_train:]))


class Source:
    """Data sets by name; those of `broken` cannot be read."""

    def __init__(self, *data_sets, broken=()):
        self._sets = {data_set.name: data_set for data_set in data_sets}
        self._broken = broken

    def names(self):
        return [*self._sets, *self._broken]

    def load(self, name):
        if name in self._broken:
            raise InputError(f"{name}_R.dat is missing")
        return self._sets[name]


def without_times(records):
    """Return the records in the order of their keys, less what differs from run to run."""
    return [
        {name: record[name] for name in record if name not in (*TIMES, "device")}
        for record in sorted(records, key=lambda record: tuple(map(str, key_of(record))))
    ]
