"""What rounding to integers costs in accuracy, over 20 sets of the collection."""

from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from hyperlvq import make_classifier
from hyperlvq.export import compare, make_plan

DATA_SETS = (
    "balance-scale",
    "breast-cancer",
    "breast-cancer-wisc-diag",
    "congressional-voting",
    "contrac",
    "cylinder-bands",
    "ecoli",
    "energy-y2",
    "glass",
    "heart-cleveland",
    "heart-va",
    "ilpd-indian-liver",
    "iris",
    "libras",
    "mammographic",
    "oocytes_merluccius_states_2f",
    "oocytes_trisopterus_states_5b",
    "pima",
    "primary-tumor",
    "statlog-australian-credit",
)
# Fewer units and iterations than by default, to be quick.
QUICK = {"n_units": 200, "max_iter": 100}
N_SPLITS = 2


@pytest.fixture(scope="module")
def fitted_models(uci):
    """Return (model, X, y) with the test samples of every set and split."""
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)
        return [
            (
                make_classifier("intrvfl", "glvq", random_state=0, **QUICK).fit(
                    data.X[rows.train], data.y[rows.train]
                ),
                data.X[rows.test],
                data.y[rows.test],
            )
            for data in map(uci.load, DATA_SETS)
            for rows in data.splits[:N_SPLITS]
        ]


@pytest.mark.data
@pytest.mark.parametrize(("bits", "most_points"), [(8, 0.2), (16, 0.02)])
def test_rounding_costs_little_accuracy(bits, most_points, fitted_models):
    outcomes = np.array(
        [compare(model, make_plan(model, bits=bits), X, y) for model, X, y in fitted_models]
    )
    float_accuracy, integer_accuracy, agreement = outcomes.mean(axis=0)

    assert 100 * (float_accuracy - integer_accuracy) <= most_points
    assert agreement >= 0.998
