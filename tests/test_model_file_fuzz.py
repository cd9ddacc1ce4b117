"""Thousands of damaged and crafted model files: refused in one sentence, or used without harm."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fuzz_model_files import crafted, damaged
from fuzzing import FACTOR
from shell import hyperlvq
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from small_tables import RECIPE, fit_colours

import hyperlvq as package

pytestmark = pytest.mark.fuzz
TESTS = Path(__file__).parent


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Return paths of models of all kinds."""
    folder = tmp_path_factory.mktemp("models")
    X = np.random.default_rng(0).random((30, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    layer = package.make_classifier("intrvfl", "glvq", n_units=20, random_state=0)
    package.save(layer.fit(frame, ["u", "v", "w"] * 10), folder / "integer.hlvq")
    layer = package.make_classifier("rvfl", "rls", n_units=20, random_state=0)
    package.save(layer.fit(X, [1, 2] * 15), folder / "real.hlvq")
    kernel = package.make_classifier("features", "kglvq", random_state=0)
    package.save(kernel.fit(X, X[:, 0] > 0.5), folder / "kernel.hlvq")
    package.save(package.CentroidClassifier().fit(X, [1.0, 2.0] * 15), folder / "alone.hlvq")
    online = make_pipeline(MinMaxScaler(), package.LVQ1Classifier(random_state=0))
    package.save(online.fit(frame, X[:, 0] > 0.5), folder / "online.hlvq")
    fit_colours(folder, "--cv", "2").rename(folder / "default.hlvq")
    fit_colours(folder, *RECIPE, "--cv", "2")
    return sorted(folder.glob("*.hlvq"))


@pytest.mark.compiled
def test_no_file_runs_code_crashes_hangs_or_fills_the_memory(models, tmp_path):
    program = TESTS / "fuzz_model_files.py"
    sizes = FACTOR, 2000 * FACTOR, 500 * FACTOR  # the first is the seed
    result = subprocess.run(
        [sys.executable, program, *map(str, sizes), *models],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )

    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["refused"] + found["used"] == 2500 * FACTOR
    assert min(found["refused"], found["used"]) > 50 * FACTOR
    assert found["events"] == []
    assert found["slowest"] < 5
    assert found["megabytes"] < 150  # of 300; scikit-learn and numba have the others


@pytest.mark.parametrize("make", [damaged, crafted])
@pytest.mark.parametrize(
    "command",
    [
        ("show",),
        ("show", "--json"),
        ("predict", "{table}"),
        ("evaluate", "{table}", "--target", "colour"),
        ("budget", "--input", "int16"),
        ("export", "-o", "{out}", "--vectors", "{table}"),
    ],
    ids=" ".join,
)
def test_the_command_line_refuses_in_one_sentence(command, make, models, tmp_path):
    rng, path = random.Random(0), tmp_path / "m.hlvq"
    places = {"table": models[0].with_name("colours.csv"), "out": tmp_path / "out"}
    name, *options = (part.format(**places) for part in command)
    for _ in range(25):
        path.write_bytes(make(rng.choice(models).read_bytes(), rng))
        code, _, errors = hyperlvq(name, path, *options)

        lines = errors.splitlines()
        assert code in (0, 2)
        assert len(lines) == 1 if code == 2 else all(each.startswith("note: ") for each in lines)
