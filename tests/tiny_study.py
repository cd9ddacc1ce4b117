"""Data sets small enough to study in a moment, and a source of them."""

import numpy as np

from hyperlvq.checks import InputError
from hyperlvq.study.data_set import DataSet, SplitRows
from hyperlvq.study.records import TIMES, key_of


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
