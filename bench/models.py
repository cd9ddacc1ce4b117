"""Whole models against the peers: fit, prediction and accuracy, with one thread; a search.

A record is a flat dict of data, model, fit_s, predict_us and accuracy.
"""

import json
import os
import subprocess
import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import Table, evaluate, median_seconds
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from hyperlvq import make_classifier

SETTINGS: dict[str, Any] = {"n_units": 1000, "clip": 3, "alpha": 32, "iterations": 50, "slope": 10}
SETTINGS["seeds"] = [0, 1, 2, 3, 4]
GLVQ = {
    "readout": "glvq",
    "max_iter": SETTINGS["iterations"],
    "slope": SETTINGS["slope"],
    "tol": 1e-5,
}
READOUTS: dict[str, dict[str, Any]] = {
    "intRVFL + RLS": {"readout": "rls", "alpha": SETTINGS["alpha"]},
    "intRVFL + centroids": {"readout": "centroids"},
    "intRVFL + GLVQ, P=1": {**GLVQ, "prototypes_per_class": 1},
    "intRVFL + GLVQ, P=3": {**GLVQ, "prototypes_per_class": 3},
}
#: IntRVFL has our hidden layer and penalty; OnlineHD improves one prototype a class.
COUNTERPARTS = {"torchhd IntRVFL": "intRVFL + RLS", "torchhd OnlineHD": "intRVFL + GLVQ, P=1"}
NOTES = [
    "Not the same models: at equal alpha, torchhd's IntRVFL also drops small eigenvalues (by a",
    "float32 pseudo-inverse), a stronger penalty; OnlineHD has real-valued hidden units.",
]
#: 100 settings of a recipe, and as many of scikit-learn's fastest classifier.
SETTINGS_OF_RECIPE = {
    "hidden__n_units": [50, 100, 200, 500, 1000],
    "hidden__clip": [1, 3, 5, 7],
    "readout__prototypes_per_class": [1, 2, 3, 4, 5],
}
SETTINGS_OF_REGRESSION = {"logisticregression__C": np.logspace(-4, 4, 100)}
SEARCHES = 3
NOT_MEASURED = "Peers not measured: `make bench` does so, in an environment of their own."
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def load_data():
    """Return the data sets by name."""
    synthetic = make_classification(
        n_samples=7000, n_features=20, n_informative=10, n_classes=5, random_state=0
    )
    return {
        "breast cancer": split(load_breast_cancer(return_X_y=True), 398),
        "digits": split(load_digits(return_X_y=True), 1257),
        "synthetic": split(synthetic, 5000),
    }


def split(X_and_y, n_train):
    """Return train and test arrays by name, scaled to [0, 1] by the training samples."""
    X_train, X_test, y_train, y_test = train_test_split(
        *X_and_y, train_size=n_train, stratify=X_and_y[1], random_state=0
    )
    scaler = MinMaxScaler(clip=True).fit(X_train)
    return {
        "X_train": scaler.transform(X_train),
        "y_train": y_train,
        "X_test": scaler.transform(X_test),
        "y_test": y_test,
    }


def model_table(data_sets, peers_python):
    """Measure our models, and the peers if there is an interpreter that has them."""
    peers, notes = [], [NOT_MEASURED]
    if peers_python is not None:
        versions, peers = measure_peers(data_sets, peers_python)
        notes = [*NOTES, f"Peers: {versions}."]
    return Table(
        "Whole models, {n_units} units, clip {clip}, alpha {alpha}, {iterations} iterations, "
        "one thread; medians over seeds {seeds}".format_map(SETTINGS),
        ["data", "model", "fit s", "predict us", "accuracy", "peer / ours", "fit", "predict"],
        model_rows(measure_ours(data_sets) + peers),
        notes,
    )


def grid_table():
    """Measure a grid search over a small data set, where starting a fit takes most of the time."""
    X, y = load_iris(return_X_y=True)
    regression = make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=1000))
    searches = [
        GridSearchCV(make_classifier(random_state=0), SETTINGS_OF_RECIPE),
        GridSearchCV(regression, SETTINGS_OF_REGRESSION),
    ]
    with warnings.catch_warnings(action="ignore"):
        ours, theirs = median_seconds([partial(each.fit, X, y) for each in searches], SEARCHES)
    return Table(
        "GridSearchCV on iris, 100 settings in 5 folds, one process",
        ["intRVFL + GLVQ", "goal", "logistic regression"],
        [[f"{ours:.1f} s", "under 2 s", f"{theirs:.1f} s"]],
        [],
    )


def measure_ours(data_sets):
    """Return the records of our models."""
    layer = {"n_units": SETTINGS["n_units"], "clip": SETTINGS["clip"]}
    models = {
        name: lambda seed, readout=readout: make_classifier(random_state=seed, **layer, **readout)
        for name, readout in READOUTS.items()
    }
    with (
        threadpool_limits(1),
        warnings.catch_warnings(action="ignore", category=ConvergenceWarning),
    ):
        return evaluate(models, data_sets, SETTINGS["seeds"])


def measure_peers(data_sets, python):
    """Return versions and records of the peers, measured by another interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        for data, arrays in data_sets.items():
            np.savez(Path(folder) / f"{data}.npz", **arrays)
        finished = subprocess.run(
            [python, Path(__file__).with_name("peers.py"), folder, json.dumps(SETTINGS)],
            env=os.environ | ONE_THREAD | {"TQDM_DISABLE": "1"},
            stdout=subprocess.PIPE,
            check=True,
        )
    answer = json.loads(finished.stdout)
    return answer["versions"], answer["records"]


def model_rows(records):
    """Return the rows, data set by data set; a peer's with how many times as long it takes."""
    by_name = {(record["data"], record["model"]): record for record in records}
    rows = []
    for record in sorted(records, key=lambda record: record["data"]):
        counterpart, comparison = COUNTERPARTS.get(record["model"]), ["", "", ""]
        if counterpart is not None:
            ours = by_name[record["data"], counterpart]
            times = [f"{record[name] / ours[name]:.1f}" for name in ("fit_s", "predict_us")]
            comparison = [f"over {counterpart}", *times]
        figures = (
            f"{record['fit_s']:.4f}",
            f"{record['predict_us']:.1f}",
            f"{record['accuracy']:.3f}",
        )
        rows.append([record["data"], record["model"], *figures, *comparison])
    return rows
