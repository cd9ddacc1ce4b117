import math

import pytest

from hyperlvq.costs import glvq_flops, rls_flops
from hyperlvq.registry import PARTS
from hyperlvq.study.experiments import MODELS
from hyperlvq.study.schedule import (
    FLOPS_PER_SECOND,
    START_SECONDS,
    estimated_seconds,
    longest_first,
)


def seconds(name, n_samples=1000, n_features=20, **changes):
    model = MODELS[name]
    return estimated_seconds(model, {**model.defaults, **changes}, n_samples, n_features, 3)


def flops(name, **changes):
    return (seconds(name, **changes) - START_SECONDS) * FLOPS_PER_SECOND


@pytest.mark.parametrize("name", MODELS)
def test_more_samples_take_longer(name):
    assert START_SECONDS < seconds(name, 100) < seconds(name, 1000)


def test_rls_takes_the_flops_of_the_papers_table():
    assert flops("intrvfl_rls", n_units=300) == pytest.approx(rls_flops(1000, 300, 3))
    assert flops("rls_features") == pytest.approx(rls_flops(1000, 20, 3))


def test_glvq_takes_the_flops_of_the_papers_table():
    n_iter = PARTS["GLVQClassifier"].usual_iterations

    assert flops("intrvfl_glvq", n_units=300, prototypes_per_class=5) == pytest.approx(
        glvq_flops(1000, 300, 3, 5, n_iter)
    )
    assert flops("glvq_features") == pytest.approx(glvq_flops(1000, 20, 3, 3, n_iter))


@pytest.mark.parametrize(
    ("name", "factor"), [("forest", 2), ("svm", 4), ("ridge", 2), ("kglvq", 4)]
)
def test_twice_the_samples_take_as_much_longer_as_the_method_says(name, factor):
    assert flops(name, n_samples=2000) == pytest.approx(factor * flops(name))


@pytest.mark.parametrize(("name", "factor"), [("forest", 1), ("svm", 1), ("ridge", 4)])
def test_twice_the_features_take_as_much_longer_as_the_method_says(name, factor):
    assert flops(name, n_features=40) == pytest.approx(factor * flops(name))


def test_votes_take_as_long_as_all_voters():
    assert flops("intrvfl_glvq_votes") == pytest.approx(10 * flops("intrvfl_glvq"))


def test_limit_of_iterations_counts():
    assert flops("intrvfl_glvq_p1_10") == pytest.approx(glvq_flops(1000, 1000, 3, 1, 10))


@pytest.mark.parametrize("value", [-5, 0, 0.5, 10**400, 1e308])
def test_absurd_setting_is_estimated_all_the_same(value):
    for name in ("intrvfl_rls", "intrvfl_glvq", "kglvq"):
        estimate = seconds(name, n_units=value, prototypes_per_class=value)

        assert START_SECONDS < estimate < math.inf


def test_longest_items_come_first_and_equals_keep_their_order():
    items = ["b1", "c22", "a1", "d333"]

    assert longest_first(items, len) == ["d333", "c22", "b1", "a1"]
    assert longest_first([], len) == []
