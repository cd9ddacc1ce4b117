"""Files written: all of them or none, and refusals in one sentence."""

import os
from pathlib import Path

import pandas as pd
import pytest

from hyperlvq.checks import InputError
from hyperlvq.report.write import write_report
from hyperlvq.study.experiments import MODELS


def test_a_page_and_its_tables_are_written(study_folder, tmp_path, published_path):
    paths = write_report(study_folder, tmp_path / "report.html", published_path)

    assert [path.name for path in paths] == [
        "report.md",
        "report_sets.csv",
        "report_summary.csv",
        "report.html",
    ]
    sets = pd.read_csv(tmp_path / "report_sets.csv", index_col="dataset")
    summary = pd.read_csv(tmp_path / "report_summary.csv", index_col="model")
    published_columns = 8
    assert sets.shape == (30, len(MODELS) + published_columns)
    assert summary.loc["forest", "mean_accuracy"] == pytest.approx(sets["forest"].mean())
    assert summary.loc["kglvq", "correlation"] > 0.9


def test_csv_numbers_read_back_exactly(write_study, record):
    folder = write_study([record(accuracy=0.1 + 0.2)])

    write_report(folder, folder / "r.html")

    assert pd.read_csv(folder / "r_sets.csv")["intrvfl_rls"][0] == 0.1 + 0.2


def test_csv_has_numbers_but_no_formulas(write_study, record):
    folder = write_study([record(dataset="=cmd|' /C calc'!A0", accuracy=0.25)])

    write_report(folder, folder / "r.html")

    table = pd.read_csv(folder / "r_sets.csv")
    assert table["dataset"][0] == "'=cmd|' /C calc'!A0"
    assert table["intrvfl_rls"][0] == 0.25


def test_markup_in_records_is_text_in_every_file(write_study, record, unreadable):
    image = "<img src=x onerror=alert(1)>"
    fields = {"protocol": image, "settings": f"{image}[a](b)"}
    good = record(dataset=f"{image}|", **fields)
    bad = unreadable(f"{image}2", image) | fields
    folder = write_study([good, bad])

    paths = write_report(folder, folder / "r.html")

    for path in paths:
        if path.suffix != ".csv":
            assert "<img" not in path.read_text(encoding="utf-8")
    text = paths[0].read_text(encoding="utf-8")
    assert "&lt;img src=x onerror=alert(1)&gt;\\| |" in text
    assert "&gt;\\[a\\](b)" in text


def test_figures_are_written_if_asked(study_folder, tmp_path):
    paths = write_report(study_folder, tmp_path / "r.html", figures_folder=tmp_path / "figures")

    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names == [*(f"figure_{number}.svg" for number in range(1, 7)), "ranks.svg"]
    assert tmp_path / "figures" / "ranks.svg" in paths


def test_a_failure_leaves_what_was_there(write_study, record, monkeypatch):
    folder = write_study([record()])
    (folder / "r.html").write_text("old")
    before = sorted(folder.iterdir())
    written = []

    def full_disk(path, content, **options):
        written.append(path)
        if len(written) == 2:
            raise OSError(28, "No space left on device")
        return original(path, content, **options)

    original = Path.write_text
    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(InputError, match=r"r_sets\.csv cannot be written: No space left"):
        write_report(folder, folder / "r.html")

    assert (folder / "r.html").read_text() == "old"
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("r.md", r"r\.md must be named \*\.html"),
        ("none/r.html", "none is not a folder"),
        ("folder.html", r"folder\.html cannot be written: it is a folder"),
        ("taken.html", r"taken\.md cannot be written: it is a folder"),
    ],
)
def test_a_wrong_output_is_refused(write_study, record, output, message):
    folder = write_study([record()])
    (folder / "folder.html").mkdir()
    (folder / "taken.md").mkdir()

    with pytest.raises(InputError, match=message):
        write_report(folder, folder / output)
    assert not list(folder.glob(".*"))


@pytest.mark.skipif(os.access("/", os.W_OK), reason="the superuser may write anywhere")
def test_a_folder_that_cannot_be_written_is_refused(write_study, record, tmp_path):
    folder = write_study([record()])
    (tmp_path / "closed").mkdir(mode=0o500)

    with pytest.raises(InputError, match=r"closed/r\.html cannot be written: Permission denied"):
        write_report(folder, tmp_path / "closed" / "r.html")


def test_a_figures_folder_that_is_a_file_is_refused(write_study, record):
    folder = write_study([record()])
    (folder / "figures").touch()

    with pytest.raises(InputError, match="figures cannot be made a folder: File exists"):
        write_report(folder, folder / "r.html", figures_folder=folder / "figures")

    assert not (folder / "r.html").exists()


def test_a_folder_without_records_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"holds no records\.jsonl"):
        write_report(tmp_path, tmp_path / "r.html")


def test_the_published_table_is_never_overwritten(study_folder, tmp_path, published_path):
    target = tmp_path / "study_sets.csv"
    target.write_bytes(Path(published_path).read_bytes())

    with pytest.raises(InputError, match="would be overwritten: give the report another name"):
        write_report(study_folder, tmp_path / "study.html", target)
