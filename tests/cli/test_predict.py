"""`hyperlvq predict`: which columns it needs, what it writes, and where."""

import gzip
import subprocess
import sys
from io import BytesIO, StringIO

import pandas as pd
import pytest
from shell import PROGRAM, hyperlvq, hyperlvq_bytes
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


def test_predictions_come_in_the_order_of_the_rows(model, table, expected):
    code, output, errors = hyperlvq("predict", model, table)

    assert (code, errors) == (0, "")
    assert output.splitlines() == ["colour", *expected]


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

    assert hyperlvq("predict", model, tmp_path / "t.csv")[1].splitlines()[1:] == expected


def test_a_level_never_seen_and_missing_values_are_fine(model, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,kind\n0,,new\n,1,\n,,\n")

    code, output, errors = hyperlvq("predict", model, tmp_path / "t.csv", "--margins")

    assert (code, errors) == (0, "")
    assert len(output.splitlines()) == 4


def test_kept_columns_stand_before_the_predictions(model, table, expected):
    _, output, _ = hyperlvq("predict", model, table, "--keep", "b", "--keep", "kind")

    found = pd.read_csv(StringIO(output))
    assert found.columns.tolist() == ["b", "kind", "colour"]
    assert found["b"].tolist() == pd.read_csv(table)["b"].tolist()
    assert found["colour"].tolist() == expected


def test_a_kept_target_stands_beside_its_prediction(model, table, expected):
    _, output, _ = hyperlvq("predict", model, table, "--keep", "colour")

    found = pd.read_csv(StringIO(output))
    assert found["colour"].tolist() == pd.read_csv(table)["colour"].tolist()
    assert found["predicted_colour"].tolist() == expected


def test_a_target_called_margin_is_not_lost(tmp_path):
    (tmp_path / "t.csv").write_text("a,margin\n" + "1,wide\n2,thin\n" * 5)
    hyperlvq("fit", tmp_path / "t.csv", "-t", "margin", "-o", tmp_path / "m", *QUICK)

    _, output, _ = hyperlvq("predict", tmp_path / "m", tmp_path / "t.csv", "--margins")

    assert output.splitlines()[0] == "margin,predicted_margin"
    assert output.splitlines()[1].startswith("wide,")


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

    result = hyperlvq("predict", model, table, "-o", output, "--margins", "--keep", "a")

    assert result == (0, f"{output}: 30 rows predicted\n", "")
    found = READERS[name](output)
    assert found.columns.tolist() == ["a", "colour", "margin"]
    assert found["colour"].tolist() == expected


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


def test_a_table_from_standard_input_may_be_packed(model, table, expected):
    packed = gzip.compress(table.read_bytes())

    code, output, _ = hyperlvq("predict", model, "-", standard_input=packed)

    assert code == 0
    assert output.splitlines()[1:] == expected


def test_parquet_from_standard_input_is_read(model, table, expected):
    buffer = BytesIO()
    pd.read_csv(table).to_parquet(buffer)

    code, output, _ = hyperlvq_bytes("predict", model, "-", standard_input=buffer.getvalue())

    assert code == 0
    assert output.decode().split()[1:] == expected


def test_quiet_prints_predictions_only(model, table, tmp_path):
    assert hyperlvq("predict", model, table, "-o", tmp_path / "p.csv", "--quiet") == (0, "", "")
    assert hyperlvq("predict", model, table, "--quiet")[1].startswith("colour\n")


def test_a_model_of_python_predicts_a_table(table, tmp_path):
    frame = pd.read_csv(table)[["a", "b"]]
    classes = pd.read_csv(table)["colour"]
    python_model = package.make_classifier(n_units=20, random_state=0).fit(frame, classes)
    package.save(python_model, tmp_path / "m.hlvq")

    _, output, _ = hyperlvq("predict", tmp_path / "m.hlvq", table)

    assert output.splitlines() == ["prediction", *python_model.predict(frame)]


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
