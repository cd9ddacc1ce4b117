"""Weights as small integers: the best scale, no surprise at the ends, little accuracy lost."""

from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.exceptions import ConvergenceWarning

from hyperlvq import make_classifier
from hyperlvq.checks import InputError
from hyperlvq.export import compare, make_plan
from hyperlvq.export.plan import LARGEST_ALONE, quantise, quantised_outputs

#: Sets of the collection on which the loss of accuracy is measured.
DATA_SETS = (
    *("balance-scale", "breast-cancer", "breast-cancer-wisc-diag", "congressional-voting"),
    *("contrac", "cylinder-bands", "ecoli", "energy-y2", "glass", "heart-cleveland", "heart-va"),
    *("ilpd-indian-liver", "iris", "libras", "mammographic", "oocytes_merluccius_states_2f"),
    *("oocytes_trisopterus_states_5b", "pima", "primary-tumor", "statlog-australian-credit"),
)
# Fewer units and iterations than by default, to be quick.
QUICK = {"n_units": 200, "max_iter": 100}
N_SPLITS = 2
WEIGHTS = arrays(np.float64, array_shapes(min_dims=2, max_dims=2), elements=st.floats(-1e3, 1e3))


@given(weights=WEIGHTS, bits=st.sampled_from([8, 16]))
@settings(deadline=None)
def test_integers_are_the_nearest_and_the_error_is_no_larger_than_without_clipping(weights, bits):
    quantised, scale = quantise(weights, bits)
    limit = 2 ** (bits - 1) - 1
    plain_scale = max(np.abs(weights).max() / limit, 1e-300)
    plain = plain_scale * np.rint(weights / plain_scale)

    assert np.abs(quantised.astype(int)).max() <= limit
    errors = weights - scale * quantised
    inside = np.abs(errors[np.abs(quantised) < limit])
    assert (inside <= scale / 2 * (1 + 1e-9) + 1e-300).all()
    assert np.square(errors).sum() <= np.square(weights - plain).sum() * (1 + 1e-6) + 1e-300


def test_outlier_is_clipped_for_the_sake_of_all_others(rng):
    weights = rng.normal(size=(4, 500))
    weights[0, 0] = 8

    quantised, scale = quantise(weights, 8)

    assert quantised[0, 0] == 127
    assert scale < 8 / 127


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("weight", [0.0, 5e-324])
def test_zeros_and_what_has_no_scale_become_zeros(bits, weight):
    quantised, scale = quantise(np.full((2, 3), weight), bits)

    assert not quantised.any()
    assert scale > 0


@pytest.mark.parametrize("bits", [8, 16])
def test_prototypes_that_differ_by_roundings_are_taken_for_equal(bits, rng):
    X = np.repeat(rng.uniform(size=(20, 5)), 2, axis=0)
    y = np.tile([0, 1], 20)
    model = make_classifier("intrvfl", "centroids", n_units=1000, random_state=0)
    model.fit(X, y, readout__sample_weight=np.where(y, 0.1, 0.3))

    plan = make_plan(model, bits=bits)
    assert (plan.weights == 0).all()
    assert plan.biases[0] == plan.biases[1] < 2**31


@pytest.mark.parametrize("has_prototypes", [False, True])
def test_weights_of_a_unit_lie_about_zero(has_prototypes):
    outputs = np.array([[100.0, -7.0, 2.0], [101.0, -7.0, 6.0], [100.5, -7.0, 3.0]])

    weights, scale, _ = quantised_outputs(outputs, 16, has_prototypes)

    about_zero = [[-0.5, 0, -2], [0.5, 0, 2], [0, 0, -1]]
    np.testing.assert_allclose(scale * weights, about_zero, atol=scale)


def test_biases_alone_have_a_scale_of_their_own():
    weights, scale, biases = quantised_outputs(np.ones((2, 3)), 8, False, np.array([[1.0], [-4.0]]))

    assert not weights.any()
    assert (biases * scale).tolist() == [-1, 4]
    assert biases[1] == LARGEST_ALONE


def test_one_bias_that_is_too_large_is_refused():
    prototypes = np.array([[1e12], [0.0]])

    with pytest.raises(InputError, match="scores would overflow"):
        quantised_outputs(prototypes, 16, has_prototypes=True)


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
