"""At the paper's settings, the paper's accuracies come out."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from hyperlvq import GLVQClassifier, IntRVFLLayer, RLSClassifier
from hyperlvq.study.protocol import evaluation_samples, n_splits

SETS = [
    "iris",
    "wine",
    "seeds",
    "glass",
    "zoo",
    "breast-tissue",
    "hayes-roth",
    "acute-nephritis",
    "ecoli",
    "ionosphere",
]
SEEDS = range(5)


def rls(row, seed):
    return RLSClassifier(float(row["intrvfl_rls_lmb"]))


def glvq_p1(row, seed):
    return GLVQClassifier(1, float(row["intrvfl_glvq_p1_beta"]), tol=1e-5, random_state=seed)


def proposed(row, seed):
    counts, slope = int(row["intrvfl_glvq_ppc"]), float(row["intrvfl_glvq_beta"])
    return GLVQClassifier(counts, slope, tol=1e-5, random_state=seed)


def mean_accuracy(columns, readout, row, data_set):
    parts = [
        evaluation_samples(data_set, split, "paper") for split in range(n_splits(data_set, "paper"))
    ]
    layer_settings = int(row[f"{columns}_n"]), int(row[f"{columns}_kappa"])
    accuracies = []
    for seed in SEEDS:
        layer = IntRVFLLayer(*layer_settings, random_state=seed)
        for X_train, y_train, X_test, y_test in parts:
            model = readout(row, seed).fit(layer.fit_transform(X_train), y_train)
            accuracies.append(model.score(layer.transform(X_test), y_test))
    return np.mean(accuracies)


@pytest.mark.data
@pytest.mark.parametrize(
    ("columns", "readout"),
    [("intrvfl_rls", rls), ("intrvfl_glvq_p1", glvq_p1), ("intrvfl_glvq", proposed)],
)
def test_mean_over_ten_sets_is_within_a_point_of_the_papers(columns, readout, uci, published):
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = [mean_accuracy(columns, readout, published[name], uci.load(name)) for name in SETS]
    papers = [float(published[name][f"{columns}_acc"]) for name in SETS]
    assert np.mean(ours) == pytest.approx(np.mean(papers), abs=0.01)
