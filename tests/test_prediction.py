"""Predictions from the parts of a model are those of its estimators."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from hyperlvq import CentroidClassifier, HyperLVQClassifier, prediction
from hyperlvq.models import make_classifier
from hyperlvq.prediction import Predictor
from hyperlvq.registry import hidden_layers, readouts
from hyperlvq.saving import to_parts
from hyperlvq.tables.columns import Column, Kind
from hyperlvq.tables.training import table_classifier

QUICK = {"classifier__n_units": 30, "hidden__n_units": 30, "readout__max_iter": 3}
COLUMNS = [Column("a", Kind.NUMBER), Column("t", Kind.TEXT), Column("b", Kind.NUMBER)]


def columns_of(values):
    return {name: values[name].to_numpy() for name in values}


@pytest.fixture
def frame(rng):
    return pd.DataFrame(
        {
            "a": np.where(rng.random(300) < 0.1, np.nan, rng.random(300)),
            "t": rng.choice([*"xyz", np.nan], 300),
            "b": rng.normal(size=300),
        }
    ).astype({"t": object})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("recipe", [None, *product(hidden_layers(), readouts())])
def test_every_digit_is_that_of_the_estimators(recipe, n_classes, frame):
    model = table_classifier(COLUMNS, 300, recipe, 0)
    model.set_params(**{name: QUICK[name] for name in QUICK.keys() & model.get_params().keys()})
    model.fit(frame, np.array([*"uvw"])[np.arange(300) % n_classes])
    predictor = Predictor(to_parts(model).parts)

    assert predictor.has_probabilities is hasattr(model, "predict_proba")
    for rows in (frame, frame[:5]):
        found = predictor.decide(columns_of(rows))
        np.testing.assert_array_equal(found, model.decision_function(rows))
        np.testing.assert_array_equal(predictor.labels(found), model.predict(rows))
        if predictor.has_probabilities:
            np.testing.assert_array_equal(predictor.probabilities(found), model.predict_proba(rows))


def test_rows_are_taken_in_blocks_of_bounded_memory(frame, monkeypatch):
    model = table_classifier(COLUMNS, 300, ("intrvfl", "centroids"), 0, n_units=30)
    model.fit(frame, np.arange(300) % 2)
    whole = Predictor(to_parts(model).parts).decide(columns_of(frame))
    monkeypatch.setattr(prediction, "BLOCK_NUMBERS", 30 * 7)

    predictor = Predictor(to_parts(model).parts)

    assert predictor._n_at_once == 7
    np.testing.assert_allclose(predictor.decide(columns_of(frame)), whole)


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_columns_without_text_go_in_their_order_and_may_be_wide_integers(dtype, wine):
    X, y = (100 * wine[0]).astype(dtype), wine[1]
    model = make_classifier("features", "rls")[-1].fit(X, y)

    found = Predictor(to_parts(model).parts).decide(columns_of(pd.DataFrame(X)))

    np.testing.assert_array_equal(found, model.decision_function(X))


@pytest.mark.parametrize(("hidden", "kind"), [("features", "RLSClassifier"), ("rvfl", "RVFLLayer")])
def test_missing_values_are_refused_where_nothing_takes_them(hidden, kind, wine):
    X, y = wine
    model = make_classifier(hidden, "rls").fit(X, y)
    columns = columns_of(pd.DataFrame(X)) | {3: np.full(len(X), np.nan)}

    with pytest.raises(ValueError, match=f"^{kind} does not support missing or infinite values$"):
        Predictor(to_parts(model).parts).decide(columns)


@pytest.mark.parametrize("model", [HyperLVQClassifier(2), make_classifier("comparisons", "rls")])
@pytest.mark.parametrize("n_rows", [10, 178])  # by numpy, and by compiled code
def test_values_missing_only_at_prediction_are_filled_without_scikit_learn(
    model, n_rows, wine, rng
):
    X, y = wine
    n_units = "n_units" if "n_units" in model.get_params() else "hidden__n_units"
    model = clone(model).set_params(**{n_units: 30}).fit(X, y)
    holed = np.where(rng.random(X.shape) < 0.2, np.nan, X)[:n_rows]
    holed[1] = np.nan
    predictor = Predictor(to_parts(model).parts)
    found = predictor.decide(columns_of(pd.DataFrame(holed)))

    with pytest.warns(UserWarning, match="the training median"):
        np.testing.assert_array_equal(found, model.decision_function(holed))


def test_class_without_prototypes_has_no_probability(rng):
    X = rng.normal(size=(5, 2))
    model = CentroidClassifier().partial_fit(X, np.zeros(len(X)), classes=[0, 1])
    predictor = Predictor(to_parts(model).parts)

    decisions = predictor.decide({str(i): column for i, column in enumerate(X.T)})
    np.testing.assert_array_equal(predictor.probabilities(decisions), model.predict_proba(X))
