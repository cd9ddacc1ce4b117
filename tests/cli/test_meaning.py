"""A table means at prediction what it meant in training, or one sentence says why not."""

import json

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


def test_marks_of_numbers_are_learnt_shown_and_applied(files, fit):
    table, *same, other = files(
        MONEY, "income;share\n8.654;1\n", "income\tshare\n8654\t1,0\n", "income,share\n1,0.5\n"
    )
    model = fit(table)

    first, second = (output_of("predict", model, each, "--margins") for each in same)
    assert first == second
    assert first.startswith("y,margin\nrich,")
    assert "900 to 9100, written as 1.234,5" in output_of("show", model)
    columns = json.loads(output_of("show", model, "--json"))["columns"]
    assert [(each["decimal"], each["grouping"]) for each in columns] == [(",", ".")] * 2
    check_is_refused(
        hyperlvq("predict", model, other),
        "row 1, column 'share': '0.5' is not a number as in training, such as 1.234,5",
    )


def test_a_fraction_may_come_late(files, fit):
    table, late = files(MONEY, "income;share\n" + "900;1\n" * 20_000 + "900;0,5\n")

    assert output_of("predict", fit(table), late).count("\n") == 20_002


def test_quoted_decimal_commas_between_commas_are_decimal_commas(files, fit):
    rows = '"8,654","0,4",rich\n"1,020","0,1",poor\n' * 5
    (table,) = files("income,share,y\n" + rows)

    columns = json.loads(output_of("show", fit(table), "--json"))["columns"]

    assert [(each["minimum"], each["maximum"]) for each in columns] == [(1.02, 8.654), (0.1, 0.4)]
