"""SVG text: the page's colours, no ids that clash, the same bytes every time."""

from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from hyperlvq.report.svg import Point, drawing_style, to_svg

SVG = "{http://www.w3.org/2000/svg}"


def draw(name="one", description="A line.", points=()):
    with drawing_style():
        figure = Figure(figsize=(2, 2), dpi=72)
        axes = figure.add_axes((0.2, 0.2, 0.7, 0.7))
        axes.plot([0, 1], [0, 1], marker="o")
        axes.set_xlabel("a < b & c")
        return to_svg(figure, name, description, points)


def ids(text):
    return {e.attrib["id"] for e in ElementTree.fromstring(text).iter() if "id" in e.attrib}


def test_the_same_figure_has_the_same_bytes():
    assert draw() == draw()


def test_text_stays_text_and_is_escaped():
    texts = [element.text for element in ElementTree.fromstring(draw()).iter(f"{SVG}text")]

    assert "a < b & c" in texts


def test_colours_are_the_pages_and_fonts_too():
    text = draw()

    assert "currentColor" in text
    assert "var(--muted" in text
    assert "#0102" not in text
    assert "DejaVu" not in text


def test_nothing_is_said_about_the_tool_the_date_or_other_hosts():
    text = draw().replace("http://www.w3.org/", "")

    assert "metadata" not in text
    assert "http" not in text
    assert "<style" not in text


def test_ids_of_two_figures_do_not_clash_and_all_references_resolve():
    first, second = draw("one"), draw("two")

    assert ids(first)
    assert not ids(first) & ids(second)
    for name in ids(first):
        assert f"#{name}" in first


def test_the_drawing_is_an_image_with_a_text():
    images = ElementTree.fromstring(draw(description="A “line”.")).findall(f"{SVG}g[@role='img']")

    assert [image.attrib["aria-label"] for image in images] == ["A “line”."]


@pytest.mark.parametrize("name", ["iris", "a<b>&\"c'"])
def test_a_point_is_an_element_with_a_title(name):
    points = [Point(name, 10, 20, "x 0.5; y 0.6"), Point("wine", 30, 40, "x 1; y 1")]

    circles = list(ElementTree.fromstring(draw(points=points)).iter(f"{SVG}circle"))

    assert circles[0].attrib["data-set"] == name
    assert circles[0].findtext(f"{SVG}title") == f"{name}: x 0.5; y 0.6"
    assert (circles[0].attrib["cx"], circles[0].attrib["cy"]) == ("10.00", "20.00")
    assert [circle.attrib["tabindex"] for circle in circles] == ["0", "-1"]
