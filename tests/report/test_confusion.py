"""Pictures of confusions: every class has its name, and nothing is typeset or cut by its label."""

import numpy as np
import pytest

from hyperlvq.report.confusion import MOST_COUNTS, draw_confusion, write_confusion
from hyperlvq.tables.evaluation import Confusion


def confusion_of(*names):
    return Confusion(names, np.eye(len(names), dtype=np.int64) * 7)


def tick_names(figure):
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def counts_shown(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_classes_are_named_and_rows_counted():
    figure = draw_confusion(confusion_of("red", "green"))

    assert tick_names(figure) == ["red", "green"]
    assert counts_shown(figure) == ["7", "7"]
    assert figure.axes[0].get_title() == "accuracy 1.000"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a very long name of a class", "a very long nam…"),
        ("two\nlines", "two·lines"),
        ("$x^2$", r"\$x^2\$"),
        ("a name of $15 or $20", r"a name of \$15 o…"),
    ],
)
def test_names_are_one_short_line_and_no_formula(name, shown):
    assert tick_names(draw_confusion(confusion_of(name, "b"))) == [shown, "b"]


def test_counts_are_left_out_where_they_are_zero_or_of_too_many_classes():
    names = [f"class {i}" for i in range(MOST_COUNTS + 1)]
    without_rows = Confusion(("a", "b"), np.array([[3, 1], [0, 0]]))

    assert counts_shown(draw_confusion(without_rows)) == ["3", "1"]
    assert counts_shown(draw_confusion(confusion_of(*names))) == []


@pytest.mark.parametrize("name", ["c.png", "c.svg", "c.PDF"])
def test_emoji_are_drawn_without_a_warning(name, tmp_path):
    write_confusion(confusion_of("🐧", "b"), tmp_path / name)

    assert (tmp_path / name).stat().st_size > 1000
