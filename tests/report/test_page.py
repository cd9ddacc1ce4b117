"""The page and the Markdown, nothing in them unescaped; the files, all of them or none."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hyperlvq.checks import InputError
from hyperlvq.report.page import (
    differences,
    draw_figures,
    make_report,
    no_formula,
    number,
    p_value,
    plain,
    power,
    render,
    signed,
    write_report,
)
from hyperlvq.report.results import read_published
from hyperlvq.study.experiments import MODELS

SECTIONS = ["means", "plots", "comparisons", "ranks", "costs", "sets", "failures", "differences"]
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Outline(HTMLParser):
    """Check that tags nest, and collect ids."""

    def __init__(self, page):
        super().__init__()
        self.open, self.ids = [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page_of(report):
    return render("page.html", report, figures=draw_figures(report))


def sections(page):
    return re.findall(r'<section id="(\w+)">', page)


def without_script(page):
    return re.sub(r"<script>.*</script>", "", page, flags=re.S).lower()


@pytest.fixture(scope="module")
def full_report(records, published_path):
    return make_report(records, read_published(published_path))


@pytest.fixture(scope="module")
def full_page(full_report):
    return page_of(full_report)


def test_a_full_study_has_every_section_and_six_plots_in_tags_that_nest(full_page):
    assert sections(full_page) == SECTIONS
    assert full_page.count('class="points"') == 6
    ids = Outline(full_page).ids
    assert len(ids) == len(set(ids))


def test_the_page_is_small_always_the_same_and_refers_to_nothing_outside(full_report, full_page):
    without_names = full_page.replace("http://www.w3.org/", "")

    assert not re.search(r"https?:|src=|@import|url\((?!#)", without_names)
    assert page_of(full_report) == full_page
    assert len(full_page.encode()) * 4 < 900_000  # 30 data sets here, 120 in the paper


def test_means_and_correlations_stand_beside_the_papers(full_report, full_page, records):
    mean = full_report["summary"].loc["rls_features"]

    assert f"<b>{mean.mean_accuracy:.4f}</b></td>" in full_page
    assert f">{mean.paper_mean:.4f}</td>" in full_page
    assert ">0.80*</td>" in full_page
    assert "(paper 0.78)" in full_page
    assert "(paper 0.78)" not in page_of(make_report(records))


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        (["forest", "svm"], ["means", "sets", "differences"]),
        (["intrvfl_rls"], ["means", "costs", "sets", "differences"]),
        (["rvfl_rls", "rvfl_glvq", "intrvfl_rls"], [*SECTIONS[:-2], "differences"]),
    ],
)
def test_a_single_data_set_has_the_sections_of_its_models_without_numbers_that_are_none(
    record, models, expected
):
    measured = {"log_loss": 0.5, "fit_seconds": 0.1}
    page = page_of(make_report([record(model=model, **measured) for model in models]))

    assert sections(page) == expected
    assert "Paper" not in page
    assert "nan" not in without_script(page)
    assert (">–</td>" in page) == ("comparisons" in expected)


def test_costs_come_from_the_records_where_the_published_file_has_no_sizes(record, tmp_path):
    path = tmp_path / "paper.csv"
    path.write_text("dataset,intrvfl_rls_acc\niris,0.9\n")

    page = page_of(make_report([record()], read_published(path)))

    assert "the runs of intRVFL + RLS on 1 data sets" in page


def test_models_are_sorted_by_accuracy_and_the_headline_names_the_best(full_report, full_page):
    means = full_report["study"].accuracies.mean()
    best, second = (MODELS[name].title for name in means.index[:2])

    assert means.is_monotonic_decreasing
    assert f'<p class="headline">{best} ({means.iloc[0]:.4f}) has the highest' in full_page
    assert f"It beats the next, {second} ({means.iloc[1]:.4f}), on " in full_page
    assert full_page.index(f'<th scope="row">{best}') < full_page.index(f'<th scope="row">{second}')


def test_a_headline_on_few_data_sets_warns_and_one_model_has_none(record):
    accuracies = {"forest": 0.8, "svm": 0.7}
    runs = [record(model=name, accuracy=value) for name, value in accuracies.items()]

    assert make_report(runs)["headline"].endswith("cannot tell close models apart.")
    assert make_report(runs[:1])["headline"] == ""


def test_page_and_markdown_state_both_ways_to_count_samples_and_the_iterations_made(record):
    sizes = {"n_units": 300, "n_splits": 1}
    report = make_report([record(), record(model="intrvfl_glvq", iterations=20, **sizes)])
    texts = page_of(report), render("report.md", report)

    for text in texts:
        assert "In the last two columns T counts the training samples only" in text.replace(
            "\n", " "
        )
        assert "by iterations made" in text.lower()
        assert "all samples of the data sets that are split" in text
    assert "20.4 % and 83.6 %" in texts[1]


def test_the_markdown_has_the_same_tables(full_report):
    text = render("report.md", full_report)

    tables = re.findall(r"(?:^\|.*\n)+", text, flags=re.M)
    assert len(tables) == 6
    for table in tables:
        assert len({line.replace(r"\|", "").count("|") for line in table.splitlines()}) == 1
    assert text.count("\n| set-0") == 30
    for model in MODELS.values():
        assert re.search(
            rf"^\| {re.escape(model.title)} \| 0\.\d{{4}} .*\| 30 \|", text, flags=re.M
        )


def test_the_markdown_has_no_runs_of_empty_lines(full_report, record):
    for report in (full_report, make_report([record()])):
        text = render("report.md", report)

        assert "\n\n\n" not in text
        assert text.strip("\n") + "\n" == text


UNREAD = {"model": None, "dataset": "miniboone", "error": "no"}
OUTSIDE = [
    {"model": "forest", "accuracy": 0.8},
    {"model": "intrvfl_glvq", "accuracy": 0.7},
    {"model": "forest", "dataset": "wine", "accuracy": 0.1},
]


@pytest.mark.parametrize(
    ("runs", "has_published", "texts", "others"),
    [
        (
            [{"dataset": "annealing", "accuracy": 0.2}],
            False,
            [
                "0.192 on annealing for intRVFL + RLS (0.200 here)",
                "settings found that way are optimistic",
            ],
            ["strict", "The precision of RLS", "The start of GLVQ", "Same data sets"],
        ),
        (
            [{"protocol": "strict"}],
            False,
            ["Scaling uses the training data only", "Different protocols"],
            ["annealing"],
        ),
        ([{}, UNREAD], True, ["Not read here: miniboone."], []),
        ([{}], True, ["Same data sets"], ["Not read here"]),
        ([{"solver": "pinv"}], False, ["The precision of RLS"], []),
        ([{"model": "rvfl_rls"}], False, ["The penalty of RLS"], []),
        ([{"model": "glvq_features"}], False, [], ["The penalty of RLS", "The start of GLVQ"]),
        ([{"model": "glvq_features", "init_noise": 0.1}], False, ["The start of GLVQ"], []),
        ([{"model": "glvq_features", "init_noise": 1.0}], False, [], ["The start of GLVQ"]),
        ([{"model": "svm"}], False, ["This study adds RBF SVM."], ["random forest"]),
        (
            OUTSIDE,
            False,
            ["both have (1) it reaches 0.8000 and the proposed network 0.7000"],
            [],
        ),
        ([{"n_train": 1000, "n_units": 500, "n_classes": 2}], False, ["the median 0.06"], []),
        ([{"seed": seed} for seed in range(5)], False, ["as this study does"], []),
        ([{"seed": seed} for seed in range(2)], False, ["this study over 2"], []),
    ],
)
def test_only_what_differs_from_the_paper_is_told(record, runs, has_published, texts, others):
    report = make_report(record(**run) for run in runs)

    told = differences(report | {"has_published": has_published})
    text = " ".join(f"{heading}. {paragraph}" for heading, paragraph in told)
    assert [each for each in texts if each not in text] == []
    assert [each for each in others if each in text] == []


@pytest.mark.parametrize(
    ("show", "value", "text"),
    [
        *(
            (show, value, "–")
            for show in (number, signed, p_value)
            for value in (None, float("nan"))
        ),
        (number, 0.81951, "0.8195"),
        (signed, 0.0016, "+0.0016"),
        (signed, -0.0016, "−0.0016"),
        (signed, -0.00001, "0.0000"),
        (p_value, 0.04567, "0.046"),
        (p_value, 0.005, "0.005"),
        (p_value, 1.0, "1"),
        (p_value, 0.0, "0"),
        (p_value, 9.96e-6, "1.0 × 10⁻⁵"),
        (power, 9.999e11, "1.00 × 10¹²"),
        (plain, "a\nb | c", "a b \\| c"),
        (plain, "<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        (plain, "&lt;img&gt;", "&amp;lt;img&amp;gt;"),
        (plain, "![a](http://b)", "!\\[a\\](http://b)"),
        (plain, "a\\|b", "a\\\\\\|b"),
        (plain, "`a` *b*", "\\`a\\` \\*b\\*"),
        (plain, "breast-cancer_R.dat: 5 > 4", "breast-cancer_R.dat: 5 &gt; 4"),
        *((no_formula, f"{start}cmd|'!A0", f"'{start}cmd|'!A0") for start in "=+-@\t\r"),
        (no_formula, "a=b-c", "a=b-c"),
    ],
)
def test_numbers_are_short_and_text_stays_text(show, value, text):
    assert show(value) == text


def test_a_page_its_tables_and_its_figures_are_written(study_folder, tmp_path, published_path):
    paths = write_report(study_folder, tmp_path / "report.html", published_path, tmp_path / "svg")

    tables = ["report.md", "report_sets.csv", "report_summary.csv"]
    figures = [*(f"figure_{number}.svg" for number in range(2, 8)), "ranks.svg"]
    assert [path.name for path in paths] == [*tables, *figures, "report.html"]
    assert sorted(path.name for path in (tmp_path / "svg").iterdir()) == figures
    sets = pd.read_csv(tmp_path / "report_sets.csv", index_col="dataset")
    summary = pd.read_csv(tmp_path / "report_summary.csv", index_col="model")
    published_columns = 8
    assert sets.shape == (30, len(MODELS) + published_columns)
    assert summary.loc["forest", "mean_accuracy"] == pytest.approx(sets["forest"].mean())
    assert summary.loc["kglvq", "correlation"] > 0.9


def test_standings_and_reliability_are_shown_where_there_are_any(write_study, record):
    bins = [[0, 0, 0]] * 9 + [[38, 36.5, 35]]
    measured = {"log_loss": 0.25, "confidence_bins": bins, "fit_seconds": 1.5}
    folder = write_study(record(model="forest", **measured), record(model="svm", accuracy=0.8))

    paths = write_report(folder, folder / "r.html", reference="svm")

    page = paths[-1].read_text(encoding="utf-8")
    assert sections(page) == ["means", "standings", "reliability", "sets", "differences"]
    for text in (page, paths[0].read_text(encoding="utf-8")):
        assert "All data sets: 1" in text
        assert "0.2500" in text
        assert "nan" not in without_script(text)
    table = pd.read_csv(folder / "r_standings.csv", index_col="model")
    assert table["mean_log_loss"].tolist() == pytest.approx([0.25, np.nan], nan_ok=True)


def test_names_in_records_are_no_markup_and_no_formulas_and_numbers_are_exact(write_study, record):
    image = "<img src=x onerror=alert(1)>"
    fields = {"protocol": image, "settings": f"{image}[a](b)", "accuracy": 0.1 + 0.2}
    folder = write_study(
        record(dataset=f"{image}|", **fields),
        record(dataset="=cmd|' /C calc'!A0", **fields),
        record(model=None, dataset=f"{image}2", error=image, **fields | {"accuracy": None}),
    )

    markdown, *_, page = write_report(folder, folder / "r.html")

    for path in (markdown, page):
        assert "<img" not in path.read_text(encoding="utf-8")
    text = markdown.read_text(encoding="utf-8")
    assert "&lt;img src=x onerror=alert(1)&gt;\\| |" in text
    assert "&gt;\\[a\\](b)" in text
    table = pd.read_csv(folder / "r_sets.csv", engine="pyarrow", index_col="dataset")
    assert table["intrvfl_rls"].to_dict() == dict.fromkeys(
        ("'=cmd|' /C calc'!A0", f"{image}|"), 0.1 + 0.2
    )


@pytest.mark.parametrize(
    ("output", "options", "message"),
    [
        ("r.md", {}, r"r\.md must be named \*\.html"),
        ("none/r.html", {}, "none is not a folder"),
        ("folder.html", {}, r"folder\.html cannot be written: it is a folder"),
        ("taken.html", {}, r"taken_summary\.csv cannot be written: it is a folder"),
        ("r.html", {"figures_folder": "file"}, "file cannot be made a folder: File exists"),
        ("r.html", {"published": "r_sets.csv"}, "would be overwritten: give the report another"),
    ],
)
def test_what_cannot_be_written_leaves_what_was_there(
    write_study, record, published_path, monkeypatch, output, options, message
):
    folder = write_study(record())
    monkeypatch.chdir(folder)
    Path("folder.html").mkdir()
    Path("taken_summary.csv").mkdir()
    for name in ("file", "taken.html", "taken.md"):
        Path(name).write_text("old")
    Path("r_sets.csv").write_bytes(published_path.read_bytes())
    before = sorted(folder.iterdir())

    with pytest.raises(InputError, match=message):
        write_report(**{"folder": folder, "output": output} | options)

    assert sorted(folder.iterdir()) == before
    assert Path("taken.md").read_text() == Path("taken.html").read_text() == "old"
