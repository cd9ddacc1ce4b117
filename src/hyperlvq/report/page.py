"""The report of a study as one HTML page or as Markdown: pure, from records to text."""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from hyperlvq.checks import InputError
from hyperlvq.report import formats
from hyperlvq.report.costs import CostTable, cost_rows, cost_table, has_cost_columns
from hyperlvq.report.differences import Note, differences
from hyperlvq.report.figures import rank_diagram, scatter_plot
from hyperlvq.report.published import Published
from hyperlvq.report.results import Study, summarise_records
from hyperlvq.report.statistics import ComparisonResult, Ranking, compare_models, rank_models
from hyperlvq.report.tables import PAPER_SUFFIX, per_set_table, summary_table
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.records import Record

MIN_RANKED = 3


@dataclass(frozen=True)
class Report:
    """Everything a report shows; a part whose models are absent is empty or None."""

    study: Study
    has_published: bool
    summary: pd.DataFrame
    per_set: pd.DataFrame
    comparisons: list[ComparisonResult]
    ranking: Ranking | None
    costs: CostTable | None
    cost_source: str
    notes: list[Note]

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
    def plotted(self) -> list[ComparisonResult]:
        """The comparisons that the paper has a figure of, in its order."""
        with_figure = [result for result in self.comparisons if result.comparison.figure]
        return sorted(with_figure, key=lambda result: result.comparison.figure or 0)


def make_report(records: Iterable[Record], published: Published | None = None) -> Report:
    """Work out the tables and statistics of a report."""
    records = list(records)
    study = summarise_records(records)
    if published is not None and "built-in" in study.sources:
        raise InputError(
            "the paper's figures are of the collection, this study is of built-in data"
        )
    paper = None if published is None else published.accuracies
    costs, cost_source = _costs(records, published)
    ranking = rank_models(study.accuracies) if study.accuracies.shape[1] >= MIN_RANKED else None
    return Report(
        study,
        has_published=published is not None,
        summary=summary_table(study, paper),
        per_set=per_set_table(study, paper),
        comparisons=compare_models(study.accuracies),
        ranking=ranking,
        costs=costs,
        cost_source=cost_source,
        notes=differences(study, costs, has_published=published is not None),
    )


def _costs(records: list[Record], published: Published | None) -> tuple[CostTable | None, str]:
    if published is not None and has_cost_columns(published.rows):
        return cost_table(published.rows), "the published settings"
    rows = cost_rows(records)
    return (cost_table(rows) if rows else None), "the runs of intRVFL + RLS"


def draw_figures(report: Report) -> dict[str, str]:
    """Return the figures of a report as SVG, by name."""
    figures = {
        f"figure_{result.comparison.figure}": scatter_plot(report.study.accuracies, result)
        for result in report.plotted
    }
    if report.ranking is not None:
        figures["ranks"] = rank_diagram(report.ranking)
    return figures


def render_page(report: Report, figures: dict[str, str]) -> str:
    """Return the report as one HTML page that needs nothing from elsewhere."""
    template = _environment().get_template("page.html.jinja")
    return template.render(
        report=report, figures=figures, models=MODELS, rows=_per_set_rows(report)
    )


def render_markdown(report: Report) -> str:
    """Return the report's tables and notes as Markdown."""
    template = _environment().get_template("report.md.jinja")
    return template.render(report=report, models=MODELS, rows=_per_set_rows(report))


def _per_set_rows(report: Report) -> list[dict]:
    """Return a row a data set: a cell a model, with the paper's figure and whether it is best."""
    best = report.study.accuracies.max(axis="columns")
    return [
        {
            "dataset": dataset,
            "cells": [
                {
                    "ours": row[name],
                    "paper": row.get(name + PAPER_SUFFIX),
                    "is_best": row[name] >= best[dataset] - 1e-9,
                }
                for name in report.study.accuracies
            ],
        }
        for dataset, row in report.per_set.iterrows()
    ]


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hyperlvq.report"),
        autoescape=lambda name: name is not None and ".html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = ("number", "signed", "p_value", "power", "plain")
    environment.filters |= {name: getattr(formats, name) for name in names}
    return environment
