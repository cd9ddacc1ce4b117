import numpy as np
import pytest

from hyperlvq.costs import (
    glvq_flops,
    prediction_cost,
    relative_costs,
    rls_flops,
    rls_qr_flops,
)

T, N, L, P = 120, 40, 3, 2
N_ITER = 7


def test_straightforward_rls_is_the_sum_of_its_steps():
    gram = N * (2 * T * N - N + 2)
    inverse = 2 * N**3 / 3
    product = T * N * (2 * N - 1) + L * N * (2 * T - 1)

    assert rls_flops(T, N, L) == pytest.approx(gram + inverse + product)


def test_rls_by_qr_is_the_sum_of_its_steps():
    moment = L * N * (2 * T - 1)
    factor = N * (2 * T * N - N + 2) + 4 * N**3 / 3
    substitution = 2 * L * N * (N - 1) + L * N**2

    assert rls_qr_flops(T, N, L) == pytest.approx(moment + factor + substitution)


def test_glvq_is_the_sum_of_its_steps():
    start = T * N
    distances = N_ITER * T * P * L * (3 * N - 1)
    updates = N_ITER * T * (6 * N + P * L + 19)

    assert glvq_flops(T, N, L, P, N_ITER) == start + distances + updates


@pytest.mark.data
def test_relative_costs_average_to_the_papers(published):
    ratios = [
        relative_costs(
            int(row["n_samples"] if row["protocol"] == "kfold" else row["n_train"]),
            int(row["intrvfl_rls_n"]),
            int(row["n_classes"]),
        )
        for row in published.values()
    ]
    assert np.mean([ratio["rls_qr"] for ratio in ratios]) == pytest.approx(0.7911, abs=5e-5)
    assert np.mean([ratio["glvq"] for ratio in ratios]) == pytest.approx(0.2084, abs=5e-5)


def test_float_form_counts_four_bytes_a_number():
    cost = prediction_cost("rvfl", n_features=4, n_units=10, n_outputs=3)

    assert cost.bytes == 4 * (2 * 4 + 10 * (4 + 1) + 3 * 10)


def test_integer_form_packs_eight_keys_a_byte():
    cost = prediction_cost("intrvfl", 4, n_units=20, n_outputs=3, form="integer")

    assert cost.bytes == 4 * 2 * 4 + 4 * 3 + 3 * 20 + 3 * 4


def test_sixteen_bits_double_the_readout():
    sizes = [
        prediction_cost("intrvfl", 4, 20, 3, form="integer", bits=bits).bytes for bits in (8, 16)
    ]

    assert sizes[1] - sizes[0] == 3 * 20


def test_distances_cost_what_table_1_says():
    features = prediction_cost("features", n_features=30, n_units=1, n_outputs=4)

    assert features.operations == 2 * 30 + 4 * (3 * 30 - 1) + 3


def test_linear_readout_is_the_cheaper_one():
    linear = prediction_cost("intrvfl", 4, 20, 3, linear=True)
    distances = prediction_cost("intrvfl", 4, 20, 3)

    assert linear.bytes == distances.bytes
    assert linear.operations < distances.operations


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
