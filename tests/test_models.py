import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

from hyperlvq import GLVQClassifier, RLSClassifier, make_classifier
from hyperlvq.defaults import RECIPE_DEFAULTS
from hyperlvq.models import HIDDEN_LAYERS, READOUTS


@pytest.mark.parametrize("hidden", HIDDEN_LAYERS)
@pytest.mark.parametrize("readout", READOUTS)
def test_every_hidden_layer_joins_every_readout(wine, hidden, readout):
    X, y = wine
    model = make_classifier(hidden, readout)

    assert isinstance(model, Pipeline)
    assert list(model.named_steps) == ["scale", "hidden", "readout"]
    assert model.fit(X, y).score(X, y) > 0.5  # a third by chance


def test_parameters_go_to_the_step_that_has_them():
    model = make_classifier("intrvfl", "glvq", n_units=7, clip=2, slope=3, random_state=5)

    parameters = model.get_params()
    assert parameters["hidden__n_units"] == 7
    assert parameters["hidden__clip"] == 2
    assert parameters["scale__clip"] is True
    assert parameters["readout__slope"] == 3
    assert parameters["hidden__random_state"] == parameters["readout__random_state"] == 5


def test_unknown_parameter_is_named_beside_those_that_exist():
    with pytest.raises(TypeError, match=r"no parameter 'n_unit'; those that exist: alpha, clip, "):
        make_classifier("intrvfl", "rls", n_unit=7)


def test_recipe_without_parameters_says_so():
    with pytest.raises(TypeError, match="no parameter 'random_state'; those that exist: none"):
        make_classifier("features", "centroids", random_state=0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("deep", "glvq"), "hidden must be one of 'features', 'rvfl', 'intrvfl', got 'deep'"),
        (("rvfl", "svm"), "readout must be one of 'rls', .*'kglvq', got 'svm'"),
    ],
)
def test_unknown_step_is_named_beside_those_that_exist(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_classifier(*arguments)


def test_missing_values_reach_the_integer_layer(wine, rng):
    X, y = wine
    X = np.where(rng.uniform(size=X.shape) < 0.1, np.nan, X)

    model = make_classifier("intrvfl", "glvq", n_units=300, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("hidden", ["features", "rvfl"])
def test_missing_values_are_refused_elsewhere(wine, hidden):
    X = wine[0].copy()
    X[0, 0] = np.nan

    with pytest.raises(ValueError, match="NaN"):
        make_classifier(hidden, "rls").fit(X, wine[1])


def test_fit_leaves_the_given_steps_alone(wine):
    model = make_classifier("rvfl", "rls", n_units=20, random_state=0)
    given = model.steps[-1][1]

    model.fit(*wine)
    assert not hasattr(given, "coef_")
    assert model.named_steps["readout"].coef_.shape == (3, 20)
    assert model[-1] is model.steps[-1][1]
    assert model[:-1].transform(wine[0]).shape == (178, 20)


def test_model_can_be_cloned_pickled_and_refitted(wine):
    X, y = wine
    model = make_classifier("intrvfl", "rls", n_units=50, random_state=0).fit(X, y)

    scores = model.decision_function(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), scores)
    np.testing.assert_array_equal(clone(model).fit(X, y).decision_function(X), scores)
    np.testing.assert_array_equal(model.fit(X, y).decision_function(X), scores)


def test_parameters_can_be_searched(wine):
    model = make_classifier("intrvfl", "rls", n_units=50, random_state=0)

    search = GridSearchCV(model, {"readout__alpha": [0.1, 10], "hidden__clip": [1, 3]}, cv=3)
    assert search.fit(*wine).best_score_ > 0.9


@pytest.mark.parametrize(("recipe", "defaults"), RECIPE_DEFAULTS.items())
def test_recipe_starts_from_the_defaults_that_the_study_found(recipe, defaults):
    parameters = make_classifier(*recipe).get_params()

    for name, value in defaults.items():
        assert value in (parameters.get(f"hidden__{name}"), parameters.get(f"readout__{name}"))


def test_given_parameter_wins_over_the_recipes_default():
    assert make_classifier("intrvfl", "glvq", clip=2).named_steps["hidden"].clip == 2


def test_changed_parameter_takes_effect_at_the_next_fit(wine):
    model = make_classifier("rvfl", "rls", n_units=20, random_state=0).fit(*wine)

    model.set_params(readout__alpha=100.0)
    assert model.named_steps["readout"].alpha == 16.0
    assert model.fit(*wine).named_steps["readout"].alpha == 100.0


def test_replaced_step_takes_effect_at_the_next_fit(wine):
    model = make_classifier("rvfl", "rls", n_units=20, random_state=0).fit(*wine)

    model.set_params(readout=GLVQClassifier(random_state=0)).fit(*wine)
    assert hasattr(model[-1], "prototypes_")


def test_replaced_step_is_not_fitted(wine):
    model = make_classifier("rvfl", "rls", n_units=20, random_state=0).fit(*wine)

    model.set_params(readout=GLVQClassifier(random_state=0))

    assert isinstance(model[-1], GLVQClassifier)
    with pytest.raises(NotFittedError):
        model.predict(wine[0])


def test_weights_reach_the_readout(wine):
    X, y = wine
    weights = np.where(y == 2, 0.0, 1.0)

    model = make_classifier("intrvfl", "rls", n_units=50, random_state=0)
    assert list(model.fit(X, y, readout__sample_weight=weights).classes_) == [0, 1]


def test_warm_start_goes_on_where_the_last_fit_ended(wine):
    model = make_classifier(
        "intrvfl", "glvq", n_units=50, max_iter=5, warm_start=True, random_state=0
    )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = model.fit(*wine)[-1].loss_curve_[-1]
        assert model.fit(*wine)[-1].loss_curve_[0] < first


def test_warm_start_refuses_a_layer_that_would_be_drawn_anew(wine):
    model = make_classifier("intrvfl", "glvq", n_units=50, warm_start=True).fit(*wine)

    with pytest.raises(ValueError, match="warm_start needs an integer random_state, got None"):
        model.fit(*wine)


def test_warm_start_without_a_layer_needs_no_seed(wine):
    model = make_classifier("features", "glvq", warm_start=True).fit(*wine)

    first = model[-1].loss_curve_[-1]
    assert model.fit(*wine)[-1].loss_curve_[-1] <= first


@pytest.mark.parametrize("nothing", [None, "passthrough"])
def test_hidden_layer_can_be_left_out(wine, nothing):
    model = make_classifier("rvfl", "rls").set_params(hidden=nothing)

    assert model.fit(*wine)[-1].coef_.shape == (3, 13)


def test_output_container_outlives_the_next_fit(wine):
    model = make_classifier("intrvfl", "rls", n_units=5, random_state=0).fit(*wine)

    model.set_output(transform="pandas").fit(*wine)
    assert isinstance(model[:-1].transform(wine[0]), pd.DataFrame)


def test_weights_are_routed_as_metadata(wine):
    X, y = wine
    with config_context(enable_metadata_routing=True):
        model = make_classifier("rvfl", "rls", n_units=20, random_state=0)
        model.named_steps["readout"].set_fit_request(sample_weight=True)
        model.fit(X, y, sample_weight=np.where(y == 2, 0.0, 1.0))

    assert list(model.classes_) == [0, 1]


def test_folds_can_run_in_processes(wine):
    model = make_classifier("intrvfl", "glvq", n_units=50, random_state=0)

    one, two = (cross_val_score(model, *wine, cv=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_model_shows_itself_in_a_notebook(wine):
    model = make_classifier("intrvfl", "glvq", n_units=5, random_state=0).fit(*wine)

    assert "IntRVFLLayer" in model._repr_html_()


def test_feature_names_are_remembered(wine):
    frame = pd.DataFrame(wine[0]).rename(columns="x{}".format)
    model = make_classifier("intrvfl", "rls", n_units=20, random_state=0).fit(frame, wine[1])

    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.n_features_in_ == 13
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])


def test_plain_pipelines_take_the_steps_too(wine):
    X, y = wine
    model = make_classifier("rvfl", "rls", n_units=20, random_state=0)

    plain = Pipeline(clone(model).steps).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X), model.fit(X, y).predict(X))
    assert isinstance(plain[-1], RLSClassifier)


@pytest.mark.parametrize("changed", [{"hidden__random_state": 1}, {"scale__clip": False}])
def test_warm_start_refuses_other_activations(wine, changed):
    model = make_classifier(n_units=50, warm_start=True, random_state=0).fit(*wine)
    name = next(iter(changed)).split("__")[0]

    with pytest.raises(ValueError, match=f"warm_start needs the step '{name}' of the last fit"):
        model.set_params(**changed).fit(*wine)


@pytest.mark.parametrize("container", [np.asarray, list, pd.Series])
def test_samples_of_weight_zero_count_nowhere(wine, container):
    X, y = wine[0].copy(), wine[1]
    weights = np.arange(len(y)) % 3
    X[weights == 0] *= 1000
    kept = weights > 0
    model = make_classifier(n_units=50, random_state=0)
    expected = clone(model).fit(X[kept], y[kept], sample_weight=weights[kept])

    weighted = model.fit(X, y, sample_weight=container(weights))
    np.testing.assert_array_equal(weighted[-1].prototypes_, expected[-1].prototypes_)
    np.testing.assert_array_equal(weighted[0].data_max_, expected[0].data_max_)


def test_weights_are_those_of_the_readout(wine, rng):
    weights = rng.integers(3, size=len(wine[1]))
    model = make_classifier(n_units=50, random_state=0)
    expected = clone(model).fit(*wine, readout__sample_weight=weights).decision_function(wine[0])

    scores = model.fit(*wine, sample_weight=weights).decision_function(wine[0])
    np.testing.assert_array_equal(scores, expected)
    with pytest.raises(TypeError, match="sample_weight or readout__sample_weight, not both"):
        model.fit(*wine, sample_weight=weights, readout__sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        model.set_params(readout=model[-1].set_fit_request(sample_weight=True))
        scores = model.fit(*wine, sample_weight=weights).decision_function(wine[0])
    np.testing.assert_array_equal(scores, expected)


def test_wrong_weights_are_named(wine):
    for weights in ([0, 1], np.zeros(len(wine[1])), [["a"]] * len(wine[1])):
        with pytest.raises(ValueError, match=r"sample_weight|inconsistent|convert"):
            make_classifier("features", "centroids").fit(*wine, sample_weight=weights)


def test_boosting_takes_a_recipe(wine):
    boosted = AdaBoostClassifier(make_classifier(n_units=20, random_state=0), n_estimators=3)

    assert boosted.fit(*wine).score(*wine) > 0.9


def test_feature_that_is_taken_for_constant_is_named(iris):
    X, y = pd.DataFrame(iris[0], columns=list("abcd")).astype(np.float32), iris[1]
    X["b"] *= 1e-8

    with pytest.warns(UserWarning, match="feature 'b' varies by 2.4e-08 only") as caught:
        make_classifier("features", "centroids").fit(X, y)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=r"feature 'a' .and 3 more. varies by"):
        make_classifier("features", "centroids").fit(X * 1e-8, y)
