"""Tables as people have them: `hyperlvq fit` with no option but the target.

The tutorial, which is run as well, has one of text and numbers.
"""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from shell import PROGRAM, hyperlvq, hyperlvq_bytes
from sklearn.datasets import load_digits, load_wine, make_moons

import hyperlvq as package
from hyperlvq.tables import batches, read


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


#: The accuracy that must be reached; the shares of the largest classes are 0.40, 0.10, 0.50.
TABLES = {wine: 0.95, digits: 0.95, toy: 0.65}
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


def accuracy_of(about):
    """Return the accuracy in cross-validation, or of larger tables that of left-out rows."""
    return about["validation"]["mean"] if about["validation"] else about["left_out"]["accuracy"]


def test_all_rows_and_columns_are_used_with_an_accuracy_far_above_guessing(fitted):
    table, _, about, made_by = fitted

    frame = pd.read_csv(table, **READING.get(made_by, {}))
    varying = frame.columns[frame.nunique() > 1].drop(about["target"])
    used = [column["name"] for column in about["columns"] if column["kind"] != "dropped"]
    assert about["rows"] == len(frame)
    assert used == varying.tolist()
    assert accuracy_of(about) > TABLES[made_by]
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


def peak_bytes(output, *arguments):
    """Run the program to its end, which must be a good one; return the most memory it took."""
    # by a small process: a child starts with the memory of its parent
    script = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[2:], check=True, "
        "stdout=open(sys.argv[1], 'w')); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", script, output, *PROGRAM, *arguments]
    found = subprocess.run([*map(str, command)], check=True, capture_output=True, text=True)
    return 1024 * int(found.stdout)


def test_200_000_rows_are_learnt_within_2_gigabytes_and_predicted_like_few(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200_000)
    X = rng.normal(np.eye(3, 20)[y] * 4).round(3)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(20)])
    table, model, about = tmp_path / "t.csv", tmp_path / "m", tmp_path / "about.json"
    frame.assign(y=np.array(["low", "mid", "high"])[y]).to_csv(table, index=False)

    fit = ("fit", table, "--target", "y", "-o", model, "--networks", "1", "--n-units", "500")
    assert peak_bytes(about, *fit, "--json") < 2e9
    assert json.loads(about.read_text())["rows"] == 200_000
    assert accuracy_of(json.loads(about.read_text())) > 0.9
    frame[:1000].to_csv(tmp_path / "few.csv", index=False)
    _, few, many = (  # the first may compile; how much libraries take depends on the system
        peak_bytes(tmp_path / "classes.csv", "predict", model, rows)
        for rows in (tmp_path / "few.csv", tmp_path / "few.csv", table)
    )
    assert many - few < 100e6
