"""The figures of a report: accuracy against accuracy, and the critical-difference diagram."""

from math import ceil, floor
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hyperlvq.report.statistics import ComparisonResult, Ranking
from hyperlvq.report.svg import ACCENT, INK, MUTED, Point, drawing_style, to_svg
from hyperlvq.study.experiments import MODELS

POINTS_PER_INCH = 72
SCATTER_SIZE = 320
DIAGRAM_WIDTH, DIAGRAM_ROW, DIAGRAM_AXIS = 900, 20, 66


def scatter_plot(accuracies: pd.DataFrame, result: ComparisonResult) -> str:
    """Return the plot of one model's accuracies (x) against another's (y) as SVG."""
    x, y = MODELS[result.comparison.x], MODELS[result.comparison.y]
    pairs = accuracies[[x.name, y.name]].dropna().sort_values([x.name, y.name], kind="stable")
    with drawing_style():
        figure = _figure(SCATTER_SIZE, SCATTER_SIZE)
        axes = figure.add_axes((0.15, 0.125, 0.835, 0.835))
        _draw_square(axes, lowest=float(pairs.min().min()))
        axes.set_xlabel(f"{x.title} (mean {result.mean_x:.3f})")
        axes.set_ylabel(f"{y.title} (mean {result.mean_y:.3f})")
        _write_wins(axes, result)
        points = [
            _point(axes, dataset, values, (x.title, y.title))
            for dataset, *values in pairs.itertuples()
        ]
        return to_svg(figure, f"{x.name}-{y.name}", _describe_scatter(result), points)


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width / POINTS_PER_INCH, height / POINTS_PER_INCH), dpi=POINTS_PER_INCH)


def _draw_square(axes: Axes, lowest: float) -> None:
    """Draw equal axes from the tenth below the lowest accuracy to 1, and the diagonal."""
    start = min(floor(lowest * 10) / 10, 0.9)
    limits = (start - 0.025 * (1 - start), 1 + 0.025 * (1 - start))
    axes.set(xlim=limits, ylim=limits, aspect="equal")
    axes.locator_params(nbins=6, steps=[1, 2, 2.5, 5, 10])
    axes.set_yticks(ticks := [tick for tick in axes.get_yticks() if limits[0] < tick < limits[1]])
    axes.set_xticks(ticks)
    axes.tick_params(length=0, labelsize=9)
    axes.grid(True)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.plot(limits, limits, color=MUTED, linewidth=1, dashes=(4, 3))


def _write_wins(axes: Axes, result: ComparisonResult) -> None:
    """Count above and below the diagonal, in the corner where data sets are rarest."""
    style: dict[str, Any] = {"color": MUTED, "fontsize": 9, "transform": axes.transAxes}
    axes.text(0.98, 0.085, f"{result.wins} above", ha="right", **style)
    axes.text(0.98, 0.025, f"{result.losses} below", ha="right", **style)


def _point(axes: Axes, dataset: str, values: list[float], titles: tuple[str, str]) -> Point:
    left, bottom = axes.transData.transform(values)
    text = "; ".join(f"{title} {value:.3f}" for title, value in zip(titles, values, strict=True))
    return Point(dataset, left, axes.figure.bbox.height - bottom, text)


def _describe_scatter(result: ComparisonResult) -> str:
    x, y = MODELS[result.comparison.x].title, MODELS[result.comparison.y].title
    return (
        f"Accuracies on {result.n_sets} data sets, {x} (mean {result.mean_x:.3f}) against {y} "
        f"(mean {result.mean_y:.3f}): the second is better on {result.wins}, equal on "
        f"{result.ties}, worse on {result.losses}."
    )


def rank_diagram(ranking: Ranking) -> str:
    """Return the critical-difference diagram as SVG: bars join models that do not differ."""
    best, worst = floor(ranking.mean_ranks.min()), ceil(ranking.mean_ranks.max())
    n_rows = (len(ranking.mean_ranks) + 1) // 2
    bars_depth = 9 * len(ranking.cliques) + 12
    height = DIAGRAM_AXIS + bars_depth + DIAGRAM_ROW * n_rows
    with drawing_style():
        figure = _figure(DIAGRAM_WIDTH, height)
        axes = figure.add_axes((0.3, 0, 0.4, 1))
        # The best rank is on the left; y counts points down from the top.
        axes.set(xlim=(best, max(worst, best + 1)), ylim=(height, 0))
        axes.axis("off")
        _draw_rank_axis(axes)
        _draw_critical_difference(axes, ranking.critical_difference)
        _draw_labels(axes, ranking.mean_ranks, DIAGRAM_AXIS + bars_depth)
        _draw_cliques(axes, ranking)
        return to_svg(figure, "ranks", _describe_ranks(ranking))


def _draw_rank_axis(axes: Axes) -> None:
    best, worst = map(round, axes.get_xlim())
    axes.plot([best, worst], [DIAGRAM_AXIS] * 2, color=INK, linewidth=1, clip_on=False)
    for rank in range(best, worst + 1):
        ends = [DIAGRAM_AXIS - 5, DIAGRAM_AXIS]
        axes.plot([rank] * 2, ends, color=INK, linewidth=1, clip_on=False)
        axes.text(rank, DIAGRAM_AXIS - 9, str(rank), ha="center", fontsize=9, color=MUTED)


def _draw_critical_difference(axes: Axes, difference: float) -> None:
    start, worst = axes.get_xlim()
    # With few data sets the difference exceeds the axis; the label still says how large it is.
    end = min(start + difference, worst)
    for ranks, heights in (
        ((start, end), (24, 24)),
        ((start,) * 2, (20, 28)),
        ((end,) * 2, (20, 28)),
    ):
        axes.plot(ranks, heights, color=INK, linewidth=1, clip_on=False)
    axes.text(start, 14, f"critical difference {difference:.2f}", fontsize=9)


def _draw_labels(axes: Axes, mean_ranks: pd.Series, top: float) -> None:
    """Write the better half on the left, from the top, and the worse half on the right, up."""
    n_models = len(mean_ranks)
    n_left = (n_models + 1) // 2
    best, worst = axes.get_xlim()
    gap = 0.015 * (worst - best)
    for position, (name, rank) in enumerate(mean_ranks.items()):
        is_left = position < n_left
        row = position if is_left else n_models - 1 - position
        height = top + DIAGRAM_ROW * (row + 0.3)
        edge, side = (best - gap, "right") if is_left else (worst + gap, "left")
        line: dict[str, Any] = {"color": MUTED, "linewidth": 0.8, "clip_on": False}
        axes.plot([rank, rank, edge], [DIAGRAM_AXIS, height, height], **line)
        text = f"{MODELS[name].title} ({rank:.2f})"
        outside = edge - gap if is_left else edge + gap
        axes.text(outside, height, text, ha=side, va="center_baseline", fontsize=10)


def _draw_cliques(axes: Axes, ranking: Ranking) -> None:
    margin = 0.006 * float(np.ptp(axes.get_xlim()))
    for level, clique in enumerate(ranking.cliques):
        ranks = ranking.mean_ranks[list(clique)]
        axes.plot(
            [ranks.min() - margin, ranks.max() + margin],
            [DIAGRAM_AXIS + 10 + 9 * level] * 2,
            color=ACCENT,
            linewidth=3.5,
            solid_capstyle="butt",
            clip_on=False,
        )


def _describe_ranks(ranking: Ranking) -> str:
    ranks = ", ".join(f"{MODELS[name].title} {r:.2f}" for name, r in ranking.mean_ranks.items())
    return (
        f"Mean ranks over {ranking.n_sets} data sets, best first: {ranks}. Ranks closer than "
        f"{ranking.critical_difference:.2f} do not differ significantly."
    )
