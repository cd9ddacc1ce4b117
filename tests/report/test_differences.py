"""What differs from the paper: those that apply, with the study's own figures."""

import pytest

from hyperlvq.report.costs import cost_table
from hyperlvq.report.page import differences
from hyperlvq.report.results import summarise_records


def text_of(records, **options):
    found = differences(summarise_records(records), **options)
    return " ".join(f"{heading}. {text}" for heading, text in found)


def test_the_papers_protocol_tells_of_its_artefacts(record):
    text = text_of([record(dataset="annealing", accuracy=0.2)])

    assert "0.192 on annealing for intRVFL + RLS (0.200 here)" in text
    assert "optimistic for every model" in text
    assert "strict" not in text


def test_the_strict_protocol_says_what_it_means(record):
    text = text_of([record(protocol="strict")])

    assert "Scaling is learnt on the training data alone" in text
    assert "Not comparable one to one" in text
    assert "annealing" not in text


@pytest.mark.parametrize(
    ("heading", "changes", "is_told"),
    [
        ("The precision of RLS", {"solver": "pinv"}, True),
        ("The precision of RLS", {}, False),
        ("The penalty of RLS", {"model": "rvfl_rls"}, True),
        ("The penalty of RLS", {"model": "glvq_features"}, False),
        ("The start of GLVQ", {"model": "glvq_features", "init_noise": 0.1}, True),
        ("The start of GLVQ", {"model": "glvq_features", "init_noise": 1.0}, False),
        ("The start of GLVQ", {"model": "glvq_features"}, False),
        ("The same data sets", {}, False),
    ],
)
def test_what_does_not_differ_is_not_told(record, heading, changes, is_told):
    assert (heading in text_of([record(**changes)])) == is_told


def test_sets_that_could_not_be_read_are_named(record, unreadable):
    assert "miniboone" in text_of([record(), unreadable("miniboone", "no")], has_published=True)
    assert "Not read here" not in text_of([record()], has_published=True)


def test_outside_lines_are_compared_on_common_sets(record):
    runs = [
        record(model="forest", accuracy=0.8),
        record(model="intrvfl_glvq", accuracy=0.7),
        record(model="forest", dataset="wine", accuracy=0.1),
    ]

    text = text_of(runs)

    assert "that both have (1) it reaches 0.8000 and the proposed network 0.7000" in text
    assert "RBF SVM" not in text
    assert "line from outside." in text_of([record(model="svm")])


@pytest.mark.parametrize(("n_seeds", "words"), [(5, "as here"), (2, "here the mean is over 2")])
def test_seeds_are_counted(record, n_seeds, words):
    assert words in text_of([record(seed=seed) for seed in range(n_seeds)])


def test_the_median_cost_is_given(record):
    costs = cost_table({"a": {"n_samples": 1000, "n_units": 500, "n_classes": 2}})

    assert "the median 0.06" in text_of([record()], costs=costs)
