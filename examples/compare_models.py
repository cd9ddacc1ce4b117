"""Compare the paper's models on the data sets that come with scikit-learn.

Prints mean accuracies over four stratified 75/25 splits and three initialisations; settings are
the same for all sets, none is tuned.
"""

import time
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedShuffleSplit

from hyperlvq import make_classifier

SETS = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
INTRVFL = {"n_units": 500, "clip": 3}
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "features + RLS": ("features", "rls", {}),
    "features + GLVQ": ("features", "glvq", {}),
    "KGLVQ, 3 prototypes": ("features", "kglvq", {"prototypes_per_class": 3, "gamma": 0.5}),
    "RVFL + RLS": ("rvfl", "rls", {"n_units": 500}),
    "RVFL + GLVQ": ("rvfl", "glvq", {"n_units": 500}),
    "intRVFL + RLS": ("intrvfl", "rls", {**INTRVFL, "alpha": 32}),
    "intRVFL + centroids": ("intrvfl", "centroids", INTRVFL),
    "intRVFL + perceptron": ("intrvfl", "perceptron", INTRVFL),
    "intRVFL + LVQ1": ("intrvfl", "lvq1", INTRVFL),
    "intRVFL + GLVQ": ("intrvfl", "glvq", INTRVFL),
    "intRVFL + GLVQ, 3 prototypes": ("intrvfl", "glvq", {**INTRVFL, "prototypes_per_class": 3}),
}
N_SPLITS = 4
N_SEEDS = 3


def with_seed(model, seed):
    """Return the model with all its random numbers drawn from a seed."""
    names = [name for name in model.get_params() if name.endswith("__random_state")]
    return model.set_params(**dict.fromkeys(names, seed))


def accuracy(recipe, X, y):
    """Return the mean test accuracy over splits and seeds."""
    hidden, readout, parameters = recipe
    splits = StratifiedShuffleSplit(N_SPLITS, test_size=0.25, random_state=0).split(X, y)
    accuracies = []
    for train, test in splits:
        for seed in range(N_SEEDS):
            model = with_seed(make_classifier(hidden, readout, **parameters), seed)
            accuracies.append(model.fit(X[train], y[train]).score(X[test], y[test]))
    return np.mean(accuracies)


def main():
    """Print one row per model as it is finished."""
    data = {name: load(return_X_y=True) for name, load in SETS.items()}
    columns = [*data, "mean", "seconds"]
    print(f"{'accuracy':<30}" + "".join(f"{column:>15}" for column in columns))
    for name, recipe in MODELS.items():
        start = time.perf_counter()
        accuracies = [accuracy(recipe, X, y) for X, y in data.values()]
        row = [*accuracies, np.mean(accuracies)]
        seconds = time.perf_counter() - start
        cells = "".join(f"{value:>15.3f}" for value in row) + f"{seconds:>15.1f}"
        print(f"{name:<30}{cells}", flush=True)


if __name__ == "__main__":
    main()
