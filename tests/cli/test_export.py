"""`hyperlvq export`: files that build, comparisons that are true, refusals in one sentence."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from shell import hyperlvq
from small_tables import fit_colours

import hyperlvq as package
from hyperlvq.export import compare, make_learner, make_plan, to_c
from hyperlvq.export.fitted import device_features


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table and a model of it."""
    folder = tmp_path_factory.mktemp("export")
    fit_colours(folder)
    return folder


def test_files_of_c_are_written_and_named(folder, tmp_path):
    code, output, errors = hyperlvq(
        "export", folder / "colours.hlvq", "--name", "colours", "-o", tmp_path / "firmware"
    )

    names = ["colours.h", "colours.c", "colours.md"]
    assert (code, errors) == (0, "")
    assert output.split() == [str(tmp_path / "firmware" / name) for name in names]
    assert sorted(path.name for path in (tmp_path / "firmware").iterdir()) == sorted(names)


RULES = [{"rule": "perceptron"}, {"rule": "glvq"}]


@pytest.mark.parametrize("learning", [{}, *RULES, *(r | {"learning_rate": 0.125} for r in RULES)])
def test_files_and_comparison_are_those_of_the_library(folder, tmp_path, learning):
    pd = pytest.importorskip("pandas")
    table, given = folder / "colours.csv", tmp_path / "given"
    options = [f"--{name.replace('_', '-')}={value}" for name, value in learning.items()]
    code, output, errors = hyperlvq(
        *("export", folder / "colours.hlvq", "--vectors", table, "-o", given, "--json"),
        *(("--trainable", *options) if learning else ()),
    )

    model = package.load(folder / "colours.hlvq")
    frame = pd.read_csv(table).dropna()
    exported = make_learner(model, **learning) if learning else make_plan(model)
    expected = compare(model, exported, frame, frame["colour"])
    assert (code, errors) == (0, "")
    assert json.loads(output)["comparison"] == pytest.approx(expected._asdict())
    assert 0.9 < expected.agreement <= 1
    to_c(exported, tmp_path / "expected", vectors=device_features(model, frame))
    for file in (tmp_path / "expected").iterdir():
        assert (given / file.name).read_text() == file.read_text()
    if shutil.which("gcc"):
        sources = [given / "model.c", given / "model_selftest.c"]
        command = ["gcc", "-std=c99", "-O1", *sources, "-lm", "-o", given / "test"]
        subprocess.run(command, check=True)
        subprocess.run([given / "test"], check=True)


def test_agreement_is_told_where_classes_are_unknown(folder, tmp_path):
    pd = pytest.importorskip("pandas")
    table = tmp_path / "unlabelled.csv"
    pd.read_csv(folder / "colours.csv").drop(columns="colour").to_csv(table, index=False)

    code, output, errors = hyperlvq(
        "export", folder / "colours.hlvq", "--vectors", table, "-o", tmp_path / "c"
    )

    assert (code, errors) == (0, "")
    assert "agreement" in output
    assert "accuracy" not in output


def test_onnx_gives_the_labels_of_the_plan(folder, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    pd = pytest.importorskip("pandas")

    code, output, errors = hyperlvq(
        "export", folder / "colours.hlvq", "--to", "onnx", "-o", tmp_path / "m.onnx"
    )

    assert (code, output, errors) == (0, f"{tmp_path / 'm.onnx'}\n", "")
    model = package.load(folder / "colours.hlvq")
    frame = pd.read_csv(folder / "colours.csv").dropna()
    features = device_features(model, frame).astype(np.float32)
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    (found,) = session.run(["label"], {"features": features})
    assert found.tolist() == make_plan(model).predict(features).tolist()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--to", "onnx", "--trainable"], "--trainable is for --to c"),
        (["--rule", "glvq"], "--rule says how a device learns: give --trainable as well"),
        (["--learning-rate", "1"], "--learning-rate says how a device learns"),
        (["--trainable", "--learning-rate", "0"], "learning_rate must be a finite number above 0"),
        (["--bits", "16", "--trainable"], "--bits is for models that do not learn"),
        (["--name", "int"], "reserves, got 'int'"),
        (["--name", "9lives"], "name must be a C identifier"),
        (["--bits", "7"], "invalid value for '--bits'"),
        (["--input", "double"], "invalid value for '--input'"),
        (["--vectors", "gone.csv"], "gone.csv"),
    ],
)
def test_wrong_options_are_one_sentence(folder, tmp_path, options, sentence):
    code, output, errors = hyperlvq(
        "export", folder / "colours.hlvq", "-o", tmp_path / "x", *options
    )

    assert (code, output) == (2, "")
    assert errors.startswith("hyperlvq: ")
    assert errors.count("\n") == 1
    assert sentence in errors
    assert not (tmp_path / "x").exists()


def test_what_has_no_integer_form_is_one_sentence(folder, tmp_path):
    hyperlvq(
        *("fit", folder / "colours.csv", "--target", "colour", "-o", tmp_path / "r.hlvq"),
        *("--hidden", "rvfl", "--cv", "0", "--n-units", "20"),
    )

    code, _, errors = hyperlvq("export", tmp_path / "r.hlvq", "-o", tmp_path / "x")

    assert code == 2
    assert errors.startswith("hyperlvq: cannot export RVFLLayer: its real weights")
