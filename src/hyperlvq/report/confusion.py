"""A picture of a confusion matrix."""

import warnings
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from hyperlvq.checks import InputError
from hyperlvq.tables.evaluation import Confusion
from hyperlvq.writing import check_writable, write_bytes

PICTURE_SUFFIXES = (".svg", ".png", ".pdf")
#: With more classes the cells get smaller, and counts in them could not be read.
MOST_COUNTS = 29
LONGEST_SHOWN_LABEL = 16


def check_picture(path: Path) -> None:
    """Refuse a file that could not be drawn to."""
    if path.suffix.lower() not in PICTURE_SUFFIXES:
        raise InputError(f"{path} must be named *.svg, *.png or *.pdf")
    check_writable(path)


def write_confusion(confusion: Confusion, path: Path) -> None:
    """Draw a confusion matrix to a file, in the format its name says."""
    figure = draw_confusion(confusion)
    picture = BytesIO()  # on a full disk matplotlib fails at what a PDF file lacks then
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # of emoji, drawn as a box
        figure.savefig(picture, format=path.suffix[1:].lower(), bbox_inches="tight", dpi=150)
    write_bytes(picture.getvalue(), path)


def draw_confusion(confusion: Confusion) -> Figure:
    """Return the figure: shares of each class's rows as shades, counts as numbers."""
    counts, n_classes = confusion.counts, len(confusion.classes)
    side = max(3.2, min(0.5 * n_classes + 1.5, 16))
    figure = Figure(figsize=(side, side), layout="constrained")
    axes = figure.subplots()
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    names = [_short(name) for name in confusion.classes]
    axes.set_xticks(range(n_classes), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(n_classes), names)
    axes.tick_params(labelsize=min(10, 700 / n_classes))
    axes.set(xlabel="predicted", ylabel="true", title=f"accuracy {confusion.accuracy:.3f}")
    for row, column in np.argwhere(counts) if n_classes <= MOST_COUNTS else ():
        colour = "white" if shares[row, column] > 0.5 else "black"
        count = str(counts[row, column])
        axes.text(column, row, count, ha="center", va="center", color=colour, fontsize=8)
    return figure


def _short(name: str) -> str:
    line = "".join(character if character.isprintable() else "·" for character in name)
    cut = line if len(line) <= LONGEST_SHOWN_LABEL else f"{line[: LONGEST_SHOWN_LABEL - 1]}…"
    return cut.replace("$", r"\$")  # or matplotlib would typeset it
