"""Every example of the gallery runs and draws something, with nothing cut off."""

import runpy
import sys
from pathlib import Path

import pytest

pyplot = pytest.importorskip("matplotlib.pyplot")

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))
#: Inches by which text may reach over the edge of a figure.
TOLERANCE = 0.05


@pytest.fixture(autouse=True)
def clean_up(monkeypatch):
    pyplot.switch_backend("Agg")
    monkeypatch.setattr(pyplot, "show", lambda: None)
    torch = sys.modules.get("torch")
    n_threads = torch.get_num_threads() if torch else None
    yield
    pyplot.close("all")
    if torch:
        torch.set_num_threads(n_threads)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_draws_complete_figures(path):
    runpy.run_path(str(path), run_name="__main__")

    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    assert figures
    for figure in figures:
        figure.canvas.draw()
        assert any(ax.has_data() for ax in figure.axes)
        drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        assert min(drawn.x0, drawn.y0) >= -TOLERANCE
        assert drawn.x1 <= width + TOLERANCE
        assert drawn.y1 <= height + TOLERANCE


def test_there_are_at_least_twelve_examples():
    assert len(EXAMPLES) >= 12
