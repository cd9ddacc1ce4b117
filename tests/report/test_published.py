"""Published files: read by name, refused with a line and a column."""

import pytest

from hyperlvq.checks import InputError
from hyperlvq.report.published import read_published

GOOD = "dataset,kglvq_acc,note,rls_features_acc\niris,0.95,x,0.9\nadult,,y,0.8\n"


@pytest.mark.parametrize("text", [GOOD, f"\ufeff{GOOD}\n\n", GOOD.replace(",", " , ")])
def test_columns_are_read_by_name_and_empty_cells_are_missing(tmp_path, text):
    (tmp_path / "paper.csv").write_text(text, encoding="utf-8")

    published = read_published(tmp_path / "paper.csv")

    assert published.accuracies.loc["iris"].to_dict() == {"rls_features": 0.9, "kglvq": 0.95}
    assert published.accuracies["kglvq"].isna().to_dict() == {"iris": False, "adult": True}
    assert published.rows[0]["note"] == "x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "p.csv, line 1: no column 'dataset'"),
        ("name,kglvq_acc\niris,0.9\n", "p.csv, line 1: no column 'dataset'"),
        ("dataset,kglvq_acc,kglvq_acc\n", "p.csv, line 1: column 'kglvq_acc' occurs twice"),
        ("dataset,accuracy\niris,0.9\n", "p.csv, line 1: none of the columns of accuracies"),
        ("dataset,kglvq_acc\n", "p.csv has a header and no rows"),
        ("dataset,kglvq_acc\niris,good\n", "p.csv, line 2, column kglvq_acc: 'good' is not a num"),
        ("dataset,kglvq_acc\niris,95\n", "p.csv, line 2, column kglvq_acc: an accuracy lies from"),
        ("dataset,kglvq_acc\na,1\nb\n", "p.csv, line 3: 1 cells where the header has 2"),
        ("dataset,kglvq_acc\na,1\nb,1\na,1\n", "p.csv, line 4, column dataset: 'a' is on line 2"),
        ("dataset,kglvq_acc\n,1\n", "p.csv, line 2, column dataset: empty"),
        ('dataset,kglvq_acc\n"a"b,1\n', "p.csv, line 2: not a line of a CSV file"),
        ("\x89PNG\udcff", "p.csv is not a CSV file"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path, text, message):
    (tmp_path / "p.csv").write_bytes(text.encode(errors="surrogateescape"))

    with pytest.raises(InputError, match=message):
        read_published(tmp_path / "p.csv")


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv cannot be read: No such file"):
        read_published(tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_published(tmp_path)
