"""The report of a study: one HTML page, and its tables as Markdown and CSV beside it."""

import re
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from html import escape
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from hyperlvq.checks import InputError
from hyperlvq.report import results
from hyperlvq.report.costs import CostTable, cost_table, published_sizes, recorded_sizes
from hyperlvq.report.figures import rank_diagram, reliability_plot, scatter_plot
from hyperlvq.report.results import Published, Study
from hyperlvq.report.standings import standings
from hyperlvq.report.statistics import ComparisonResult, Ranking, compare_models, rank_models
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.records import Record, read_records
from hyperlvq.writing import replacing

MIN_RANKED = 3
PAGE_SUFFIXES = (".html", ".htm")
DASH = "–"
#: What ends a cell or begins code, emphasis or a link; `escape` sees to HTML.
MARKDOWN = re.compile(r"[\\`*|\[\]]")
#: What spreadsheets take for the start of a formula, also behind quotes of CSV.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Report:
    """Everything a report shows; a part whose models are absent is empty or None."""

    study: Study
    has_published: bool
    summary: pd.DataFrame
    per_set: pd.DataFrame
    comparisons: list[ComparisonResult]
    ranking: Ranking | None
    reference: str | None
    standings: pd.DataFrame | None
    costs: CostTable | None
    cost_source: str

    @property
    def seed_range(self) -> str:
        """The smallest and the largest number of seeds of a model on a data set."""
        fewest, most = int(self.study.n_seeds.min().min()), int(self.study.n_seeds.max().max())
        return str(most) if fewest == most else f"{fewest}–{most}"

    @property
    def has_quoted(self) -> bool:
        """Whether a mean is shown that the paper gives in its text alone."""
        return bool(self.summary["quoted_mean"].notna().any())

    @property
    def is_best(self) -> pd.DataFrame:
        """Whether a model is the best on a data set, by data set and model."""
        accuracies = self.study.accuracies
        return accuracies.ge(accuracies.max(axis="columns") - 1e-9, axis="index")

    @property
    def plotted(self) -> list[ComparisonResult]:
        """The comparisons that the paper has a figure of, in its order."""
        with_figure = [result for result in self.comparisons if result.comparison.figure]
        return sorted(with_figure, key=lambda result: result.comparison.figure or 0)


def make_report(
    records: Iterable[Record], published: Published | None = None, reference: str | None = None
) -> Report:
    """Work out the tables and statistics of a report."""
    records = list(records)
    study = results.summarise_records(records)
    if published is not None and "built-in" in study.sources:
        raise InputError(
            "the paper's figures are of the collection, this study is of built-in data"
        )
    paper = None if published is None else published.accuracies
    sizes, cost_source = published_sizes(published), "the published settings"
    if not sizes:
        sizes, cost_source = recorded_sizes(records), "the runs of intRVFL + RLS"
    costs = cost_table(sizes) if sizes else None
    return Report(
        study,
        has_published=published is not None,
        summary=results.summary_table(study, paper),
        per_set=results.per_set_table(study, paper),
        comparisons=compare_models(study.accuracies),
        ranking=rank_models(study.accuracies) if study.accuracies.shape[1] >= MIN_RANKED else None,
        reference=reference,
        standings=None if reference is None else standings(study, reference),
        costs=costs,
        cost_source=cost_source,
    )


def draw_figures(report: Report) -> dict[str, str]:
    """Return the figures of a report as SVG, by name."""
    figures = {
        f"figure_{result.comparison.figure}": scatter_plot(report.study.accuracies, result)
        for result in report.plotted
    }
    if report.ranking is not None:
        figures["ranks"] = rank_diagram(report.ranking)
    if report.study.reliability:
        figures["reliability"] = reliability_plot(report.study.reliability)
    return figures


def render_page(report: Report, figures: dict[str, str]) -> str:
    """Return the report as one HTML page that needs nothing from elsewhere."""
    return _rendered("page.html.jinja", report, figures=figures)


def render_markdown(report: Report) -> str:
    """Return the report's tables and texts as Markdown."""
    return _rendered("report.md.jinja", report)


def _rendered(name: str, report: Report, **others: Any) -> str:
    told = differences(report.study, report.costs, has_published=report.has_published)
    template = _environment().get_template(name)
    return template.render(report=report, models=MODELS, differences=told, **others)


def differences(
    study: Study, costs: CostTable | None = None, *, has_published: bool = False
) -> list[list[str]]:
    """Return what a reader must know before comparing a study with the paper: headings, texts."""
    text = (
        _environment()
        .get_template("differences.txt.jinja")
        .render(
            study=study,
            costs=costs,
            has_published=has_published,
            has_rls=any(MODELS[name].is_rls for name in study.accuracies),
            models=MODELS,
        )
    )
    return [paragraph.split("\n") for paragraph in re.split(r"\n{2,}", text.strip())]


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hyperlvq.report"),
        autoescape=lambda name: name is not None and ".html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: tuple[Callable[..., str], ...] = (number, signed, p_value, power, plain)
    environment.filters |= {function.__name__: function for function in filters}
    return environment


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
    per_set = report.per_set.rename(index=no_formula)
    contents = {
        output.with_suffix(".md"): render_markdown(report),
        output.with_name(f"{output.stem}_sets.csv"): per_set.to_csv(lineterminator="\n"),
        output.with_name(f"{output.stem}_summary.csv"): report.summary.to_csv(lineterminator="\n"),
    }
    if report.standings is not None:
        path = output.with_name(f"{output.stem}_standings.csv")
        contents[path] = report.standings.to_csv(lineterminator="\n")
    if figures_folder is not None:
        target = Path(figures_folder)
        try:
            target.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"{target} cannot be made a folder: {error.strerror}") from None
        contents |= {target / f"{name}.svg": figure for name, figure in figures.items()}
    contents[output] = render_page(report, figures)
    if published is not None and Path(published).resolve() in map(Path.resolve, contents):
        raise InputError(f"{published} would be overwritten: give the report another name")
    with ExitStack() as files:  # every file has a temporary name before the first gets its own
        for path, content in contents.items():
            part = files.enter_context(replacing(path))
            part.write_text(content, encoding="utf-8", newline="\n")
    return list(contents)
