"""`hyperlvq costs`: the paper's Table I for given sizes."""

import json
import subprocess

import pytest
from shell import PROGRAM, hyperlvq

from hyperlvq.costs import glvq_flops, prediction_cost, rls_flops, rls_qr_flops

SIZES = ("--n-samples", "1000", "--n-classes", "3", "--n-units", "500")


def costs(*options):
    code, output, errors = hyperlvq("costs", *SIZES, *options)
    assert (code, errors) == (0, "")
    return output


def test_training_costs_are_those_of_the_formulas():
    found = json.loads(costs("--prototypes-per-class", "2", "--n-iter", "20", "--json"))

    assert found["training_flops"] == {
        "RLS": pytest.approx(rls_flops(1000, 500, 3)),
        "RLS by QR": pytest.approx(rls_qr_flops(1000, 500, 3)),
        "GLVQ": pytest.approx(glvq_flops(1000, 500, 3, 2, 20)),
    }


def test_prediction_costs_come_with_the_number_of_features():
    found = json.loads(costs("--n-features", "20", "--json"))["prediction"]

    assert found["integer"] == prediction_cost("intrvfl", 20, 500, 3, form="integer")._asdict()
    assert json.loads(costs("--json"))["prediction"] == {}


def test_text_relates_costs_to_least_squares():
    lines = [line.split() for line in costs("--n-features", "20").splitlines()]

    assert lines[0] == ["training", "flops", "relative"]
    assert lines[1][::2] == ["RLS", "1.0000"]
    assert lines[5] == ["prediction", "bytes", "operations"]


def test_a_full_standard_output_is_one_sentence():
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [*PROGRAM, "costs", *SIZES], stdout=full, stderr=subprocess.PIPE, text=True
        )

    assert process.returncode == 2
    sentence = "hyperlvq: standard output cannot be written: No space left on device\n"
    assert process.stderr == sentence


def test_a_reader_that_has_seen_enough_is_no_error():
    process = subprocess.Popen(
        [*PROGRAM, "costs", *SIZES], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()

    assert (process.wait(), errors) == (0, b"")
