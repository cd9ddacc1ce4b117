"""At the paper's settings, the paper's accuracies come out."""

from itertools import product

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from hyperlvq import GLVQClassifier, IntRVFLLayer, KGLVQClassifier, RLSClassifier
from hyperlvq.study.protocol import evaluation_samples, n_splits

SETS = [
    *("iris", "wine", "seeds", "glass", "zoo"),
    *("breast-tissue", "hayes-roth", "acute-nephritis", "ecoli", "ionosphere"),
]
SEEDS = range(5)


def rls(row, seed):
    return RLSClassifier(float(row["intrvfl_rls_lmb"]))


def glvq_p1(row, seed):
    return GLVQClassifier(1, float(row["intrvfl_glvq_p1_beta"]), tol=1e-5, random_state=seed)


def proposed(row, seed):
    counts, slope = int(row["intrvfl_glvq_ppc"]), float(row["intrvfl_glvq_beta"])
    return GLVQClassifier(counts, slope, tol=1e-5, random_state=seed)


def accuracies(columns, readout, row, data_set):
    for split, seed in product(range(n_splits(data_set, "paper")), SEEDS):
        X_train, y_train, X_test, y_test = evaluation_samples(data_set, split, "paper")
        sizes = int(row[f"{columns}_n"]), int(row[f"{columns}_kappa"])
        model = make_pipeline(IntRVFLLayer(*sizes, random_state=seed), readout(row, seed))
        yield model.fit(X_train, y_train).score(X_test, y_test)


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("columns", "readout"),
    [("intrvfl_rls", rls), ("intrvfl_glvq_p1", glvq_p1), ("intrvfl_glvq", proposed)],
)
def test_mean_over_ten_sets_is_within_a_point_of_the_papers(columns, readout, uci, published):
    ours = []
    with threadpool_limits(1):
        for name in SETS:
            parts = columns, readout, published[name], uci.load(name)
            ours.append(np.mean(list(accuracies(*parts))))
    papers = [float(published[name][f"{columns}_acc"]) for name in SETS]
    assert np.mean(ours) == pytest.approx(np.mean(papers), abs=0.01)


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["monks-2", "trains", "hepatitis", "annealing", "iris", "wine"])
def test_kglvq_with_the_published_start_gets_the_papers_accuracy(name, uci, published):
    row, data_set, scores = published[name], uci.load(name), []
    settings = int(row["kglvq_ppc"]), float(row["kglvq_beta"])
    for split in range(n_splits(data_set, "paper")):
        X_train, y_train, X_test, y_test = evaluation_samples(data_set, split, "paper")
        model = KGLVQClassifier(
            *settings, gamma=float(row["kglvq_sigma"]), init="published", tol=1e-5
        )
        scores.append(model.fit(X_train, y_train).score(X_test, y_test))
    assert np.mean(scores) == pytest.approx(float(row["kglvq_acc"]), abs=1e-8)
