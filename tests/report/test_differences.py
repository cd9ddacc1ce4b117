"""Notes on what differs from the paper: those that apply, with the study's own figures."""

import pytest

from hyperlvq.report.costs import COST_COLUMNS, cost_table
from hyperlvq.report.differences import differences
from hyperlvq.report.results import summarise_records


def text_of(records, **options):
    notes = differences(summarise_records(records), **options)
    return " ".join(f"{note.heading}. {note.text}" for note in notes)


def test_the_papers_protocol_tells_of_its_artefacts(record):
    text = text_of([record(dataset="annealing", accuracy=0.2)])

    assert "0.192 on annealing for intRVFL + RLS (0.200 here)" in text
    assert "optimistic for every model" in text
    assert "strict" not in text


def test_the_precision_of_rls_is_told_where_it_is_the_papers(record):
    assert "pseudo-inverse in single precision" in text_of([record(solver="pinv")])
    assert "pseudo-inverse in single precision" not in text_of([record()])


def test_the_penalty_of_rls_is_told_where_there_is_rls(record):
    assert "The penalty of RLS" in text_of([record(model="rvfl_rls")])
    assert "The penalty of RLS" not in text_of([record(model="glvq_features")])


def test_the_start_of_glvq_is_told_where_it_is_not_the_papers(record):
    ours = record(model="glvq_features", init_noise=0.1)

    assert "The start of GLVQ on features and RVFL" in text_of([ours])
    assert "The start of GLVQ" not in text_of([{**ours, "init_noise": 1.0}])
    assert "The start of GLVQ" not in text_of([record(model="glvq_features")])


def test_the_strict_protocol_says_what_it_means(record):
    text = text_of([record(protocol="strict")])

    assert "Scaling is learnt on the training data alone" in text
    assert "Not comparable one to one" in text
    assert "annealing" not in text


def test_sets_that_could_not_be_read_are_named(record):
    unread = record(dataset="miniboone", model=None, split=None, seed=None, accuracy=None)

    assert "miniboone" in text_of([record(), unread], has_published=True)
    assert "miniboone" not in text_of([record()], has_published=True)
    assert "121 data sets" not in text_of([record()])


def test_outside_lines_are_compared_on_common_sets(record):
    runs = [
        record(model="forest", accuracy=0.8),
        record(model="intrvfl_glvq", accuracy=0.7),
        record(model="forest", dataset="wine", accuracy=0.1),
    ]

    text = text_of(runs)

    assert "that both have (1) it reaches 0.8000 and the proposed network 0.7000" in text
    assert "RBF SVM" not in text


def test_an_outside_line_alone_is_compared_with_nothing(record):
    assert "line from outside." in text_of([record(model="svm")])


@pytest.mark.parametrize(("n_seeds", "words"), [(5, "as here"), (2, "here the mean is over 2")])
def test_seeds_are_counted(record, n_seeds, words):
    assert words in text_of([record(seed=seed) for seed in range(n_seeds)])


def test_the_median_cost_is_given(record):
    row = dict(zip(COST_COLUMNS, ("a", 1000, 750, "kfold", 2, 500), strict=True))

    assert "the median 0.06" in text_of([record()], costs=cost_table([row]))
