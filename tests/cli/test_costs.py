"""`hyperlvq costs`: the paper's Table I for given sizes."""

import json

import pytest
from shell import output_of

from hyperlvq.costs import glvq_flops, prediction_cost, rls_flops, rls_qr_flops

COSTS = ("costs", "--n-samples", "1000", "--n-classes", "3", "--n-units", "500")
FEATURES = ("--n-features", "20")


def test_costs_are_those_of_the_formulas():
    found = json.loads(output_of(*COSTS, "--prototypes-per-class", 2, "--n-iter", 20, "--json"))
    with_features = json.loads(output_of(*COSTS, *FEATURES, "--json"))["prediction"]

    assert found["training_flops"] == {
        "RLS": pytest.approx(rls_flops(1000, 500, 3)),
        "RLS by QR": pytest.approx(rls_qr_flops(1000, 500, 3)),
        "GLVQ": pytest.approx(glvq_flops(1000, 500, 3, 2, 20)),
    }
    assert found["prediction"] == {}
    expected = prediction_cost("intrvfl", 20, 500, 3, form="integer")
    assert with_features["integer"] == expected._asdict()


def test_text_relates_costs_to_least_squares():
    lines = [line.split() for line in output_of(*COSTS, *FEATURES).splitlines()]

    assert lines[0] == ["training", "flops", "relative"]
    assert lines[1][::2] == ["RLS", "1.0000"]
    assert lines[5] == ["prediction", "bytes", "operations"]
