"""What a model remembers."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from small_tables import colour_table

from hyperlvq.checks import InputError
from hyperlvq.models import HIDDEN_LAYERS, READOUTS, make_classifier
from hyperlvq.tables.about import about_python_model, about_training, columns_of, settings_of
from hyperlvq.tables.read import read_table
from hyperlvq.tables.training import Task, train


@pytest.mark.parametrize("hidden", HIDDEN_LAYERS)
@pytest.mark.parametrize("readout", READOUTS)
def test_what_is_known_of_every_recipe_is_plain_and_comes_back(hidden, readout, tmp_path):
    (tmp_path / "t.csv").write_text(colour_table())
    task = Task("colour", hidden, readout, n_folds=2)
    trained = train(read_table(tmp_path / "t.csv"), task, lambda *_: None)

    about = about_training(trained, task, "folder/t.csv")

    assert json.loads(json.dumps(about, allow_nan=False)) == about
    assert columns_of(about) == list(trained.columns)
    assert about["table"] == "t.csv"
    assert about["rows"] == 30


def test_settings_are_those_of_the_layer_and_the_readout():
    model = make_classifier("intrvfl", "centroids", n_units=30, clip=5)

    assert settings_of(model) == {"n_units": 30, "clip": 5}


def test_the_scaler_has_no_settings_to_show():
    assert settings_of(make_classifier("features", "centroids")) == {}


def test_a_model_of_python_is_known_by_its_columns_and_classes():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]})

    about = about_python_model(LogisticRegression().fit(frame, [1, 2]), "m")

    assert [column.name for column in columns_of(about)] == ["a", "b"]
    assert about["classes"] == ["1", "2"]
    assert about["target"] is None


def test_no_table_can_be_matched_to_a_model_without_column_names():
    about = about_python_model(LogisticRegression().fit(np.eye(2), [1, 2]), "m")

    with pytest.raises(InputError, match="fitted in Python without column names"):
        columns_of(about)


@pytest.mark.parametrize("model", [StandardScaler().fit(np.eye(2)), make_classifier()])
def test_what_is_no_fitted_classifier_is_refused(model):
    with pytest.raises(InputError, match="m has no fitted classifier in it but a "):
        about_python_model(model, "m")
