"""The figures of a report as SVG: accuracies, the critical-difference diagram, reliability.

Their text stays text, and they take colours and font from the page around them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from io import StringIO
from math import ceil, floor
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hyperlvq.report.tables import Ranking
from hyperlvq.study.experiments import MODELS

# Matplotlib knows no CSS: these stand for the page's colours while it draws. (It leaves black out
# of its output, so no stand-in may be black.) The fallbacks are for an SVG file on its own.
INK, MUTED, FAINT, ACCENT = "#010203", "#010204", "#010205", "#010206"
COLOURS = {
    INK: "currentColor",
    MUTED: "var(--muted, #66707a)",
    FAINT: "var(--line, #d9dde2)",
    ACCENT: "var(--accent, #1c62b0)",
}
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "path.simplify": False,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "grid.color": FAINT,
    "grid.linewidth": 0.8,
}
#: What must not be in a page: rules for all of it, ids that other figures have too, the font.
UNWANTED = re.compile(
    r'<defs>\s*<style.*?</defs>|(?<=<g) id="[^"]*"|font-family: [^;"]*;? ?'
    r'| transform="rotate\(-0 [^"]*"',
    re.DOTALL,
)
POINTS_PER_INCH = 72
SCATTER_SIZE = 320
DIAGRAM_WIDTH, DIAGRAM_ROW, DIAGRAM_AXIS = 900, 20, 66
PANEL_SIZE, PANEL_COLUMNS = 225, 4


def to_svg(figure: Figure, name: str, description: str, points: str = "") -> str:
    """Return a figure as an SVG element, the same every time, with elements of ours on top.

    The figure was drawn in `STYLE` at 72 dots per inch. `name` is unique on a page, `description`
    is for readers who cannot see the figure.
    """
    output = StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": name}):  # ids are unique by it
        figure.savefig(output, format="svg", transparent=True, metadata=nothing)
    svg = UNWANTED.sub("", re.sub(r"\s*\n\s*", " ", output.getvalue()))
    root, _, drawing = svg[svg.index("<svg") : svg.rindex("</svg>")].partition(">")
    root = re.sub(r'(\d)pt"', r'\1"', root) + ' font-family="system-ui, sans-serif">'
    image = f'<g role="img" aria-label="{escape(description)}">{drawing}</g>'
    text = f"{root}{image}{points}</svg>"
    for stand_in, colour in COLOURS.items():
        text = text.replace(stand_in, colour)
    return text


def scatter_plot(accuracies: pd.DataFrame, result: Any) -> str:
    """Return the plot of one model's accuracies (x) against another's (y) as SVG.

    `result` is their row of `compare_models`.
    """
    x, y = MODELS[result.comparison.x], MODELS[result.comparison.y]
    pairs = accuracies[[x.name, y.name]].dropna().sort_values([x.name, y.name], kind="stable")
    means = f"{x.title} (mean {result.mean_x:.3f})", f"{y.title} (mean {result.mean_y:.3f})"
    description = (
        f"Accuracies on {result.n_sets} data sets, {means[0]} against {means[1]}: the second is "
        f"better on {result.wins}, equal on {result.ties}, worse on {result.losses}."
    )
    with matplotlib.rc_context(STYLE):
        figure = _figure(SCATTER_SIZE, SCATTER_SIZE)
        axes = figure.add_axes((0.15, 0.125, 0.835, 0.835))
        _draw_square(axes, lowest=float(pairs.min().min()))
        axes.set(xlabel=means[0], ylabel=means[1])
        # In the corner where data sets are rarest.
        corner: dict[str, Any] = {"ha": "right", "fontsize": 9, "transform": axes.transAxes}
        axes.text(0.98, 0.085, f"{result.wins} above", color=MUTED, **corner)
        axes.text(0.98, 0.025, f"{result.losses} below", color=MUTED, **corner)
    places = axes.transData.transform(pairs)
    points = [
        (name, left, SCATTER_SIZE - bottom, f"{x.title} {of_x:.3f}; {y.title} {of_y:.3f}")
        for (name, of_x, of_y), (left, bottom) in zip(pairs.itertuples(), places, strict=True)
    ]
    return to_svg(figure, f"{x.name}-{y.name}", description, circles(points))


def circles(points: Iterable[tuple[str, float, float, str]]) -> str:
    """Return the points of a plot as SVG: each a name, its place from the top left, and a text."""
    each = (
        f'<circle cx="{left:.2f}" cy="{top:.2f}" r="3.4" '
        # One stop for the Tab key per figure; the page's script moves it.
        f'tabindex="{0 if position == 0 else -1}" role="listitem" data-set="{escape(name)}">'
        f"<title>{escape(f'{name}: {text}')}</title></circle>"
        for position, (name, left, top, text) in enumerate(points)
    )
    return (
        '<g class="points" role="list" '
        'aria-label="Data sets; the arrow keys go from one to the next" '
        f'fill="{ACCENT}" fill-opacity="0.55" stroke="{ACCENT}" stroke-width="0.8">'
        f"{''.join(each)}</g>"
    )


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width / POINTS_PER_INCH, height / POINTS_PER_INCH), dpi=POINTS_PER_INCH)


def _draw_square(axes: Axes, lowest: float) -> None:
    """Draw equal axes from the tenth below the lowest accuracy to 1, and the diagonal."""
    start = min(floor(lowest * 10) / 10, 0.9)
    limits = (start - 0.025 * (1 - start), 1 + 0.025 * (1 - start))
    axes.set(xlim=limits, ylim=limits, aspect="equal", axisbelow=True)
    axes.locator_params(nbins=6, steps=[1, 2, 2.5, 5, 10])
    axes.set_yticks(ticks := [tick for tick in axes.get_yticks() if limits[0] < tick < limits[1]])
    axes.set_xticks(ticks)
    axes.tick_params(length=0, labelsize=9)
    axes.grid(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.plot(limits, limits, color=MUTED, linewidth=1, dashes=(4, 3))


def rank_diagram(ranking: Ranking) -> str:
    """Return the critical-difference diagram as SVG: bars join models that do not differ."""
    best, worst = floor(ranking.mean_ranks.min()), ceil(ranking.mean_ranks.max())
    n_rows = (len(ranking.mean_ranks) + 1) // 2
    labels_top = DIAGRAM_AXIS + 9 * len(ranking.cliques) + 12
    height = labels_top + DIAGRAM_ROW * n_rows
    with matplotlib.rc_context(STYLE):
        figure = _figure(DIAGRAM_WIDTH, height)
        axes = figure.add_axes((0.3, 0, 0.4, 1))
        # The best rank is on the left; y counts points down from the top.
        axes.set(xlim=(best, max(worst, best + 1)), ylim=(height, 0))
        axes.axis("off")
        _draw_rank_axis(axes, ranking.critical_difference)
        _draw_labels(axes, ranking.mean_ranks, labels_top)
        _draw_cliques(axes, ranking)
    ranks = ", ".join(f"{MODELS[name].title} {r:.2f}" for name, r in ranking.mean_ranks.items())
    description = (
        f"Mean ranks over {ranking.n_sets} data sets, best first: {ranks}. Ranks closer than "
        f"{ranking.critical_difference:.2f} do not differ significantly."
    )
    return to_svg(figure, "ranks", description)


def _draw_line(axes: Axes, ranks: Sequence[float], heights: Sequence[float], **style: Any) -> None:
    axes.plot(ranks, heights, **{"color": INK, "linewidth": 1, "clip_on": False, **style})


def _draw_rank_axis(axes: Axes, difference: float) -> None:
    """Draw the axis of ranks, and above it how long the critical difference is."""
    best, worst = map(round, axes.get_xlim())
    _draw_line(axes, [best, worst], [DIAGRAM_AXIS] * 2)
    for rank in range(best, worst + 1):
        _draw_line(axes, [rank] * 2, [DIAGRAM_AXIS - 5, DIAGRAM_AXIS])
        axes.text(rank, DIAGRAM_AXIS - 9, str(rank), ha="center", fontsize=9, color=MUTED)
    # With few data sets the difference exceeds the axis; the label still says how large it is.
    end = min(best + difference, worst)
    _draw_line(axes, [best, end], [24, 24])
    for edge in (best, end):
        _draw_line(axes, [edge] * 2, [20, 28])
    axes.text(best, 14, f"critical difference {difference:.2f}", fontsize=9)


def _draw_labels(axes: Axes, mean_ranks: pd.Series, top: float) -> None:
    """Write the better half on the left, from the top, and the worse half on the right, up."""
    n_models = len(mean_ranks)
    best, worst = axes.get_xlim()
    margin = 0.015 * (worst - best)
    for position, (name, rank) in enumerate(mean_ranks.items()):
        is_left = position < (n_models + 1) // 2
        row = position if is_left else n_models - 1 - position
        height = top + DIAGRAM_ROW * (row + 0.3)
        edge, gap, side = (best, -margin, "right") if is_left else (worst, margin, "left")
        lines = [rank, rank, edge + gap], [DIAGRAM_AXIS, height, height]
        _draw_line(axes, *lines, color=MUTED, linewidth=0.8)
        text = f"{MODELS[name].title} ({rank:.2f})"
        axes.text(edge + 2 * gap, height, text, ha=side, va="center_baseline", fontsize=10)


def _draw_cliques(axes: Axes, ranking: Ranking) -> None:
    margin = 0.006 * float(np.ptp(axes.get_xlim()))
    for level, clique in enumerate(ranking.cliques):
        ranks = ranking.mean_ranks[list(clique)]
        ends = [ranks.min() - margin, ranks.max() + margin]
        heights = [DIAGRAM_AXIS + 10 + 9 * level] * 2
        bar = {"color": ACCENT, "linewidth": 3.5, "solid_capstyle": "butt"}
        _draw_line(axes, ends, heights, **bar)


def reliability_plot(tables: Mapping[str, pd.DataFrame]) -> str:
    """Return how often predictions are right against their confidence, a panel per model, as SVG.

    A point is larger the more samples are so confident; on the diagonal confidence is what it says,
    and in brackets is the mean distance from it.
    """
    n_columns = min(PANEL_COLUMNS, len(tables))
    n_rows = ceil(len(tables) / n_columns)
    errors = {
        name: ((table["confidence"] - table["right"]).abs() * table["share"]).sum()
        for name, table in tables.items()
    }
    with matplotlib.rc_context(STYLE):
        figure = _figure(PANEL_SIZE * n_columns, PANEL_SIZE * n_rows)
        panels = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
        figure.subplots_adjust(0.06, 0.17 / n_rows, 0.99, 1 - 0.1 / n_rows, wspace=0.1, hspace=0.2)
        figure.supxlabel("confidence", fontsize=10)
        figure.supylabel("share that is right", fontsize=10)
        for panel in panels:
            panel.axis("off")
        for panel, (name, table) in zip(panels, tables.items(), strict=False):
            panel.axis("on")
            _draw_square(panel, lowest=0)
            panel.set_title(f"{MODELS[name].title} ({errors[name]:.3f})", fontsize=9)
            panel.plot(table["confidence"], table["right"], color=ACCENT, linewidth=1)
            sizes = 8 + 120 * table["share"]
            panel.scatter(table["confidence"], table["right"], sizes, color=ACCENT)
    listed = ", ".join(f"{MODELS[name].title} {error:.3f}" for name, error in errors.items())
    return to_svg(figure, "reliability", f"Confidence against accuracy; mean distance: {listed}.")
