"""Weights as small integers: the best scale, no surprise at the ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from hyperlvq import make_classifier
from hyperlvq.export import make_plan
from hyperlvq.export.quantise import quantise

WEIGHTS = arrays(np.float64, array_shapes(min_dims=2, max_dims=2), elements=st.floats(-1e3, 1e3))


@given(weights=WEIGHTS, bits=st.sampled_from([8, 16]))
@settings(deadline=None)
def test_no_other_integer_is_nearer_to_a_weight(weights, bits):
    quantised, scale = quantise(weights, bits)
    limit = 2 ** (bits - 1) - 1
    inside = np.abs(quantised) < limit

    assert np.abs(quantised.astype(int)).max() <= limit
    errors = np.abs(weights - scale * quantised)[inside]
    assert (errors <= scale / 2 * (1 + 1e-9) + 1e-300).all()


@given(weights=WEIGHTS)
@settings(deadline=None)
def test_error_is_no_larger_than_without_clipping(weights):
    largest = np.abs(weights).max()
    quantised, scale = quantise(weights, 8)
    plain_scale = largest / 127 if largest > 0 else 1.0
    plain = plain_scale * np.rint(weights / plain_scale)

    error = np.square(weights - scale * quantised).sum()

    assert error <= np.square(weights - plain).sum() * (1 + 1e-6) + 1e-300


def test_outlier_is_clipped_for_the_sake_of_all_others(rng):
    weights = rng.normal(size=(4, 500))
    weights[0, 0] = 8

    quantised, scale = quantise(weights, 8)

    assert quantised[0, 0] == 127
    assert scale < 8 / 127


@pytest.mark.parametrize("bits", [8, 16])
def test_zeros_stay_zeros(bits):
    quantised, scale = quantise(np.zeros((2, 3)), bits)

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
