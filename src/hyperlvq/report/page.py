"""The report of a study: one HTML page, and its tables as Markdown and CSV beside it."""

import re
from collections.abc import Iterable
from contextlib import ExitStack
from html import escape
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from hyperlvq.checks import InputError
from hyperlvq.report import results, tables
from hyperlvq.report.figures import rank_diagram, reliability_plot, scatter_plot
from hyperlvq.study.experiments import MODELS, ModelPair
from hyperlvq.study.records import Record, read_records
from hyperlvq.writing import replacing

MIN_RANKED = 3
#: A headline on fewer data sets warns that they decide little.
FEWEST_SETS = 20
PAGE_SUFFIXES = (".html", ".htm")
DASH = "–"
#: What ends a cell or begins code, emphasis or a link; `escape` sees to HTML.
MARKDOWN = re.compile(r"[\\`*|\[\]]")
#: What spreadsheets take for the start of a formula, also behind quotes of CSV.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def make_report(
    records: Iterable[Record],
    published: results.Published | None = None,
    reference: str | None = None,
) -> dict[str, Any]:
    """Return what the templates show, by name; a part whose models are absent is empty or None."""
    study = results.summarise_records(records)
    if published is not None and "built-in" in set(study.runs["source"]):
        raise InputError(
            "the paper's figures are of the collection, this study is of built-in data"
        )
    paper, sizes = published or (pd.DataFrame(), pd.DataFrame())
    cost_source = "the published settings"
    if sizes.empty:
        sizes, cost_source = results.recorded_sizes(study), "the runs of intRVFL + RLS"
    accuracies = study.accuracies
    n_seeds = sorted({int(study.n_seeds.min().min()), int(study.n_seeds.max().max())})
    summary = tables.summary_table(study, paper)
    comparisons = list(tables.compare_models(accuracies).itertuples())
    with_figure = [result for result in comparisons if result.comparison.figure]
    report = {
        "study": study,
        "models": MODELS,
        "headline": headline(accuracies),
        "seed_range": "–".join(map(str, n_seeds)),
        "has_published": published is not None,
        "has_quoted": summary["quoted_mean"].notna().any(),
        "has_rls": any(MODELS[name].is_rls for name in accuracies),
        "summary": summary,
        "per_set": tables.per_set_table(study, paper),
        "is_best": accuracies.ge(accuracies.max(axis="columns") - 1e-9, axis="index"),
        "comparisons": comparisons,
        "plotted": sorted(with_figure, key=lambda result: result.comparison.figure),
        "ranking": tables.rank_models(accuracies) if accuracies.shape[1] >= MIN_RANKED else None,
        "standings": None if reference is None else tables.standings(study, reference),
        "reference": None if reference is None else MODELS[reference].title,
        "costs": tables.cost_table(sizes) if len(sizes) else None,
        "cost_source": cost_source,
        "made_costs": tables.made_costs(study),
    }
    return {**report, "differences": differences(report)}


def headline(accuracies: pd.DataFrame) -> str:
    """State the most accurate model, over the data sets that all models have."""
    common = accuracies.dropna()
    n_sets, n_models = common.shape
    if n_models < 2 or not n_sets:
        return ""
    best, second = common.mean().sort_values(ascending=False, kind="stable").index[:2]
    ahead, behind = (f"{MODELS[name].title} ({common[name].mean():.4f})" for name in (best, second))
    sets = "the one data set" if n_sets == 1 else f"the {n_sets} data sets"
    claim = f"{ahead} has the highest mean accuracy on {sets} that all {n_models} models share."
    if n_sets < FEWEST_SETS:
        return f"{claim} {behind} is next. So few data sets cannot tell close models apart."
    result = tables.compare_models(common, [ModelPair(second, best, "")]).iloc[0]
    return (
        f"{claim} It beats the next, {behind}, on {result['wins']} of them and loses on "
        f"{result['losses']} (Wilcoxon p = {p_value(result['wilcoxon'])})."
    )


def differences(report: dict[str, Any]) -> list[list[str]]:
    """Return what a reader must know before comparing a study with the paper: headings, texts."""
    text = render("differences.txt", report)
    return [paragraph.split("\n") for paragraph in re.split(r"\n{2,}", text.strip())]


def draw_figures(report: dict[str, Any]) -> dict[str, str]:
    """Return the figures of a report as SVG, by name."""
    study = report["study"]
    figures = {
        f"figure_{result.comparison.figure}": scatter_plot(study.accuracies, result)
        for result in report["plotted"]
    }
    if report["ranking"] is not None:
        figures["ranks"] = rank_diagram(report["ranking"])
    if study.reliability:
        figures["reliability"] = reliability_plot(study.reliability)
    return figures


def render(name: str, report: dict[str, Any], **others: Any) -> str:
    """Return a template filled in."""
    environment = Environment(
        loader=PackageLoader("hyperlvq.report"),
        autoescape=select_autoescape(["html.jinja"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=number, signed=signed, p_value=p_value, power=power, plain=plain
    )
    return environment.get_template(f"{name}.jinja").render(report, **others)


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with so many digits after the point, a dash where there is none."""
    return DASH if value is None or isnan(value) else f"{value:.{digits}f}"


def signed(value: float | None) -> str:
    """Return a difference with its sign, a true minus for negative ones, none for zero."""
    text = number(value)
    if text == DASH or float(text) == 0:
        return text.removeprefix("-")
    return f"{value:+.4f}".replace("-", "−")


def p_value(value: float | None) -> str:
    """Return a p value with two significant digits, as a power of ten where it is tiny."""
    if value is None or isnan(value):
        return DASH
    return power(value, 1) if 0 < value < 0.0001 else f"{value:.2g}"


def power(value: float, digits: int = 2) -> str:
    """Return a large or a tiny number as a power of ten, such as 1.23 × 10⁶."""
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(SUPERSCRIPTS)}"


def plain(text: str) -> str:
    """Return text that Markdown shows as it is: one line without HTML, links, code or cells."""
    return MARKDOWN.sub(r"\\\g<0>", escape(" ".join(text.split()), quote=False))


def no_formula(text: str) -> str:
    """Return text that a spreadsheet takes for text, also where it looks like a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def write_report(
    folder: str | Path,
    output: str | Path,
    published: str | Path | None = None,
    figures_folder: str | Path | None = None,
    reference: str | None = None,
) -> list[Path]:
    """Write the report of a study and return the files written.

    Beside the page `report.html` go `report.md`, `report_sets.csv` (accuracies by data set) and
    `report_summary.csv` (means by model); there, a name that a spreadsheet would take for a
    formula begins with an apostrophe. With a `published` file the paper's accuracies are shown
    beside those of the study; with a `reference`, `report_standings.csv` has how each model stands
    beside that one; the figures are written to `figures_folder` as SVG files too, if it is given.
    Nothing is written unless all can be made, and no file is ever half-written.
    """
    output = Path(output)
    if output.suffix.lower() not in PAGE_SUFFIXES:
        raise InputError(f"{output} must be named *.html: the report is a page")
    if not output.parent.is_dir():
        raise InputError(f"{output.parent} is not a folder")
    records = read_records(folder)
    paper = None if published is None else results.read_published(published)
    report = make_report(records, paper, reference)
    figures = draw_figures(report)
    csv = {"sets": report["per_set"].rename(index=no_formula), "summary": report["summary"]}
    if reference is not None:
        csv["standings"] = report["standings"]
    contents = {output.with_suffix(".md"): render("report.md", report)}
    for name, table in csv.items():
        contents[output.with_name(f"{output.stem}_{name}.csv")] = table.to_csv(lineterminator="\n")
    if figures_folder is not None:
        target = Path(figures_folder)
        try:
            target.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"{target} cannot be made a folder: {error.strerror}") from None
        contents |= {target / f"{name}.svg": figure for name, figure in figures.items()}
    contents[output] = render("page.html", report, figures=figures)
    if published is not None and Path(published).resolve() in map(Path.resolve, contents):
        raise InputError(f"{published} would be overwritten: give the report another name")
    with ExitStack() as files:  # every file has a temporary name before the first gets its own
        for path, content in contents.items():
            part = files.enter_context(replacing(path))
            part.write_text(content, encoding="utf-8", newline="\n")
    return list(contents)
