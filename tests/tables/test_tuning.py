"""Successive halving: who goes on, on which rows, and what is found."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

from hyperlvq.checks import InputError
from hyperlvq.models import make_classifier
from hyperlvq.registry import hidden_layers, readouts, search_grid
from hyperlvq.tables.tuning import (
    N_FOLDS,
    candidates,
    n_ticks,
    schedule,
    search,
)


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


def test_given_parameters_are_not_searched():
    found = candidates("intrvfl", "glvq", {"n_units": 50, "clip": 3, "slope": 5.0})

    assert found == [{"prototypes_per_class": 1}, {"prototypes_per_class": 3}]


def test_nothing_left_to_search_is_one_sentence():
    with pytest.raises(InputError, match="--tune: features with centroids has no parameter left"):
        candidates("features", "centroids", {})


@pytest.mark.parametrize("n_rows", [10, 499, 1500, 4500, 13_500, 60_000, 10**7])
@pytest.mark.parametrize("n_settings", [1, 2, 3, 4, 9, 24, 30])
def test_rounds_have_fewer_settings_and_more_rows(n_settings, n_rows):
    rounds = schedule(n_settings, n_rows)

    assert rounds[0][0] == n_settings
    assert rounds[-1][1] == min(n_rows, 20_000)
    for (settings, rows), (fewer, more) in pairwise(rounds):
        assert 1 < fewer < settings
        assert more >= 3 * rows


def test_the_best_setting_is_found(two_classes):
    X, y = two_classes
    ticks = []
    settings = [{"n_neighbors": count} for count in (300, 100, 5)]

    found = search(neighbours, settings, X, y, 0, lambda: ticks.append(1))

    assert found.best == {"n_neighbors": 5}
    assert len(ticks) == n_ticks(settings, len(y)) == len(settings) * N_FOLDS


def test_later_rounds_compare_the_best_of_the_first(two_classes):
    X, y = pd.concat([two_classes[0]] * 2), np.tile(two_classes[1], 2)
    settings = [{"n_neighbors": count} for count in (300, 200, 100, 5, 50)]

    found = search(neighbours, settings, X, y, 0, lambda: None)

    assert [(each.n_settings, each.n_rows) for each in found.rounds] == [(5, 666), (2, 2000)]
    assert found.best == {"n_neighbors": 5}


def test_the_same_seed_finds_the_same(two_classes):
    settings = [{"n_neighbors": count} for count in (1, 5, 9)]
    searches = [search(neighbours, settings, *two_classes, 3, lambda: None) for _ in range(2)]

    assert searches[0] == searches[1]


def test_every_class_is_in_every_draw(two_classes):
    X = pd.concat([two_classes[0]] * 2)
    y = np.array(["common"] * 1998 + ["rare"] * 2)
    settings = [{"n_neighbors": count} for count in (1, 3, 5, 7)]

    found = search(neighbours, settings, X, y, 0, lambda: None)

    assert [each.n_rows for each in found.rounds] == [667, 2000]


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_more_classes_than_a_draw_has_rows_are_fine(two_classes):
    X = pd.concat([two_classes[0]] * 2)
    y = np.repeat([f"class {i}" for i in range(1000)], 2)

    found = search(neighbours, [{"n_neighbors": 1}] * 4, X, y, 0, lambda: None)

    assert [each.n_rows for each in found.rounds] == [2000, 2000]


def test_a_single_row_of_a_class_is_one_sentence(two_classes):
    y = np.array(["common"] * 999 + ["single"])

    with pytest.raises(InputError, match="--tune needs at least two rows in each of two classes"):
        search(neighbours, [{"n_neighbors": 1}], two_classes[0], y, 0, lambda: None)
