"""Five tables as people have them: `hyperlvq fit` with no option but the target."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell import PROGRAM, hyperlvq, hyperlvq_bytes
from sklearn.datasets import load_digits, load_wine, make_moons

import hyperlvq as package
from hyperlvq.tables import batches, read

DOCS = Path(__file__).parents[2] / "docs"


def penguins(path):
    path.write_bytes((DOCS / "penguins.csv").read_bytes())
    return "species"


def wine(path):
    frame = load_wine(as_frame=True).frame
    frame["target"] = frame["target"].map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
    frame.to_csv(path, sep=";", decimal=",", index=False)
    return "target"


def digits(path):
    load_digits(as_frame=True).frame.to_csv(path, index=False)
    return "target"


def toy(path):
    X, y = make_moons(200, noise=0.1, random_state=0)
    pd.DataFrame({"x": X[:, 0], "moon": np.where(y, "lower", "upper")}).to_csv(path, index=False)
    return "moon"


#: What cross-validation must reach; the shares of the largest classes are 0.44, 0.40, 0.10, 0.50.
TABLES = {penguins: 0.95, wine: 0.95, digits: 0.95, toy: 0.65}
#: How Python reads the tables for a model.
READING = {wine: {"sep": ";", "decimal": ","}}


@pytest.fixture(scope="module", params=TABLES, ids=lambda table: table.__name__)
def fitted(request, tmp_path_factory):
    """Return the table, its model, what fit said as JSON, and how the table was made."""
    folder = tmp_path_factory.mktemp(request.param.__name__)
    table, model = folder / "table.csv", folder / "model.hlvq"
    target = request.param(table)
    code, output, errors = hyperlvq("fit", table, "--target", target, "-o", model, "--json")
    assert (code, errors) == (0, "")
    return table, model, json.loads(output), request.param


def test_all_rows_and_columns_are_used_with_an_accuracy_far_above_guessing(fitted):
    table, _, about, made_by = fitted

    frame = pd.read_csv(table, **READING.get(made_by, {}))
    varying = frame.columns[frame.nunique() > 1].drop(about["target"])
    used = [column["name"] for column in about["columns"] if column["kind"] != "dropped"]
    assert about["rows"] == len(frame)
    assert used == varying.tolist()
    assert about["validation"]["mean"] > TABLES[made_by]
    assert max(about["classes"].values()) / about["rows"] < TABLES[made_by] - 0.1


def test_the_saved_model_predicts_what_python_predicts(fitted):
    table, model, _, made_by = fitted
    loaded = package.load(model)

    _, output, _ = hyperlvq("predict", model, table, "--margins")

    frame = pd.read_csv(table, **READING.get(made_by, {}))
    found = [line.split(",") for line in output.splitlines()[1:]]
    assert [label for label, _ in found] == loaded.predict(frame).tolist()
    margins = batches.margins_of(loaded.decision_function(frame))
    np.testing.assert_allclose([float(margin) for _, margin in found], margins, rtol=1e-6)


def test_blocks_and_batches_leave_no_trace_in_the_output(fitted, monkeypatch):
    table, model, *_ = fitted
    arguments = ("predict", model, table, "--keep", first_column(table))
    classes = hyperlvq_bytes(*arguments)
    monkeypatch.setattr(batches, "BATCH_ROWS", 100)
    with_margins = hyperlvq_bytes(*arguments, "--margins")
    monkeypatch.setitem(read.open_table.__kwdefaults__, "block_size", 3000)

    assert classes[0] == with_margins[0] == 0
    assert hyperlvq_bytes(*arguments) == classes
    assert hyperlvq_bytes(*arguments, "--margins") == with_margins


def first_column(table):
    return table.read_text().splitlines()[0].replace(";", ",").split(",")[0]


def test_200_000_rows_are_learnt_within_2_gigabytes(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200_000)
    X = rng.normal(np.eye(3, 20)[y] * 4).round(3)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(20)])
    frame.assign(y=np.array(["low", "mid", "high"])[y]).to_csv(tmp_path / "t.csv", index=False)
    arguments = ["fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m", "--json"]

    with open(tmp_path / "about.json", "w") as output:
        process = subprocess.Popen([*PROGRAM, *map(str, arguments)], stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)

    assert process.returncode == 0
    assert usage.ru_maxrss * 1024 < 2e9
    about = json.loads((tmp_path / "about.json").read_text())
    assert about["rows"] == 200_000
    assert about["validation"]["mean"] > 0.9
