"""`hyperlvq evaluate`: figures of a model on a table, as text, JSON and a picture."""

import json

import pandas as pd
import pytest
from shell import hyperlvq
from sklearn.metrics import accuracy_score, balanced_accuracy_score, precision_score, recall_score
from small_tables import QUICK, fit_colours

import hyperlvq as package


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fit_colours(tmp_path_factory.mktemp("model"))


@pytest.fixture
def table(model, tmp_path):
    """Return a table with some of the classes exchanged, so that there are mistakes."""
    frame = pd.read_csv(model.with_suffix(".csv"))
    frame.loc[:6, "colour"] = "red"
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def figures(*arguments):
    code, output, errors = hyperlvq("evaluate", *arguments, "--json")
    assert (code, errors) == (0, "")
    return json.loads(output, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_figures_are_those_of_scikit_learn(model, table):
    found = figures(model, table)

    frame = pd.read_csv(table)
    true, predicted = frame["colour"], package.load(model).predict(frame)
    by_class = {each["class"]: each for each in found["classes"]}
    names = sorted(by_class)
    assert found["rows"] == 30
    assert found["accuracy"] == pytest.approx(accuracy_score(true, predicted))
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(true, predicted))
    for name, precision, recall in zip(
        names,
        precision_score(true, predicted, labels=names, average=None),
        recall_score(true, predicted, labels=names, average=None),
        strict=True,
    ):
        assert by_class[name]["precision"] == pytest.approx(precision)
        assert by_class[name]["recall"] == pytest.approx(recall)


def test_text_has_the_same_figures(model, table):
    code, output, errors = hyperlvq("evaluate", model, table)

    assert (code, errors) == (0, "")
    accuracy = figures(model, table)["accuracy"]
    assert output.startswith(
        f"accuracy           {accuracy:.3f}: {round(30 * accuracy)} of 30 rows"
    )
    assert "class  rows  precision  recall" in output
    assert "true \\ predicted  blue  green  red" in output


def test_the_target_is_the_one_of_training_unless_another_is_named(model, table):
    renamed = pd.read_csv(table).rename(columns={"colour": "truth"})
    renamed.to_csv(table.with_name("r.csv"), index=False)

    other = figures(model, table.with_name("r.csv"), "--target", "truth")

    assert other == figures(model, table)


def test_rows_without_a_class_are_left_out_with_a_word(model, table):
    table.write_text(table.read_text() + "1,1,x,\n")

    found = figures(model, table)

    assert found["rows"] == 30
    assert found["notes"] == ["rows without a class, left out: 1"]


def test_unknown_classes_count_as_mistakes_and_are_named(model, table):
    table.write_text(table.read_text() + "1,1,x,mauve\n")

    found = figures(model, table)

    assert found["rows"] == 31
    assert found["notes"] == ["classes that the model does not know: mauve"]
    assert found["classes"][-1] == {"class": "mauve", "rows": 1, "precision": None, "recall": 0.0}


def test_a_class_that_does_not_occur_has_no_recall(model, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,kind,colour\n0,1,x,red\n")

    code, output, _ = hyperlvq("evaluate", model, tmp_path / "t.csv")

    assert code == 0
    assert "blue      0          -       -" in output


@pytest.mark.parametrize(("learnt", "met"), [("1", "1.0"), ("1.0", "1")])
def test_one_is_the_same_class_with_and_without_a_point(learnt, met, tmp_path):
    for name, one in (("train", learnt), ("test", met)):
        rows = f"0,{one}\n5,{one.replace('1', '2')}\n" * 5
        (tmp_path / f"{name}.csv").write_text("a,y\n" + rows)
    hyperlvq("fit", tmp_path / "train.csv", "-t", "y", "-o", tmp_path / "m", *QUICK)

    found = figures(tmp_path / "m", tmp_path / "test.csv")

    assert found["accuracy"] == 1
    assert found["notes"] == []


@pytest.mark.parametrize(
    ("name", "start"), [("c.png", b"\x89PNG"), ("c.svg", b"<?xml"), ("c.pdf", b"%PDF")]
)
def test_the_picture_is_in_the_format_of_its_name(name, start, model, table, tmp_path):
    code, _, errors = hyperlvq("evaluate", model, table, "--picture", tmp_path / name)

    assert (code, errors) == (0, "")
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_on_a_full_disk_is_one_sentence(suffix, model, table, tmp_path):
    picture = tmp_path / f"c.{suffix}"
    picture.symlink_to("/dev/full")

    code, _, errors = hyperlvq("evaluate", model, table, "--picture", picture)

    assert code == 2
    assert errors == f"hyperlvq: {picture} cannot be written: No space left on device\n"


@pytest.mark.parametrize(("asked", "code"), [("0.5", 0), ("0.999", 1)])
def test_an_accuracy_not_reached_is_exit_code_1(asked, code, model, table):
    result = hyperlvq("evaluate", model, table, "--min-accuracy", asked, "--quiet")

    assert result == (code, "", "")


def test_what_is_asked_for_is_still_shown_when_the_accuracy_is_not_reached(model, table):
    code, output, _ = hyperlvq("evaluate", model, table, "--min-accuracy", "0.999")

    assert code == 1
    assert output.startswith("accuracy ")


def test_a_model_of_python_is_evaluated_if_the_target_is_named(table, tmp_path):
    frame = pd.read_csv(table)
    python_model = package.make_classifier("features", "rls").fit(
        frame[["a", "b"]], frame["colour"]
    )
    package.save(python_model, tmp_path / "m.hlvq")

    found = figures(tmp_path / "m.hlvq", table, "--target", "colour")

    assert found["accuracy"] == python_model.score(frame[["a", "b"]], frame["colour"])
