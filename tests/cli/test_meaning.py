"""A table means at prediction what it meant in training, or one sentence says why not."""

import json
from datetime import time

import pandas as pd
import pytest
from shell import check_is_refused, hyperlvq, output_of
from small_tables import QUICK


@pytest.fixture
def files(tmp_path):
    """Return what writes the text of files and returns their paths."""

    def write(*texts):
        paths = [tmp_path / f"{position}.csv" for position in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return paths

    return write


@pytest.fixture
def fit(tmp_path):
    """Return what fits the column y of a table, and returns the model."""

    def fitted(table, *options, target="y"):
        model = tmp_path / "m.hlvq"
        code, _, errors = hyperlvq("fit", table, "-t", target, "-o", model, *QUICK, *options)
        assert (code, errors) == (0, "")
        return model

    return fitted


MONEY = "income;share;y\n" + "8.654;0,4;rich\n1.020;0,1;poor\n9.100;0,6;rich\n900;0,2;poor\n" * 5
DAYS = "when,y\n" + "24/12/2020,holiday\n5/6/2020,work\n26/12/2020,holiday\n7/7/2020,work\n" * 5
TIMES = "at,y\n" + "8:00,u\n9:00,v\n" * 10


@pytest.mark.parametrize(
    ("learnt", "same", "classes", "shown", "other", "refusal"),
    [
        (
            MONEY,
            "income\tshare\n8654\t1,0\n",
            "rich",
            "900 to 9100, written as 1.234,5\n",
            "income,share\n1,0.5\n",
            "row 1, column 'share': '0.5' is not a number as in training, for example 1.234,5",
        ),
        (
            DAYS,
            "when\n25.12.20\n8-7-2020\n",
            "holiday work",
            "2020-06-05 to 2020-12-26, written as 31/12/2012\n",
            "when\n25/12/2020\n7/13/2020\n",
            "row 2, column 'when': '7/13/2020' is not a date as in training, for example "
            "31/12/2012",
        ),
        (
            DAYS,
            "when\n26/12/2020\n",
            "holiday",
            "2020-06-05 to 2020-12-26",
            "when\n25/12/2099\n",
            "'2099-12-25' is far outside the training range 2020-06-05 to 2020-12-26",
        ),
        (
            TIMES,
            "at\n9:00\n8:30:00\n",
            "v u",
            "08:00:00 to 09:00:00, written as 23:59\n",
            "at\n23:59\n",
            "'23:59:00' is far outside the training range 08:00:00 to 09:00:00",
        ),
    ],
)
def test_forms_and_ranges_are_learnt_shown_and_asked_of_later_tables(
    learnt, same, classes, shown, other, refusal, files, fit
):
    table, same, other = files(learnt, same, other)
    model = fit(table)

    assert output_of("predict", model, same, "--strict").split()[1:] == classes.split()
    assert shown in output_of("show", model)
    check_is_refused(hyperlvq("predict", model, other, "--strict"), refusal)


MOMENTS = pd.to_datetime(["2020-12-24", "2020-06-05"])


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ([True, False], ["True", "False"]),
        (MOMENTS, ["2020-12-24", "2020-06-05"]),
        (MOMENTS.tz_localize("Asia/Tokyo"), ["2020-12-24", "2020-06-05"]),
        ([time(8), time(9)], ["8:00", "9:00"]),
    ],
)
def test_stored_values_are_those_of_text_and_the_other_way_round(stored, text, fit, tmp_path):
    paths = tmp_path / "t.csv", tmp_path / "t.parquet"
    frames = [pd.DataFrame({"x": [*each] * 10, "y": ["u", "v"] * 10}) for each in (text, stored)]
    frames[0].to_csv(paths[0], index=False)
    frames[1].to_parquet(paths[1])

    for learnt, met in (paths, paths[::-1]):
        found = json.loads(output_of("evaluate", fit(learnt), met, "--json"))
        assert (found["accuracy"], found["notes"]) == (1, [])


def test_kept_cells_are_those_of_the_table(files, model):
    rows = ["0,1,x, pad ", "0,1,x,NA", '0,1,x,"say ""?"", 1.0"', "0,1,x,", "0,1,x,007"]
    (table,) = files("\n".join(["a,b,kind,name", *rows, ""]))

    written = output_of("predict", model, table, "--keep", "name").splitlines()

    kept = [row.removeprefix("0,1,x,") for row in rows]
    assert [row.removesuffix(",red") for row in written[1:]] == kept


ASKED = (
    """measured by hand
zip;id;size;kind;y
01234;7;-999;あ;u
98765;8;1,5;い;v
01234;9;k.A.;あ;u
98765;7;2,5;い;v
"""
    + "01234;8;1,5;あ;u\n98765;9;2,5;い;v\n" * 4
)
OPTIONS = ("--encoding", "shift-jis", "--skip-rows", "1")
MISSING = ("--missing", "-999", "--missing", "k.A.")


def test_a_user_may_say_what_a_table_means(fit, tmp_path):
    table = tmp_path / "t.csv"
    table.write_bytes(ASKED.encode("shift-jis"))
    model = fit(table, *OPTIONS, *MISSING, "--category", "id", "--number", "zip")

    about = json.loads(output_of("show", model, "--json"))
    of_zip, of_id, of_size, of_kind = about["columns"]
    assert (of_zip["kind"], of_zip["minimum"]) == ("number", 1234)
    assert of_id["levels"] == ["8", "9", "7"]
    assert (of_size["minimum"], of_size["n_missing"]) == (1.5, 2)
    assert of_kind["levels"] == ["あ", "い"]
    assert about["missing"] == ["-999", "k.A."]
    assert "missing   NA and similar markers, -999, k.A.\n" in output_of("show", model)
    assert json.loads(output_of("evaluate", model, table, *OPTIONS, "--json"))["accuracy"] == 1
    assert output_of("predict", model, table, *OPTIONS).startswith("y\nu\nv\nu\n")


def test_a_word_for_missing_is_one_among_stored_numbers_and_classes(fit, tmp_path):
    frame = pd.DataFrame({"a": [-999.0, 0.0, 1.0, 3.5] * 5, "y": ["x", "u", "v", "v"] * 5})
    frame.to_parquet(tmp_path / "t.parquet")

    model = fit(tmp_path / "t.parquet", "--missing", "-999", "--missing", "x")

    about = json.loads(output_of("show", model, "--json"))
    assert about["classes"] == {"u": 5, "v": 10}
    assert (about["columns"][0]["minimum"], about["columns"][0]["n_missing"]) == (0, 5)


MARRIED = "married,age,y\n" + "True,30,u\nFalse,40,v\n" * 10


@pytest.mark.parametrize(
    ("learnt", "met"),
    [
        (("True", "False"), ("TRUE", "FALSE")),
        (("True", "False"), ("1", "0")),
        (("True", "False"), ("1.0", "0.0")),
        (("yes", "no"), ("Y", "N")),
        (("T", "F"), ("true", "false")),
        (("1", "0"), ("True", "False")),
        (("1", "0"), ("1.0", "0.0")),
        (("1x", "2"), ("1x", "2.0")),
        (("1x", "2.0"), ("1x", "2")),
    ],
)
def test_other_words_for_a_value_are_that_value(learnt, met, files, fit):
    texts = [MARRIED.replace("True", yes).replace("False", no) for yes, no in (learnt, met)]
    table, later = files(*texts)

    found = json.loads(output_of("evaluate", fit(table), later, "--json"))

    assert (found["accuracy"], found["notes"]) == (1, [])


NEW = "married,age,y\nmaybe,35,u\nTrue,300,v\nnever,,u\nTrue,50,v\n"
NOTES = [
    "'married' has values not seen in training: maybe, never (2 rows)",
    "'age' is missing in 1 row, but was never missing in training",
    "'age' is far outside the training range 30 to 40 in 1 row: 300",
]


def test_values_not_seen_in_training_are_noted_once_per_column(files, fit, tmp_path):
    table, later = files(MARRIED, NEW)
    model = fit(table)

    code, output, errors = hyperlvq("predict", model, later)
    assert (code, output.count("\n")) == (0, 5)
    assert errors.splitlines() == [f"note: {note}" for note in NOTES]
    assert hyperlvq("predict", model, later, "--quiet") == (0, output, "")
    assert json.loads(output_of("evaluate", model, later, "--json"))["notes"] == NOTES
    assert NOTES[0] in output_of("evaluate", model, later)


@pytest.mark.parametrize(
    ("rows", "refusal"),
    [
        ("False,33\nmaybe,35\n", "row 2, column 'married': 'maybe' was not seen in training"),
        ("True,300\n", "row 1, column 'age': '300' is far outside the training range 30 to 40"),
        ("True,\n", "row 1, column 'age': the value is missing, but was never missing in training"),
    ],
)
def test_strict_refuses_what_was_not_seen(rows, refusal, files, fit, tmp_path):
    table, later = files(MARRIED, "married,age\n" + rows)
    model, output = fit(table), tmp_path / "p.csv"

    refused = hyperlvq("predict", model, later, "--strict", "-o", output)

    check_is_refused(refused, refusal)
    assert not output.exists()
    later.write_text(later.read_text().replace("\n", ",u\n").replace("age,u", "age,y"))
    check_is_refused(hyperlvq("evaluate", model, later, "--strict"), refusal)
    assert output_of("predict", model, table, "--strict").count("\n") == 21


def test_the_accuracy_of_a_fit_is_that_of_an_export(files, tmp_path):
    rows = [  # 0.7 becomes 1, and an hour of 23.75 becomes 24 of the same day
        f"{i % 10 / 10},2024-01-0{i % 7 + 1} 23:45,{'uv'[i % 10 >= 7 or i % 7 == 6]}\n"
        for i in range(140)
    ]
    (table,) = files("a,when,y\n" + "".join(rows))
    model, device = tmp_path / "m.hlvq", ("--input", "int16")

    fitted = output_of(
        *("fit", table, "-t", "y", "-o", model, "--max-flash", "16k", "--json", *device)
    )
    exported = output_of(
        *("export", model, "-o", tmp_path / "c", "--vectors", table, "--json", *device)
    )

    accuracy = json.loads(fitted)["validation"]["mean"]
    assert accuracy < 0.95
    assert json.loads(exported)["comparison"]["exported_accuracy"] == pytest.approx(
        accuracy, abs=0.03
    )
