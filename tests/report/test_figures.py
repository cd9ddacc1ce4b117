"""Figures: every data set is where its accuracies say; SVG that fits a page of several."""

from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from hyperlvq.report.figures import (
    SCATTER_SIZE,
    STYLE,
    circles,
    rank_diagram,
    reliability_plot,
    scatter_plot,
    to_svg,
)
from hyperlvq.report.tables import compare_models, rank_models
from hyperlvq.study.experiments import MODELS, ModelPair

SVG = "{http://www.w3.org/2000/svg}"
PAIR = ModelPair("rvfl_rls", "rvfl_glvq", "RLS and GLVQ on RVFL", 2)


def plot(x, y):
    table = pd.DataFrame({"rvfl_rls": x, "rvfl_glvq": y})
    table.index = [f"set-{number}" for number in table.index]
    return scatter_plot(table, next(compare_models(table, [PAIR]).itertuples()))


def places(svg):
    return {
        circle.attrib["data-set"]: (float(circle.attrib["cx"]), float(circle.attrib["cy"]))
        for circle in ElementTree.fromstring(svg).iter(f"{SVG}circle")
    }


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_axes_are_equal_and_points_of_common_sets_follow_their_accuracies():
    svg = plot([0.4, 0.6, 1.0, np.nan], [0.4, 0.8, 0.4, 0.1])

    points = places(svg)
    assert list(points) == ["set-0", "set-1", "set-2"]
    (left, bottom), (middle, top), (right, low) = points.values()
    unit = (right - left) / 0.6
    assert middle - left == pytest.approx(0.2 * unit, abs=0.02)
    assert bottom - top == pytest.approx(0.4 * unit, abs=0.02)
    assert low == bottom
    assert unit == pytest.approx(0.835 * SCATTER_SIZE / (0.6 * 1.05), rel=1e-3)
    labels = {"RVFL + RLS (mean 0.667)", "RVFL + GLVQ (mean 0.533)", "1 above", "1 below"}
    assert labels <= set(texts(svg))
    assert texts(svg).count("0.8") == 2


@pytest.mark.parametrize("accuracy", [0.0, 0.5, 1.0])
def test_a_single_data_set_is_drawn_inside_the_figure(accuracy):
    ((left, top),) = places(plot([accuracy], [accuracy])).values()

    assert 0 < left < SCATTER_SIZE
    assert 0 < top < SCATTER_SIZE


@pytest.mark.parametrize(("n_models", "n_sets"), [(2, 1), (3, 2), (8, 20), (17, 120)])
def test_the_diagram_names_every_model_and_has_a_bar_for_every_clique(rng, n_models, n_sets):
    accuracies = rng.uniform(size=(n_sets, n_models))
    ranking = rank_models(pd.DataFrame(accuracies, columns=list(MODELS)[:n_models]))

    diagram = rank_diagram(ranking)

    shown = texts(diagram)
    for name, rank in ranking.mean_ranks.items():
        assert f"{MODELS[name].title} ({rank:.2f})" in shown
    assert f"critical difference {ranking.critical_difference:.2f}" in shown
    assert diagram.count("text-anchor: end") == (n_models + 1) // 2  # the better half, on the left
    assert diagram.count("stroke-width: 3.5") == len(ranking.cliques) > 0


def test_equal_models_can_be_drawn():
    table = pd.DataFrame({name: [0.5, 0.6] for name in ("forest", "svm", "knn")})

    assert "random forest" in rank_diagram(rank_models(table))


def draw(name="one", description="A line.", points=""):
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(2, 2), dpi=72)
        axes = figure.add_axes((0.2, 0.2, 0.7, 0.7))
        axes.plot([0, 1], [0, 1], marker="o")
        axes.set_xlabel("a < b & c")
    return to_svg(figure, name, description, points)


def ids(svg):
    return {e.attrib["id"] for e in ElementTree.fromstring(svg).iter() if "id" in e.attrib}


def test_a_drawing_is_an_image_with_text_in_the_colours_and_fonts_of_the_page():
    svg = draw(description='A "line".')

    assert "a < b & c" in texts(svg)
    assert "currentColor" in svg
    assert "var(--muted" in svg
    assert not any(other in svg for other in ("#0102", "DejaVu", "<style", "metadata"))
    (image,) = ElementTree.fromstring(svg).findall(f"{SVG}g[@role='img']")
    assert image.attrib["aria-label"] == 'A "line".'


def test_ids_of_two_figures_do_not_clash_and_all_references_resolve():
    first, second = draw("one"), draw("two")

    assert ids(first)
    assert not ids(first) & ids(second)
    for name in ids(first):
        assert f"#{name}" in first


@pytest.mark.parametrize("name", ["iris", "a<b>&\"c'"])
def test_a_point_is_an_element_with_a_title(name):
    points = circles([(name, 10, 20, "x 0.5; y 0.6"), ("wine", 30, 40, "x 1; y 1")])

    found = list(ElementTree.fromstring(draw(points=points)).iter(f"{SVG}circle"))

    assert found[0].attrib["data-set"] == name
    assert found[0].findtext(f"{SVG}title") == f"{name}: x 0.5; y 0.6"
    assert (found[0].attrib["cx"], found[0].attrib["cy"]) == ("10.00", "20.00")
    assert [circle.attrib["tabindex"] for circle in found] == ["0", "-1"]


@pytest.mark.parametrize("n_models", [1, 5])
def test_reliability_has_a_panel_per_model_with_its_mean_distance(n_models):
    table = pd.DataFrame({"share": [0.2, 0.8], "confidence": [0.5, 0.9], "right": [0.6, 0.85]})
    tables = dict.fromkeys(list(MODELS)[:n_models], table)

    svg = reliability_plot(tables)

    # 0.2 × 0.1 + 0.8 × 0.05
    assert [text for text in texts(svg) if text.endswith("(0.060)")] == [
        f"{MODELS[name].title} (0.060)" for name in tables
    ]
