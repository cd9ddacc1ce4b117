"""The page and the Markdown: every part that applies, nothing that was not escaped."""

import re
from html.parser import HTMLParser

import pytest

from hyperlvq.checks import InputError
from hyperlvq.report.page import draw_figures, make_report, render_markdown, render_page
from hyperlvq.report.published import read_published
from hyperlvq.study.experiments import MODELS

SECTIONS = ["means", "plots", "comparisons", "ranks", "costs", "sets", "failures", "differences"]
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Outline(HTMLParser):
    """Check that tags nest, and collect ids and text."""

    def __init__(self, page):
        super().__init__()
        self.open, self.ids, self.words = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def page_of(records, published=None):
    report = make_report(records, published)
    return render_page(report, draw_figures(report))


def sections(page):
    return re.findall(r'<section id="(\w+)">', page)


@pytest.fixture(scope="module")
def full_report(records, published_path):
    return make_report(records, read_published(published_path))


@pytest.fixture(scope="module")
def full_page(full_report):
    return render_page(full_report, draw_figures(full_report))


def test_a_full_study_has_every_section_and_six_plots(full_page):
    assert sections(full_page) == SECTIONS
    assert full_page.count('class="points"') == 6


def test_tags_nest_and_ids_are_unique(full_page):
    ids = Outline(full_page).ids

    assert len(ids) == len(set(ids))


def test_the_page_refers_to_nothing_outside(full_page):
    without_names = full_page.replace("http://www.w3.org/", "")

    assert not re.search(r"https?:|src=|@import|url\((?!#)", without_names)


def test_the_page_is_the_same_every_time(full_report, full_page):
    assert render_page(full_report, draw_figures(full_report)) == full_page


def test_a_study_of_the_papers_size_is_small(full_page):
    # 30 data sets here, 120 there.
    assert len(full_page.encode()) * 4 < 900_000


def test_means_stand_beside_the_papers(full_report, full_page):
    mean = full_report.summary.loc["rls_features"]

    assert f"<b>{mean.mean_accuracy:.4f}</b></td>" in full_page
    assert f">{mean.paper_mean:.4f}</td>" in full_page
    assert ">0.80*</td>" in full_page


def test_sections_without_their_models_are_left_out(record):
    page = page_of([record(model="forest"), record(model="svm")])

    assert sections(page) == ["means", "sets", "differences"]
    assert "Paper" not in page


def test_a_single_record_makes_a_page(record):
    page = page_of([record()])

    assert sections(page) == ["means", "costs", "sets", "differences"]
    assert "paper protocol" in page


def test_costs_come_from_the_records_where_the_published_file_has_no_sizes(record, tmp_path):
    path = tmp_path / "paper.csv"
    path.write_text("dataset,intrvfl_rls_acc\niris,0.9\n")

    page = page_of([record()], read_published(path))

    assert "the runs of intRVFL + RLS on 1 data sets" in page


def test_names_and_errors_are_escaped(record, unreadable):
    evil = "<script>alert(1)</script>"
    models = ("rvfl_rls", "rvfl_glvq", "intrvfl_rls")
    records = [record(model=model, dataset=evil) for model in models]

    page = page_of([*records, unreadable("wine", evil)])

    assert evil not in page
    assert "".join(Outline(page).words).count(evil) >= 3


def test_degenerate_statistics_are_dashes(record):
    page = page_of([record(model=model) for model in ("rvfl_rls", "rvfl_glvq", "intrvfl_rls")])

    assert sections(page) == [
        "means",
        "plots",
        "comparisons",
        "ranks",
        "costs",
        "sets",
        *SECTIONS[-1:],
    ]
    assert "nan" not in re.sub(r"<script>.*</script>", "", page, flags=re.S).lower()
    assert ">–</td>" in page


def test_the_markdown_has_the_same_tables(full_report):
    text = render_markdown(full_report)

    tables = re.findall(r"(?:^\|.*\n)+", text, flags=re.M)
    assert len(tables) == 6
    for table in tables:
        assert len({line.replace(r"\|", "").count("|") for line in table.splitlines()}) == 1
    assert text.count("\n| set-0") == 30
    for model in MODELS.values():
        assert f"| {model.title} | 30 |" in text


def test_the_markdown_has_no_runs_of_empty_lines(full_report, record):
    for report in (full_report, make_report([record()])):
        text = render_markdown(report)

        assert "\n\n\n" not in text
        assert text.endswith("\n")
        assert not text.startswith("\n")


def test_the_papers_correlations_stand_beside_its_figures_alone(records, published_path):
    with_paper, without = page_of(records, read_published(published_path)), page_of(records)

    assert "(paper 0.78)" in with_paper
    assert "(paper 0.78)" not in without


def test_a_figure_of_built_in_data_is_not_compared_with_the_papers(record, published_path):
    with pytest.raises(InputError, match="this study is of built-in data"):
        make_report([record(source="built-in")], read_published(published_path))


def test_a_seed_counts_only_with_all_the_splits_it_shall_have(record):
    runs = [record(split=split, n_splits=4) for split in range(2)]

    with pytest.raises(InputError, match="no complete result"):
        make_report(runs)
