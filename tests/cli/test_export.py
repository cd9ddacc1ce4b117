"""`hyperlvq export`: files that build, and comparisons that are true."""

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from shell import output_of
from sklearn.pipeline import Pipeline

import hyperlvq as package
from hyperlvq.export import compare, make_learner, make_plan, to_c
from hyperlvq.frames import FrameVectorizer


def test_files_of_c_are_written_and_named(model, tmp_path):
    output = output_of("export", model, "--name", "colours", "-o", tmp_path / "firmware")

    names = ["colours.h", "colours.c", "colours.md"]
    assert output.split() == [str(tmp_path / "firmware" / name) for name in names]
    assert sorted(path.name for path in (tmp_path / "firmware").iterdir()) == sorted(names)


def test_the_self_test_of_an_earlier_export_does_not_stay(model, table, tmp_path):
    arguments = ("export", model, "-o", tmp_path / "firmware")
    output_of(*arguments, "--vectors", table)
    assert (tmp_path / "firmware" / "model_selftest.c").exists()

    written = output_of(*arguments).split()

    assert sorted(written) == sorted(map(str, (tmp_path / "firmware").iterdir()))


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


def test_agreement_is_told_where_classes_are_unknown(model, table, tmp_path):
    unlabelled = tmp_path / "unlabelled.csv"
    pd.read_csv(table).drop(columns="colour").to_csv(unlabelled, index=False)

    output = output_of("export", model, "--vectors", unlabelled, "-o", tmp_path / "c")

    assert "agreement" in output
    assert "accuracy" not in output


def test_onnx_gives_the_labels_of_the_plan(model, table, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")

    output = output_of("export", model, "--to", "onnx", "-o", tmp_path / "m.onnx")

    assert output == f"{tmp_path / 'm.onnx'}\n"
    loaded = package.load(model)
    features = loaded["columns"].transform(pd.read_csv(table)).astype(np.float32)
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    (found,) = session.run(["label"], {"features": features})
    assert found.tolist() == make_plan(loaded).predict(features).tolist()


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
