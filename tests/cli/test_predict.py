"""`hyperlvq predict` and `evaluate`: which columns they need, what they write, and where."""

import json
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from shell import hyperlvq, output_of
from sklearn.metrics import balanced_accuracy_score
from small_tables import QUICK

import hyperlvq as package


@pytest.fixture(scope="module")
def frame(table):
    return pd.read_csv(table)


@pytest.fixture(scope="module")
def expected(model, frame):
    return package.load(model).predict(frame).tolist()


def test_reordered_and_extra_columns_do_not_matter(model, frame, expected, tmp_path):
    wider = frame.assign(extra="?", more=1)[["more", "kind", "colour", "b", "extra", "a"]]
    wider.to_csv(tmp_path / "t.csv", index=False)

    assert output_of("predict", model, tmp_path / "t.csv").split() == ["colour", *expected]


READERS = {
    "p.csv": partial(pd.read_csv, engine="pyarrow"),
    "p.tsv": lambda path: pd.read_csv(path, sep="\t"),
    "p.csv.gz": pd.read_csv,
    "P.CSV": pd.read_csv,
    "p.parquet": pd.read_parquet,
}


@pytest.mark.parametrize("name", READERS)
def test_the_name_says_the_format(name, model, table, expected, tmp_path):
    output = tmp_path / name
    arguments = ("predict", model, table, "-o", output, "--margins", "--keep", "a")

    assert output_of(*arguments) == f"{output}: 30 rows predicted\n"
    found = READERS[name](output)
    assert found.columns.tolist() == ["a", "colour", "margin"]
    assert found["colour"].tolist() == expected
    assert output_of(*arguments, "--quiet") == ""


@pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_those_of_python_with_four_or_all_digits(
    n_classes, name, frame, tmp_path
):
    table, model, output = (tmp_path / each for each in ("t.csv", "m.hlvq", name))
    rows = frame[frame["colour"] != "blue"] if n_classes == 2 else frame
    rows.to_csv(table, index=False)
    output_of("fit", table, "-t", "colour", "-o", model, *QUICK)
    loaded = package.load(model)
    exact, names = loaded.predict_proba(rows), [f"p_{label}" for label in loaded.classes_]

    for options, expected in (([], exact.round(4)), (["--full"], exact)):
        output_of("predict", model, table, "--proba", *options, "-o", output)

        found = READERS[name](output)
        assert found.columns.tolist() == ["colour", *names]
        np.testing.assert_array_equal(found[names], expected)


def test_printed_probabilities_have_at_most_four_decimals_unless_full(model, table):
    rounded, full = (
        output_of("predict", model, table, "--proba", *options).split("\n", 1)[1]
        for options in ([], ["--full"])
    )

    assert max(map(len, re.findall(r"\.(\d+)", rounded))) == 4
    assert max(map(len, re.findall(r"\.(\d+)", full))) > 10


@pytest.fixture
def mistaken(frame, tmp_path):
    """Return a table with some of the classes exchanged, so that there are mistakes."""
    frame = frame.copy()
    frame.loc[:6, "colour"] = "red"
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def figures(*arguments):
    output = output_of("evaluate", *arguments, "--json")
    return json.loads(output, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_figures_are_the_same_as_json_as_text_and_of_scikit_learn(model, mistaken, expected):
    found, output = figures(model, mistaken), output_of("evaluate", model, mistaken)

    true = pd.read_csv(mistaken)["colour"]
    n_right = int((true == expected).sum())
    assert (found["rows"], found["accuracy"]) == (30, n_right / 30)
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(true, expected))
    assert found["notes"] == []
    assert output.startswith(f"accuracy           {n_right / 30:.3f}: {n_right} of 30 rows")
    assert "class  rows  precision  recall" in output
    assert "true \\ predicted  blue  green  red" in output


def test_rows_without_a_class_and_unknown_classes_are_noted(model, mistaken):
    mistaken.write_text(mistaken.read_text() + "1,1,x,\n1,1,x,mauve\n")

    found = figures(model, mistaken)

    assert found["rows"] == 31
    assert found["notes"] == [
        "rows left out because they have no class: 1",
        "classes unknown to the model: mauve",
    ]
    assert found["classes"][-1] == {"class": "mauve", "rows": 1, "precision": None, "recall": 0.0}


def test_a_class_that_does_not_occur_has_no_recall(model, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,kind,colour\n0,1,x,red\n")

    assert "blue      0          -       -" in output_of("evaluate", model, tmp_path / "t.csv")


@pytest.mark.parametrize(("asked", "code"), [("0.5", 0), ("0.999", 1)])
def test_an_accuracy_not_reached_is_exit_code_1_and_shown(asked, code, model, mistaken):
    arguments = ("evaluate", model, mistaken, "--min-accuracy", asked)

    assert hyperlvq(*arguments, "--quiet") == (code, "", "")
    assert hyperlvq(*arguments)[:2] == (code, output_of("evaluate", model, mistaken))


def test_a_model_of_python_predicts_and_evaluates_a_table(table, frame, tmp_path):
    X, y = frame[["a", "b"]], frame["colour"]
    python_model = package.make_classifier(n_units=20, random_state=0).fit(X, y)
    package.save(python_model, tmp_path / "m.hlvq")

    output = output_of("predict", tmp_path / "m.hlvq", table)
    found = figures(tmp_path / "m.hlvq", table, "--target", "colour")

    assert output.splitlines() == ["prediction", *python_model.predict(X)]
    assert found["accuracy"] == python_model.score(X, y)
