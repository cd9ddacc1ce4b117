"""`hyperlvq predict` and `evaluate`: which columns they need, what they write, and where."""

import gzip
import json
import subprocess
import sys
from io import BytesIO, StringIO

import pandas as pd
import pytest
from shell import PROGRAM, hyperlvq, hyperlvq_bytes
from sklearn.metrics import balanced_accuracy_score
from small_tables import QUICK, colour_rows, fit_colours

import hyperlvq as package

FULL = b"hyperlvq: standard output cannot be written: No space left on device\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fit_colours(tmp_path_factory.mktemp("model"))


@pytest.fixture
def table(model):
    return model.with_suffix(".csv")


@pytest.fixture
def expected(model, table):
    return package.load(model).predict(pd.read_csv(table)).tolist()


@pytest.mark.parametrize("command", ["predict", "evaluate", "show"])
def test_commands_that_only_use_a_model_start_without_what_takes_long_to_load(
    command, model, table
):
    program = (
        "import sys\nfrom hyperlvq.cli import main\ntry:\n    main()\nexcept SystemExit:\n"
        "    print(*{'sklearn', 'pandas', 'numba', 'scipy'} & {*sys.modules}, file=sys.stderr)"
    )
    arguments = [command, model] if command == "show" else [command, model, table]

    found = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True)

    assert found.stderr == b"\n"


def test_reordered_and_extra_columns_do_not_matter(model, table, expected, tmp_path):
    frame = pd.read_csv(table).assign(extra="?", more=1)
    frame[["more", "kind", "colour", "b", "extra", "a"]].to_csv(tmp_path / "t.csv", index=False)

    for path in (table, tmp_path / "t.csv"):
        code, output, errors = hyperlvq("predict", model, path, "--quiet")

        assert (code, errors) == (0, "")
        assert output.splitlines() == ["colour", *expected]


def test_a_level_never_seen_and_missing_values_are_fine(model, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,kind\n0,,new\n,1,\n,,\n")

    code, output, errors = hyperlvq("predict", model, tmp_path / "t.csv", "--margins")

    assert (code, errors) == (0, "")
    assert len(output.splitlines()) == 4


def test_kept_columns_stand_before_the_predictions(model, table, expected):
    _, output, _ = hyperlvq("predict", model, table, "--keep", "b", "--keep", "colour")

    found = pd.read_csv(StringIO(output))
    assert found.columns.tolist() == ["b", "colour", "predicted_colour"]
    assert found[["b", "colour"]].equals(pd.read_csv(table)[["b", "colour"]])
    assert found["predicted_colour"].tolist() == expected


def test_margins_are_the_lead_over_the_next_class(model, table):
    _, output, _ = hyperlvq("predict", model, table, "--margins")

    scores = package.load(model).decision_function(pd.read_csv(table))
    scores.sort(axis=1)
    found = [float(line.split(",")[1]) for line in output.splitlines()[1:]]
    assert found == (scores[:, -1] - scores[:, -2]).tolist()


READERS = {
    "p.csv": pd.read_csv,
    "p.tsv": lambda path: pd.read_csv(path, sep="\t"),
    "p.csv.gz": pd.read_csv,
    "P.CSV": pd.read_csv,
    "p.parquet": pd.read_parquet,
}


@pytest.mark.parametrize("name", READERS)
def test_the_name_says_the_format(name, model, table, expected, tmp_path):
    output = tmp_path / name
    arguments = ("predict", model, table, "-o", output, "--margins", "--keep", "a")

    assert hyperlvq(*arguments) == (0, f"{output}: 30 rows predicted\n", "")
    found = READERS[name](output)
    assert found.columns.tolist() == ["a", "colour", "margin"]
    assert found["colour"].tolist() == expected
    assert hyperlvq(*arguments, "--quiet") == (0, "", "")


def test_a_device_gets_csv(model, table):
    assert hyperlvq("predict", model, table, "-o", "/dev/null", "-q") == (0, "", "")


def test_quotes_are_only_where_they_are_needed(model, table, tmp_path):
    frame = pd.read_csv(table).head(3)
    frame["name"] = ["plain", 'a "b", c', None]
    frame.to_csv(tmp_path / "t.csv", index=False)

    _, output, _ = hyperlvq("predict", model, tmp_path / "t.csv", "--keep", "name")

    assert output == 'name,colour\nplain,red\n"a ""b"", c",green\n,blue\n'


def test_kept_cells_of_parquet_are_text_that_reads_back(model, table, tmp_path):
    frame = pd.read_csv(table).head(2)
    frame["day"] = pd.to_datetime(["2024-02-29", "2024-03-01"]).date
    frame["flag"], frame["whole"], frame["list"] = [True, None], [1.0, 2.5], [[1, 2], None]
    frame.to_parquet(tmp_path / "t.parquet")
    kept = [part for name in ("day", "flag", "whole", "list") for part in ("--keep", name)]

    _, output, _ = hyperlvq("predict", model, tmp_path / "t.parquet", *kept)

    assert output == (
        'day,flag,whole,list,colour\n2024-02-29,True,1,"[1, 2]",red\n2024-03-01,,2.5,,green\n'
    )


def to_parquet(content):
    buffer = BytesIO()
    pd.read_csv(BytesIO(content)).to_parquet(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("convert", [gzip.compress, to_parquet])
def test_a_table_from_standard_input_may_be_packed_or_parquet(convert, model, table, expected):
    content = convert(table.read_bytes())

    code, output, _ = hyperlvq_bytes("predict", model, "-", standard_input=content)

    assert code == 0
    assert output.decode().split()[1:] == expected


def test_a_reader_that_has_seen_enough_is_no_error(model, tmp_path):
    (tmp_path / "t.csv").write_text("\n".join(["a,b,kind,colour", *colour_rows(100_000)]))
    command = [*PROGRAM, "predict", str(model), str(tmp_path / "t.csv"), "--margins"]

    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()

    assert (first, process.wait(), errors) == (b"colour,margin\n", 0, b"")


@pytest.mark.parametrize("output", ["-", "/dev/null"])
def test_a_full_standard_output_is_one_sentence(output, model, table):
    command = [*PROGRAM, "predict", str(model), str(table), "-o", output]
    with open("/dev/full", "w") as full:
        process = subprocess.run(command, stdout=full, stderr=subprocess.PIPE)

    assert process.returncode == 2
    assert process.stderr == FULL


@pytest.fixture
def mistaken(table, tmp_path):
    """Return a table with some of the classes exchanged, so that there are mistakes."""
    frame = pd.read_csv(table)
    frame.loc[:6, "colour"] = "red"
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def figures(*arguments):
    code, output, errors = hyperlvq("evaluate", *arguments, "--json")
    assert (code, errors) == (0, "")
    return json.loads(output, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_figures_are_the_same_as_json_as_text_and_of_scikit_learn(model, mistaken, expected):
    found = figures(model, mistaken)
    code, output, errors = hyperlvq("evaluate", model, mistaken)

    true = pd.read_csv(mistaken)["colour"]
    n_right = int((true == expected).sum())
    assert (found["rows"], found["accuracy"]) == (30, n_right / 30)
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(true, expected))
    assert found["notes"] == []
    assert (code, errors) == (0, "")
    assert output.startswith(f"accuracy           {n_right / 30:.3f}: {n_right} of 30 rows")
    assert "class  rows  precision  recall" in output
    assert "true \\ predicted  blue  green  red" in output


def test_the_target_is_the_one_of_training_unless_another_is_named(model, mistaken):
    renamed = pd.read_csv(mistaken).rename(columns={"colour": "truth"})
    renamed.to_csv(mistaken.with_name("r.csv"), index=False)

    other = figures(model, mistaken.with_name("r.csv"), "--target", "truth")

    assert other == figures(model, mistaken)


def test_rows_without_a_class_and_unknown_classes_are_noted(model, mistaken):
    mistaken.write_text(mistaken.read_text() + "1,1,x,\n1,1,x,mauve\n")

    found = figures(model, mistaken)

    assert found["rows"] == 31
    assert found["notes"] == [
        "rows without a class, left out: 1",
        "classes that the model does not know: mauve",
    ]
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
    ("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_the_picture_is_in_the_format_of_its_name(suffix, start, model, mistaken, tmp_path):
    picture, full = tmp_path / f"c.{suffix}", tmp_path / f"full.{suffix}"
    full.symlink_to("/dev/full")

    code, _, errors = hyperlvq("evaluate", model, mistaken, "--picture", picture)

    assert (code, errors) == (0, "")
    assert picture.read_bytes().startswith(start)
    code, _, errors = hyperlvq("evaluate", model, mistaken, "--picture", full)
    assert code == 2
    assert errors == f"hyperlvq: {full} cannot be written: No space left on device\n"


@pytest.mark.parametrize(("asked", "code"), [("0.5", 0), ("0.999", 1)])
def test_an_accuracy_not_reached_is_exit_code_1_and_shown(asked, code, model, mistaken):
    arguments = ("evaluate", model, mistaken, "--min-accuracy", asked)

    assert hyperlvq(*arguments, "--quiet") == (code, "", "")
    assert hyperlvq(*arguments)[:2] == (code, hyperlvq("evaluate", model, mistaken)[1])


def test_a_model_of_python_predicts_and_evaluates_a_table(table, tmp_path):
    frame = pd.read_csv(table)
    X, y = frame[["a", "b"]], frame["colour"]
    python_model = package.make_classifier(n_units=20, random_state=0).fit(X, y)
    package.save(python_model, tmp_path / "m.hlvq")

    _, output, _ = hyperlvq("predict", tmp_path / "m.hlvq", table)
    found = figures(tmp_path / "m.hlvq", table, "--target", "colour")

    assert output.splitlines() == ["prediction", *python_model.predict(X)]
    assert found["accuracy"] == python_model.score(X, y)
