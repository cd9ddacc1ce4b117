"""Folds, and the accuracies that come of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from hyperlvq.tables.cross_validation import Validation, cross_validate, folds, possible_folds


def test_accuracies_are_those_of_scikit_learn(iris):
    X, y = pd.DataFrame(iris[0]), iris[1].astype(str)
    model = KNeighborsClassifier()

    ours = cross_validate(model, X, y, 5, 0, lambda: None)

    splits = StratifiedKFold(5, shuffle=True, random_state=0)
    np.testing.assert_allclose(ours.accuracies, cross_val_score(model, X, y, cv=splits))
    assert ours.confusion.n_rows == len(y)
    assert ours.mean == pytest.approx(ours.confusion.accuracy)


@pytest.mark.parametrize(
    ("counts", "n_folds"),
    [((10, 10), 5), ((10, 3), 3), ((10, 2, 1), 2), ((10, 1), 0), ((1, 1), 0)],
)
def test_every_fold_leaves_two_classes_to_learn_from(counts, n_folds):
    y = np.repeat([*"abc"][: len(counts)], counts)

    assert possible_folds(y, 5) == n_folds
    if n_folds:
        assert all(len(np.unique(y[train])) >= 2 for train, _ in folds(y, n_folds, 0))


def test_no_folds_wanted_is_no_folds():
    assert possible_folds(np.array([*"aabb"]), 0) == 0


def test_spread_is_the_standard_deviation_of_the_folds():
    validation = Validation((0.8, 0.9, 1.0), None)

    assert validation.mean == pytest.approx(0.9)
    assert validation.spread == pytest.approx(0.1)
