"""`hyperlvq export`, `budget` and `costs`, and sizes that `hyperlvq fit` chooses for a device."""

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from shell import hyperlvq, output_of
from sklearn.pipeline import Pipeline

import hyperlvq as package
from hyperlvq.costs import glvq_flops, glvq_steps, prediction_cost, rls_flops, rls_qr_flops
from hyperlvq.export import compare, make_learner, make_plan, predict_budget, to_c, to_onnx
from hyperlvq.frames import FrameVectorizer

RULES = [{"rule": "perceptron"}, {"rule": "glvq"}]


@pytest.mark.parametrize("learning", [{}, *RULES, *(r | {"learning_rate": 0.125} for r in RULES)])
def test_files_and_comparison_are_those_of_the_library(model, table, tmp_path, learning):
    given = tmp_path / "given"
    options = [f"--{name.replace('_', '-')}={value}" for name, value in learning.items()]
    output = output_of(
        *("export", model, "--vectors", table, "-o", given, "--json"),
        *(("--trainable", *options) if learning else ()),
    )

    loaded, frame = package.load(model), pd.read_csv(table)
    exported = make_learner(loaded, **learning) if learning else make_plan(loaded)
    expected = compare(loaded, exported, frame, frame["colour"])
    assert json.loads(output)["comparison"] == pytest.approx(expected._asdict())
    assert 0.9 < expected.agreement <= 1
    to_c(exported, tmp_path / "expected", vectors=loaded["columns"].transform(frame))
    for file in (tmp_path / "expected").iterdir():
        assert (given / file.name).read_text() == file.read_text()
    if shutil.which("gcc"):
        sources = [given / "model.c", given / "model_selftest.c"]
        command = ["gcc", "-std=c99", "-O1", *sources, "-lm", "-o", given / "test"]
        subprocess.run(command, check=True)
        subprocess.run([given / "test"], check=True)


def test_files_are_named_and_agreement_is_told_where_classes_are_unknown(model, table, tmp_path):
    unlabelled = tmp_path / "unlabelled.csv"
    pd.read_csv(table).drop(columns="colour").to_csv(unlabelled, index=False)

    given = ("--vectors", unlabelled, "--name", "colours", "-o", tmp_path / "c")
    output = output_of("export", model, *given)

    assert "agreement" in output
    assert "accuracy" not in output
    files = [str(tmp_path / "c" / f"colours{end}") for end in (".h", ".c", "_selftest.c", ".md")]
    assert output.split()[-4:] == files
    assert sorted(map(str, (tmp_path / "c").iterdir())) == sorted(files)


def test_onnx_is_that_of_the_library(model, tmp_path):
    pytest.importorskip("onnx", reason="needs onnx")

    output = output_of("export", model, "--to", "onnx", "-o", tmp_path / "m.onnx")

    assert output == f"{tmp_path / 'm.onnx'}\n"
    expected = to_onnx(make_plan(package.load(model)))
    assert (tmp_path / "m.onnx").read_bytes() == expected.SerializeToString()


def test_vote_is_exported_from_its_file_and_takes_rows_with_missing_numbers(table, tmp_path):
    frame = pd.read_csv(table)
    frame.loc[::4, "a"] = np.nan
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    vote = package.HyperLVQClassifier(2, n_units=60, random_state=0)
    columns = FrameVectorizer(["a", "b"], ["kind"], fill=False)
    model = Pipeline([("columns", columns), ("classifier", vote)]).fit(frame, frame["colour"])
    package.save(model, tmp_path / "vote.hlvq")

    for kind, n_left_out in (("float", 0), ("int16", (len(frame) + 3) // 4)):
        paths = tmp_path / "vote.hlvq", "-o", tmp_path / kind, "--vectors", tmp_path / "gaps.csv"
        values = json.loads(output_of("export", *paths, "--input", kind, "--json"))

        assert values["left_out"] == n_left_out
        assert values["comparison"]["agreement"] > 0.9
        expected = to_c(model, tmp_path / "expected", input=kind)[1].read_text()
        assert (tmp_path / kind / "model.c").read_text() == expected


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
    assert "but an AVR can read at most 32767" in on_avr
    assert "does not fit" not in on_arm


@pytest.mark.parametrize("recipe", [True, False])
@pytest.mark.parametrize(("limit", "chip"), [("4k", "cortex-m3"), ("6k", "avr"), ("6k", "riscv32")])
def test_fit_chooses_the_largest_model_that_the_device_can_hold(fit, recipe, limit, chip):
    limits = ("--max-flash", limit, "--max-ram", "1k", "--chip", chip)
    how = ("--readout", "glvq", "--cv", "2") if recipe else ("--cv", "0")
    model, output = fit(*how, *limits, "--json")

    budget = json.loads(output)["device"]
    limit_bytes = int(limit[:-1]) * 1024
    assert 0.5 * limit_bytes < budget["flash"] <= limit_bytes
    assert budget["ram"] + budget["stack"] <= 1024
    loaded = package.load(model)
    if recipe:
        assert loaded["hidden"].n_units > 30
    else:
        assert loaded["classifier"].n_networks == 1
        assert len(loaded["classifier"].kinds_) == loaded["classifier"].n_units + 1 > 30


def test_given_sizes_are_kept(fit):
    given = ("--cv", "0", "--max-flash", "64k", "--n-units", "64")
    network, _ = fit(*given)
    assert package.load(network)["classifier"].n_units == 64

    recipe = package.load(fit(*given, "--prototypes-per-class", "1")[0])
    assert recipe["hidden"].n_units == 64
    assert recipe["readout"].prototypes_per_class == 1


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
    for name, steps in found["training_steps"].items():
        assert sum(steps.values()) == pytest.approx(found["training_flops"][name])
    assert found["training_steps"]["GLVQ"] == glvq_steps(1000, 500, 3, 2, 20)
    assert found["prediction"] == {}
    expected = prediction_cost("intrvfl", 20, 500, 3, form="integer")
    assert with_features["integer"] == expected._asdict()


def test_text_relates_costs_to_least_squares():
    lines = [line.split() for line in output_of(*COSTS, *FEATURES).splitlines()]

    assert lines[0] == ["training", "flops", "relative"]
    assert lines[1][::2] == ["RLS", "1.0000"]
    shares = [float(line[-1]) for line in lines[2:5]]
    assert [line[0] for line in lines[2:5]] == ["Gram", "inverse", "product"]
    assert sum(shares) == pytest.approx(1, abs=2e-4)
    assert ["prediction", "bytes", "operations"] in lines
