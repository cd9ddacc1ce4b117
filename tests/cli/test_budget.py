"""`hyperlvq budget` and `costs`, and sizes that `hyperlvq fit` chooses for a device."""

import json

import pytest
from shell import hyperlvq, output_of

import hyperlvq as package
from hyperlvq.costs import glvq_flops, prediction_cost, rls_flops, rls_qr_flops
from hyperlvq.export import make_plan
from hyperlvq.export.budget import predict_budget


@pytest.fixture
def fit(table, tmp_path):
    """Return what fits with options, and returns the model's path and what was said."""

    def fitted(*options):
        path = tmp_path / "m.hlvq"
        return path, output_of("fit", table, "--target", "colour", "-o", path, *options)

    return fitted


@pytest.mark.parametrize("target", ["cortex-m3", "avr", "riscv32"])
def test_budget_is_that_of_the_plan_and_readable(model, target):
    command = ("budget", model, "--target", target, "--input", "int16")
    values, text = json.loads(output_of(*command, "--json")), output_of(*command)

    plan = make_plan(package.load(model), input="int16")
    described = {"target": target, "input": "int16", "bits": 8}
    assert values == described | predict_budget(plan, target)._asdict()
    for word in (target, "flash", "RAM", "stack", "instructions"):
        assert word in text


def test_tables_that_an_avr_cannot_read_are_told(fit):
    model, _ = fit("--cv", "0", "--readout", "centroids", "--n-units", "30000")
    on_avr, on_arm = hyperlvq("budget", model, "--target", "avr")[1], output_of("budget", model)

    assert "does not fit" in on_avr
    assert "where a table has at most 32767" in on_avr
    assert "does not fit" not in on_arm


@pytest.mark.parametrize(("limit", "chip"), [("3k", "cortex-m3"), ("6k", "avr"), ("6k", "riscv32")])
def test_fit_of_a_recipe_chooses_what_the_device_can_hold(fit, limit, chip):
    limits = ("--max-flash", limit, "--max-ram", "1k", "--chip", chip)
    model, output = fit("--readout", "glvq", "--cv", "2", *limits, "--json")

    budget = json.loads(output)["device"]
    limit_bytes = int(limit[:-1]) * 1024
    assert 0.5 * limit_bytes < budget["flash"] <= limit_bytes
    assert budget["ram"] + budget["stack"] <= 1024
    assert package.load(model)["hidden"].n_units > 30


@pytest.mark.parametrize(("limit", "chip"), [("4k", "cortex-m3"), ("6k", "avr"), ("6k", "riscv32")])
def test_fit_chooses_the_largest_network_that_the_device_can_hold(fit, limit, chip):
    limits = ("--max-flash", limit, "--max-ram", "1k", "--chip", chip)
    model, output = fit("--cv", "0", *limits, "--json")

    budget = json.loads(output)["device"]
    limit_bytes = int(limit[:-1]) * 1024
    assert 0.5 * limit_bytes < budget["flash"] <= limit_bytes
    assert budget["ram"] + budget["stack"] <= 1024
    classifier = package.load(model)["classifier"]
    assert classifier.n_networks == 1
    assert len(classifier.kinds_) == classifier.n_units + 1 > 30


def test_given_size_of_a_network_is_kept(fit):
    model, _ = fit("--cv", "0", "--max-flash", "64k", "--n-units", "64")

    assert package.load(model)["classifier"].n_units == 64


def test_given_sizes_are_kept(fit):
    sizes = ("--n-units", "64", "--prototypes-per-class", "1")
    model, _ = fit("--cv", "0", "--max-flash", "16k", *sizes)

    loaded = package.load(model)
    assert loaded["hidden"].n_units == 64
    assert loaded["readout"].prototypes_per_class == 1


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
