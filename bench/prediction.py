"""Predictions per second: ours, the bare products, and scikit-learn's nearest neighbour."""

from functools import partial

import numpy as np
from measure import Table, median_seconds
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from hyperlvq import CentroidClassifier, make_classifier

N_SAMPLES, N_UNITS, CLIP = 10_000, 1000, 3
PROTOTYPES = (5, 10, 15, 300)
REPEATS = 9
#: Copies of digits, so that a call takes milliseconds.
DIGITS_COPIES = 5


def prediction_tables():
    """Measure readouts on activations, and whole recipes on digits."""
    yield Table(
        f"Thousands of predictions per second, {N_UNITS} units of int8",
        ["prototypes", "ours, 1 thread", "2 threads", "bare products", "nearest neighbour"],
        [readout_row(n_prototypes) for n_prototypes in PROTOTYPES],
        [
            "Bare products: numpy's, of activations that are float64 already, on 1 thread.",
            "Nearest neighbour: scikit-learn's, brute force, among as many samples, on 1 thread.",
        ],
    )
    yield Table(
        f"Thousands of predictions per second, whole recipes of {N_UNITS} units on digits",
        ["prototypes per class", "1 thread", "2 threads"],
        [recipe_row(per_class) for per_class in (1, 3)],
        [],
    )


def readout_row(n_prototypes):
    """Measure the prediction of samples by as many prototypes, each of a class of its own."""
    rng = np.random.default_rng(0)
    H = rng.integers(-CLIP, CLIP + 1, size=(N_SAMPLES, N_UNITS)).astype(np.int8)
    prototypes = rng.normal(size=(n_prototypes, N_UNITS))
    classes = np.arange(n_prototypes)
    readout = CentroidClassifier().fit(prototypes, classes)
    neighbour = KNeighborsClassifier(1, algorithm="brute").fit(prototypes, classes)
    wide = H.astype(np.float64)
    with threadpool_limits(1):
        calls = [
            partial(readout.predict, H),
            partial(np.matmul, wide, prototypes.T),
            partial(neighbour.predict, wide),
        ]
        ours, products, theirs = median_seconds(calls, REPEATS)
    with threadpool_limits(2):
        (doubled,) = median_seconds(calls[:1], REPEATS)
    return [str(n_prototypes), *map(per_second, (ours, doubled, products, theirs))]


def recipe_row(prototypes_per_class):
    """Measure scaling, encoding and readout together."""
    X, y = load_digits(return_X_y=True)
    parameters = {"prototypes_per_class": prototypes_per_class, "clip": CLIP, "max_iter": 20}
    model = make_classifier(n_units=N_UNITS, random_state=0, tol="auto", **parameters).fit(X, y)
    many = np.tile(X, (DIGITS_COPIES, 1))
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found += median_seconds([partial(model.predict, many)], REPEATS)
    return [str(prototypes_per_class), *(per_second(each, len(many)) for each in found)]


def per_second(seconds, n_samples=N_SAMPLES):
    """Write thousands per second."""
    return f"{n_samples / seconds / 1e3:,.0f}"


if __name__ == "__main__":
    for table in prediction_tables():
        print(table, end="\n\n")
