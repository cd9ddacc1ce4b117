"""`hyperlvq budget`, and sizes that `hyperlvq fit` chooses for a device."""

import json

import pytest
from shell import hyperlvq
from small_tables import fit_colours

import hyperlvq as package
from hyperlvq.export import make_plan
from hyperlvq.export.budget import predict_budget


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table and a model of it."""
    folder = tmp_path_factory.mktemp("budget")
    fit_colours(folder)
    return folder


@pytest.mark.parametrize("target", ["cortex-m3", "avr", "riscv32"])
def test_budget_is_that_of_the_plan_and_readable(folder, target):
    command = ("budget", folder / "colours.hlvq", "--target", target, "--input", "int16")
    code, output, errors = hyperlvq(*command, "--json")
    _, text, _ = hyperlvq(*command)

    plan = make_plan(package.load(folder / "colours.hlvq"), input="int16")
    described = {"target": target, "input": "int16", "bits": 8}
    assert (code, errors) == (0, "")
    assert json.loads(output) == described | predict_budget(plan, target)._asdict()
    for word in (target, "flash", "RAM", "stack", "instructions"):
        assert word in text


def test_tables_that_an_avr_cannot_read_are_told(folder, tmp_path):
    model = tmp_path / "m.hlvq"
    hyperlvq(
        *("fit", folder / "colours.csv", "--target", "colour", "-o", model, "--cv", "0"),
        *("--readout", "centroids", "--n-units", "30000"),
    )

    _, on_avr, _ = hyperlvq("budget", model, "--target", "avr")
    _, on_arm, _ = hyperlvq("budget", model)

    assert "does not fit" in on_avr
    assert "where a table has at most 32767" in on_avr
    assert "does not fit" not in on_arm


@pytest.mark.parametrize(("limit", "chip"), [("3k", "cortex-m3"), ("6k", "avr"), ("6k", "riscv32")])
def test_fit_chooses_what_the_device_can_hold(folder, tmp_path, limit, chip):
    model = tmp_path / "m.hlvq"
    code, output, errors = hyperlvq(
        *("fit", folder / "colours.csv", "--target", "colour", "-o", model, "--cv", "2"),
        *("--max-flash", limit, "--max-ram", "1k", "--chip", chip, "--json"),
    )

    assert (code, errors) == (0, "")
    budget = json.loads(output)["device"]
    limit_bytes = int(limit[:-1]) * 1024
    assert 0.5 * limit_bytes < budget["flash"] <= limit_bytes
    assert budget["ram"] + budget["stack"] <= 1024
    assert package.load(model)["hidden"].n_units > 30


def test_given_sizes_are_kept(folder, tmp_path):
    model = tmp_path / "m.hlvq"
    hyperlvq(
        *("fit", folder / "colours.csv", "--target", "colour", "-o", model, "--cv", "0"),
        *("--max-flash", "16k", "--n-units", "64", "--prototypes-per-class", "1"),
    )

    loaded = package.load(model)
    assert loaded["hidden"].n_units == 64
    assert loaded["readout"].prototypes_per_class == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--max-flash", "200"], "no model of 4 features and 3 classes fits the device"),
        (["--max-flash", "lots"], "got 'lots'"),
        (["--max-ram", "2k", "--hidden", "rvfl"], "rvfl with glvq cannot be exported to a device"),
        (["--max-ram", "2k", "--chip", "z80"], "invalid value for '--chip'"),
    ],
)
def test_limits_that_cannot_be_kept_are_one_sentence(folder, tmp_path, options, sentence):
    table = folder / "colours.csv"
    code, output, errors = hyperlvq(
        "fit", table, "--target", "colour", "-o", tmp_path / "m.hlvq", *options
    )

    assert (code, output) == (2, "")
    assert errors.startswith("hyperlvq: ")
    assert errors.count("\n") == 1
    assert sentence in errors
    assert not list(tmp_path.iterdir())
