"""Folds and the accuracies that come of them; successive halving: who goes on, on which rows."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from hyperlvq.checks import InputError
from hyperlvq.models import make_classifier
from hyperlvq.registry import hidden_layers, readouts, search_grid
from hyperlvq.tables.tuning import (
    N_FOLDS,
    best_settings,
    candidates,
    cross_validate,
    halving_rounds,
    n_fits,
    possible_folds,
)


def test_accuracies_and_log_loss_are_those_of_scikit_learn(iris):
    X, y = pd.DataFrame(iris[0]), iris[1].astype(str)
    model = LogisticRegression(max_iter=200)

    ours = cross_validate(model, X, y, 5, 0, lambda: None)

    splits = StratifiedKFold(5, shuffle=True, random_state=0)
    np.testing.assert_allclose(ours.accuracies, cross_val_score(model, X, y, cv=splits))
    found = cross_val_predict(model, X, y, cv=splits, method="predict_proba")
    assert ours.log_loss == pytest.approx(log_loss(y, found))
    assert ours.confusion.n_rows == len(y)
    assert ours.mean == pytest.approx(ours.confusion.accuracy)


@pytest.mark.parametrize("model", [LogisticRegression(), RidgeClassifier()])
def test_a_class_that_a_fold_did_not_learn_has_no_log_loss_nor_has_a_model_of_labels(model, rng):
    X, y = pd.DataFrame(rng.normal(size=(21, 2))), np.array([*"ab"] * 10 + ["c"])

    assert cross_validate(model, X, y, 2, 0, lambda: None).log_loss is None


@pytest.mark.parametrize(
    ("counts", "n_folds"),
    [((10, 10), 5), ((10, 3), 3), ((10, 2, 1), 2), ((10, 1), 0), ((1, 1), 0)],
)
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_every_fold_leaves_two_classes_to_learn_from(counts, n_folds):
    y = np.repeat([*"abc"][: len(counts)], counts)

    assert possible_folds(y, 5) == n_folds
    assert possible_folds(y, 0) == 0
    if n_folds:
        splits = StratifiedKFold(n_folds, shuffle=True, random_state=0).split(y, y)
        assert all(len(np.unique(y[train])) >= 2 for train, _ in splits)


@pytest.fixture
def two_classes(rng):
    """Return points of which one neighbour tells the class, and a hundred do not."""
    X = np.concatenate([rng.normal(0, 1, (900, 2)), rng.normal(0, 0.1, (100, 2))])
    y = np.repeat(["wide", "narrow"], [900, 100])
    return pd.DataFrame(X, columns=["a", "b"]), y


def neighbours(n_neighbors):
    return KNeighborsClassifier(n_neighbors)


@pytest.mark.parametrize("hidden", hidden_layers())
@pytest.mark.parametrize("readout", readouts())
def test_grids_name_parameters_that_exist(hidden, readout):
    for name, values in search_grid(hidden, readout).items():
        for value in values:
            make_classifier(hidden, readout, **{name: value})


def test_given_parameters_are_not_searched_and_one_must_be_left():
    found = candidates("intrvfl", "glvq", {"n_units": 50, "clip": 3, "slope": 5.0})

    assert found == [{"prototypes_per_class": 1}, {"prototypes_per_class": 3}]
    with pytest.raises(InputError, match="--tune: features with centroids has no parameters left"):
        candidates("features", "centroids", {})


@pytest.mark.parametrize(
    ("n_settings", "n_rows", "rounds"),
    [
        (24, 150, [(24, 150)]),
        (24, 5000, [(24, 555), (8, 1666), (3, 5000)]),
        (4, 10**6, [(4, 6666), (2, 20000)]),
    ],
)
def test_rounds_by_hand(n_settings, n_rows, rounds):
    assert halving_rounds(n_settings, n_rows) == rounds


@pytest.mark.parametrize("n_rows", [10, 499, 1500, 4500, 13_500, 60_000, 10**7])
@pytest.mark.parametrize("n_settings", [1, 2, 3, 4, 9, 24, 30])
def test_rounds_have_fewer_settings_and_more_rows(n_settings, n_rows):
    rounds = halving_rounds(n_settings, n_rows)

    assert rounds[0][0] == n_settings
    assert rounds[-1][1] == min(n_rows, 20_000)
    for (settings, rows), (fewer, more) in pairwise(rounds):
        assert 1 < fewer < settings
        assert more >= 3 * rows


def tuned(X, y, counts, seed=0):
    """Return what is found among numbers of neighbours, and how many fits that took."""
    ticks = []
    settings = [{"n_neighbors": count} for count in counts]
    return best_settings(neighbours, settings, X, y, seed, lambda: ticks.append(1)), len(ticks)


def test_the_best_setting_is_found_again_by_the_same_seed(two_classes):
    found, n_ticks = tuned(*two_classes, (300, 100, 5), seed=3)

    assert found["best"] == {"n_neighbors": 5}
    assert n_ticks == n_fits(3, 1000) == 3 * N_FOLDS
    assert tuned(*two_classes, (300, 100, 5), seed=3)[0] == found
    with pytest.raises(InputError, match="--tune needs at least two rows in each of two classes"):
        tuned(two_classes[0], np.array(["common"] * 999 + ["single"]), [1])


@pytest.mark.parametrize(
    ("class_sizes", "counts", "rounds", "best"),
    [
        ((900, 100) * 2, (300, 200, 100, 5, 50), [(5, 666), (2, 2000)], 5),
        ((1998, 2), (1, 3, 5, 7), [(4, 667), (2, 2000)], 3),  # every class is in every draw
        ((2,) * 1000, (1,) * 4, [(4, 2000), (2, 2000)], 1),  # more classes than a draw has rows
    ],
)
def test_later_rounds_compare_the_best_of_the_first(two_classes, class_sizes, counts, rounds, best):
    X = pd.concat([two_classes[0]] * 2)
    names = ["wide", "narrow"] * 2 if len(class_sizes) == 4 else map(str, range(len(class_sizes)))

    found, _ = tuned(X, np.repeat([*names], class_sizes), counts)

    assert [(each["n_settings"], each["n_rows"]) for each in found["rounds"]] == rounds
    assert found["best"] == found["rounds"][-1]["best"] == {"n_neighbors": best}


def test_of_equal_settings_the_smallest_is_best(two_classes):
    sizes = [(300, 3), (300, 1), (1000, 1), (100, 2)]
    settings = [{"n_units": units, "prototypes_per_class": per_class} for units, per_class in sizes]

    found = best_settings(lambda **_: neighbours(1), settings, *two_classes, 0, lambda: None)

    assert found["best"] == {"n_units": 100, "prototypes_per_class": 2}
