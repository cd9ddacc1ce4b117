from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperlvq.costs import (
    comparison_cost,
    flops_by_method,
    glvq_flops,
    glvq_steps,
    prediction_cost,
    rls_flops,
    rls_qr_flops,
    rls_qr_steps,
    rls_steps,
    steps_by_method,
)

T, N, L, P = 120, 40, 3, 2
N_ITER = 7


def test_steps_are_those_of_table_1():
    assert rls_steps(T, N, L) == {
        "Gram matrix": N * (2 * T * N - N + 2),
        "inverse": 2 * N**3 / 3,
        "product": T * N * (2 * N - 1) + L * N * (2 * T - 1),
    }
    assert rls_qr_steps(T, N, L) == {
        "product": L * N * (2 * T - 1),
        "factorisation": N * (2 * T * N - N + 2) + 4 * N**3 / 3,
        "solution": 2 * L * N * (N - 1) + L * N**2,
    }
    assert glvq_steps(T, N, L, P, N_ITER) == {
        "initialisation": T * N,
        "distances": N_ITER * T * P * L * (3 * N - 1),
        "updates": N_ITER * T * (6 * N + P * L + 19),
    }


sizes = st.integers(1, 10**5).map(Fraction)


@given(T=sizes, N=sizes, L=sizes, P=sizes, n_iter=sizes)
def test_steps_add_up_to_the_totals_of_table_1_exactly(T, N, L, P, n_iter):
    totals = {
        "rls": N * (2 * N**2 / 3 + 4 * T * N + 2 * T * L - N - T - L + 2),
        "rls_qr": N * (4 * N**2 / 3 + 2 * T * N + 2 * T * L + 3 * L * N - N - 3 * L + 2),
        "glvq": n_iter * T * (3 * P * L * N + 6 * N + 19) + T * N,
    }
    steps = steps_by_method(T, N, L, P, n_iter)

    assert {method: sum(flops.values()) for method, flops in steps.items()} == totals
    assert flops_by_method(T, N, L, P, n_iter) == totals
    assert (rls_flops(T, N, L), rls_qr_flops(T, N, L)) == (totals["rls"], totals["rls_qr"])
    assert glvq_flops(T, N, L, P, n_iter) == totals["glvq"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # The float form has four bytes a number: scaling, weights and biases, prototypes.
        ({"hidden": "rvfl"}, 4 * (2 * 4 + 20 * (4 + 1) + 3 * 20)),
        # The integer form packs eight keys a byte.
        ({"form": "integer"}, 4 * 2 * 4 + 4 * 3 + 3 * 20 + 3 * 4),
        ({"form": "integer", "bits": 16}, 4 * 2 * 4 + 4 * 3 + 2 * 3 * 20 + 3 * 4),
        # A linear readout has no squared lengths.
        ({"form": "integer", "linear": True}, 4 * 2 * 4 + 4 * 3 + 3 * 20),
        ({}, 4 * 2 * 4 + 4 * 20 + 4 * 3 * 20),
    ],
)
def test_bytes_are_those_of_scaling_keys_and_readout(changes, expected):
    arguments = {"hidden": "intrvfl", "n_features": 4, "n_units": 20, "n_outputs": 3, **changes}

    assert prediction_cost(**arguments).bytes == expected


def test_comparisons_cost_features_thresholds_kinds_and_readout():
    found = comparison_cost(n_comparisons=80, n_units=20, n_outputs=3)

    assert found.bytes == 4 * (80 + 80 + 20 + 3 * 20)
    assert found.operations == 2 * 80 + 20 + 3 * (2 * 20 - 1) + 2
    with pytest.raises(ValueError, match="n_units must be at least 1, got 0"):
        comparison_cost(80, 0, 3)


def test_distances_cost_what_table_1_says_and_dot_products_less():
    distances = prediction_cost("features", n_features=30, n_units=1, n_outputs=4)
    linear = prediction_cost("features", 30, 1, 4, linear=True)

    assert distances.operations == 2 * 30 + 4 * (3 * 30 - 1) + 3
    assert linear.operations == 2 * 30 + 4 * (2 * 30 - 1) + 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden": "deep"}, "hidden must be one of 'features', 'rvfl', 'intrvfl', got 'deep'"),
        ({"form": "double"}, "form must be one of 'float', 'integer', got 'double'"),
        ({"bits": 4}, "bits must be 8 or 16, got 4"),
        ({"n_units": 0}, "n_units must be at least 1, got 0"),
        ({"hidden": "rvfl", "form": "integer"}, "the conventional RVFL layer has no integer form"),
    ],
)
def test_bad_argument_is_named(changes, message):
    arguments = {"hidden": "intrvfl", "n_features": 4, "n_units": 20, "n_outputs": 3, **changes}

    with pytest.raises(ValueError, match=message):
        prediction_cost(**arguments)
