from typing import get_args

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

from hyperlvq import make_classifier
from hyperlvq.registry import HiddenName, ReadoutName, hidden_layers, readouts, recipe_defaults


@pytest.mark.parametrize("hidden", hidden_layers())
@pytest.mark.parametrize("readout", readouts())
def test_every_hidden_layer_joins_every_readout_with_defaults_of_the_pair(wine, hidden, readout):
    X, y = wine
    model = make_classifier(hidden, readout)
    parameters = model.get_params()

    assert type(model) is Pipeline
    assert list(model.named_steps) == ["scale", "hidden", "readout"]
    for name, value in recipe_defaults(hidden, readout).items():
        assert value in (parameters.get(f"hidden__{name}"), parameters.get(f"readout__{name}"))
    assert model.fit(X, y).score(X, y) > 0.5  # a third by chance


def test_parameters_go_to_the_step_that_has_them():
    model = make_classifier("intrvfl", "glvq", n_units=7, clip=2, slope=3, random_state=5)

    parameters = model.get_params()
    assert parameters["hidden__n_units"] == 7
    assert parameters["hidden__clip"] == 2
    assert parameters["scale__clip"] is True
    assert parameters["readout__slope"] == 3
    assert parameters["hidden__random_state"] == parameters["readout__random_state"] == 5


@pytest.mark.parametrize(
    ("recipe", "parameter", "error", "message"),
    [
        (
            ("intrvfl", "rls"),
            "n_unit",
            TypeError,
            r"no parameter 'n_unit' \(parameters: alpha,",
        ),
        (("features", "centroids"), "clip", TypeError, r"no parameter 'clip' \(parameters: none\)"),
        (("deep", "glvq"), "clip", ValueError, "'intrvfl', 'comparisons', got 'deep'"),
        (("rvfl", "svm"), "clip", ValueError, "readout must be one of 'rls', .*'kglvq', got 'svm'"),
    ],
)
def test_what_is_unknown_is_named_beside_what_exists(recipe, parameter, error, message):
    with pytest.raises(error, match=message):
        make_classifier(*recipe, **{parameter: 0})


def test_default_recipe_learns_a_product_of_two_features(rng):
    X = rng.normal(size=(20_000, 20))
    y = X[:, 0] * X[:, 1] + X[:, 2] > 0

    model = make_classifier(random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.94


def test_parameters_can_be_searched(wine):
    model = make_classifier("intrvfl", "rls", n_units=50, random_state=0)

    search = GridSearchCV(model, {"readout__alpha": [0.1, 10], "hidden__clip": [1, 3]}, cv=3)
    assert search.fit(*wine).best_score_ > 0.9


def test_weights_reach_the_readout_by_their_name_or_as_metadata(wine):
    X, y = wine
    weights = np.where(y == 2, 0.0, 1.0)
    model = make_classifier("intrvfl", "rls", n_units=50, random_state=0)

    assert list(model.fit(X, y, readout__sample_weight=weights).classes_) == [0, 1]
    with config_context(enable_metadata_routing=True):
        model[-1].set_fit_request(sample_weight=True)
        assert list(model.fit(X, y, sample_weight=weights).classes_) == [0, 1]


def test_folds_can_run_in_processes(wine):
    model = make_classifier("intrvfl", "glvq", n_units=50, random_state=0)

    one, two = (cross_val_score(model, *wine, cv=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_types_name_all_layers_and_readouts():
    assert get_args(HiddenName) == tuple(hidden_layers())
    assert get_args(ReadoutName) == tuple(readouts())
