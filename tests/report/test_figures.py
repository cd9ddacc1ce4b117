"""Figures: every data set is where its accuracies say."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from hyperlvq.report.figures import SCATTER_SIZE, rank_diagram, scatter_plot
from hyperlvq.report.statistics import compare_models, rank_models
from hyperlvq.study.experiments import MODELS, Comparison

SVG = "{http://www.w3.org/2000/svg}"
PAIR = Comparison("rvfl_rls", "rvfl_glvq", "RLS and GLVQ on RVFL", 2)


def plot(x, y):
    table = pd.DataFrame({"rvfl_rls": x, "rvfl_glvq": y})
    table.index = [f"set-{number}" for number in table.index]
    return ElementTree.fromstring(scatter_plot(table, compare_models(table, [PAIR])[0]))


def place(root):
    return {
        circle.attrib["data-set"]: (float(circle.attrib["cx"]), float(circle.attrib["cy"]))
        for circle in root.iter(f"{SVG}circle")
    }


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


def test_axes_are_equal_and_points_follow_their_accuracies():
    points = place(plot([0.4, 0.6, 1.0], [0.4, 0.8, 0.4]))

    (left, bottom), (middle, top), (right, low) = (points[f"set-{n}"] for n in range(3))
    unit = (right - left) / 0.6
    assert middle - left == pytest.approx(0.2 * unit, abs=0.02)
    assert bottom - top == pytest.approx(0.4 * unit, abs=0.02)
    assert low == bottom
    assert unit == pytest.approx(0.835 * SCATTER_SIZE / (0.6 * 1.05), rel=1e-3)


def test_labels_give_both_means_and_corners_the_wins():
    shown = texts(plot([0.4, 0.6, 0.8], [0.4, 0.8, 0.9]))

    assert "RVFL + RLS (mean 0.600)" in shown
    assert "RVFL + GLVQ (mean 0.700)" in shown
    assert {"2 above", "0 below"} <= set(shown)


def test_sets_without_both_accuracies_are_not_drawn():
    assert list(place(plot([0.4, np.nan, 0.8], [0.4, 0.8, np.nan]))) == ["set-0"]


@pytest.mark.parametrize("accuracy", [0.0, 0.5, 1.0])
def test_a_single_data_set_is_drawn_inside_the_figure(accuracy):
    ((left, top),) = place(plot([accuracy], [accuracy])).values()

    assert 0 < left < SCATTER_SIZE
    assert 0 < top < SCATTER_SIZE


def ranks_of(rng, n_models, n_sets):
    names = list(MODELS)[:n_models]
    return rank_models(pd.DataFrame(rng.uniform(size=(n_sets, n_models)), columns=names))


@pytest.mark.parametrize(("n_models", "n_sets"), [(2, 1), (3, 2), (8, 20), (17, 120)])
def test_the_diagram_names_every_model_with_its_rank(rng, n_models, n_sets):
    ranking = ranks_of(rng, n_models, n_sets)

    shown = " ".join(texts(ElementTree.fromstring(rank_diagram(ranking))))

    for name, rank in ranking.mean_ranks.items():
        assert f"{MODELS[name].title} ({rank:.2f})" in shown
    assert f"critical difference {ranking.critical_difference:.2f}" in shown


def test_equal_models_can_be_drawn():
    table = pd.DataFrame({name: [0.5, 0.6] for name in ("forest", "svm", "knn")})

    assert "random forest" in rank_diagram(rank_models(table))
