"""Matplotlib figures as SVG text that takes its colours and font from the page around it."""

import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import matplotlib
from matplotlib.figure import Figure

# Matplotlib knows no CSS: these stand for the page's colours while it draws. (It leaves black out
# of its output, so no stand-in may be black.) The fallbacks are for an SVG file on its own.
INK, MUTED, FAINT, ACCENT = "#010203", "#010204", "#010205", "#010206"
COLOURS = {
    INK: "currentColor",
    MUTED: "var(--muted, #66707a)",
    FAINT: "var(--line, #d9dde2)",
    ACCENT: "var(--accent, #1c62b0)",
}
FONT = "DejaVu Sans"
SVG = "http://www.w3.org/2000/svg"
XLINK = "{http://www.w3.org/1999/xlink}href"
POINT_RADIUS = "3.4"


@dataclass(frozen=True)
class Point:
    """A data set in a plot: its place in the figure (from the top left) and what it says."""

    name: str
    left: float
    top: float
    text: str


@contextmanager
def drawing_style() -> Iterator[None]:
    """Draw in the page's colours, with text that stays text and the same bytes every time."""
    settings: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "hyperlvq",
        "path.simplify": False,
        "font.family": FONT,
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
    with matplotlib.rc_context(settings):
        yield


def to_svg(figure: Figure, name: str, description: str, points: Iterable[Point] = ()) -> str:
    """Return a figure as an SVG element, its points as elements of their own.

    Parameters
    ----------
    figure : Figure
        Drawn under `drawing_style`, at 72 dots per inch.
    name : str
        Unique on a page; element ids begin with it.
    description : str
        What a reader who cannot see the figure is told.
    points : iterable of Point, default=()
        Each becomes a circle with a title.
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(buffer.getvalue())
    _remove_metadata(root)
    _rename_ids(root, name)
    _describe(root, description)
    _add_points(root, list(points))
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK[1:-5])
    return _with_page_style(ElementTree.tostring(root, encoding="unicode"))


def _remove_metadata(root: ElementTree.Element) -> None:
    """Remove what would differ with the version of matplotlib, or style the whole page."""
    for tag in ("metadata", "defs"):
        for element in root.findall(f"{{{SVG}}}{tag}"):
            if element.find(f"{{{SVG}}}clipPath") is None:
                root.remove(element)


def _rename_ids(root: ElementTree.Element, name: str) -> None:
    """Keep the ids that are referred to, unique on a page of several figures."""
    text = ElementTree.tostring(root, encoding="unicode")
    used = set(re.findall(r"url\(#([^)]+)\)", text)) | set(re.findall(r'href="#([^"]+)"', text))
    for element in root.iter():
        identity = element.attrib.pop("id", None)
        if identity in used:
            element.set("id", f"{name}-{identity}")
        if XLINK in element.attrib:
            element.set(XLINK, f"#{name}-{element.attrib[XLINK][1:]}")
        if "clip-path" in element.attrib:
            element.set("clip-path", element.attrib["clip-path"].replace("#", f"#{name}-"))


def _describe(root: ElementTree.Element, description: str) -> None:
    """Make the drawing an image with a text; the points beside it stay reachable."""
    drawing = ElementTree.Element(f"{{{SVG}}}g", {"role": "img", "aria-label": description})
    drawing.extend(list(root))
    for element in list(root):
        root.remove(element)
    root.append(drawing)
    root.attrib |= {"width": root.attrib["width"].removesuffix("pt")}
    root.attrib |= {"height": root.attrib["height"].removesuffix("pt")}
    root.set("font-family", "system-ui, sans-serif")


def _add_points(root: ElementTree.Element, points: list[Point]) -> None:
    if not points:
        return
    label = "Data sets; the arrow keys go from one to the next"
    group = ElementTree.SubElement(
        root,
        f"{{{SVG}}}g",
        {"class": "points", "role": "list", "aria-label": label}
        | {"fill": ACCENT, "fill-opacity": "0.55", "stroke": ACCENT, "stroke-width": "0.8"},
    )
    for position, point in enumerate(points):
        circle = ElementTree.SubElement(
            group,
            f"{{{SVG}}}circle",
            {"cx": f"{point.left:.2f}", "cy": f"{point.top:.2f}", "r": POINT_RADIUS}
            # One stop for the Tab key a figure; the page's script moves it.
            | {"tabindex": "0" if position == 0 else "-1", "role": "listitem"}
            | {"data-set": point.name},
        )
        ElementTree.SubElement(circle, f"{{{SVG}}}title").text = f"{point.name}: {point.text}"


def _with_page_style(text: str) -> str:
    for stand_in, colour in COLOURS.items():
        text = text.replace(stand_in, colour)
    text = re.sub(r"font-family: [^;\"]*;? ?", "", text)
    text = re.sub(r' transform="rotate\(-0 [^"]*"', "", text)
    return re.sub(r"\s*\n\s*", " ", text)
