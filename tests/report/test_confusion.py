"""Pictures of confusions: every class has its name, and nothing is typeset or cut by its label."""

import numpy as np
import pytest

from hyperlvq.report.confusion import MOST_COUNTS, draw_confusion, write_confusion
from hyperlvq.tables.evaluation import Confusion


def confusion_of(*names):
    return Confusion(names, np.eye(len(names), dtype=np.int64) * 7)


def drawn(confusion):
    """Return the names of the classes, the counts and the title."""
    (axes,) = draw_confusion(confusion).axes
    names, counts = axes.get_yticklabels(), axes.texts
    return [t.get_text() for t in names], [t.get_text() for t in counts], axes.get_title()


def test_classes_are_named_and_rows_counted_less_zeros():
    without_rows = Confusion(("a", "b"), np.array([[3, 1], [0, 0]]))

    assert drawn(confusion_of("red", "green")) == (["red", "green"], ["7", "7"], "accuracy 1.000")
    assert drawn(without_rows) == (["a", "b"], ["3", "1"], "accuracy 0.750")


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
    assert drawn(confusion_of(name, "b"))[0] == [shown, "b"]


def test_too_many_classes_have_no_counts():
    assert drawn(confusion_of(*map(str, range(MOST_COUNTS + 1))))[1] == []


@pytest.mark.parametrize("name", ["c.png", "c.svg", "c.PDF"])
def test_emoji_are_drawn_without_a_warning(name, tmp_path):
    write_confusion(confusion_of("🐧", "b"), tmp_path / name)

    assert (tmp_path / name).stat().st_size > 1000
