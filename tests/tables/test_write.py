"""Predictions as files."""

import numpy as np
import pyarrow as pa
import pytest

from hyperlvq.checks import InputError
from hyperlvq.tables.prediction import Prediction
from hyperlvq.tables.write import check_output, open_output, prediction_table

ROWS = pa.table({"a": ["1", None], "y": ["u", "v"], "margin": ["x", "y"]})
PREDICTED = Prediction(ROWS, np.array(["v", "v"]), np.array([0.5, 2.0]))


def test_kept_columns_come_first():
    table = prediction_table(PREDICTED, "class", ["y", "a"])

    assert table.column_names == ["y", "a", "class", "margin"]


def test_no_kept_column_is_lost_to_a_prediction():
    table = prediction_table(PREDICTED, "y", ["margin", "y"])

    assert table.column_names == ["margin", "y", "predicted_y", "predicted_margin"]
    assert table["y"].to_pylist() == ["u", "v"]


def test_tables_follow_one_another_under_one_header(tmp_path):
    table = prediction_table(PREDICTED, "y", ["a"])
    with open_output(str(tmp_path / "p.csv")) as write:
        write(table)
        write(table)

    assert (tmp_path / "p.csv").read_text() == "a,y,margin\n" + "1,v,0.5\n,v,2\n" * 2


def test_gzip_of_the_same_rows_is_the_same_file(tmp_path):
    contents = []
    for name in ("p.csv.gz", "q.csv.gz"):
        with open_output(str(tmp_path / name)) as write:
            write(prediction_table(PREDICTED, "y", []))
        contents.append((tmp_path / name).read_bytes())

    assert contents[0] == contents[1]


@pytest.mark.parametrize("name", ["p.xlsx", "p", "p.gz", ""])
def test_a_name_without_a_known_format_is_refused(name):
    with pytest.raises(InputError, match=r"must be named \*\.csv"):
        check_output(f"gone/{name}")


@pytest.mark.parametrize("name", ["-", "p.csv", "p.TSV", "p.csv.gz", "p.parquet", "/dev/null"])
def test_known_formats_and_devices_are_fine(name):
    check_output(name)
