from itertools import islice

import pytest

from hyperlvq.cli.progress import show_progress
from hyperlvq.study.runner import Step


def steps(n_steps, errors=()):
    for done in range(1, n_steps + 1):
        error = errors[done - 1] if done <= len(errors) else None
        record = {"model": "knn", "dataset": "iris", "error": error}
        yield Step(record, done, n_steps, 0.1 * done, 0.1 * n_steps)


def test_runs_and_failures_are_counted():
    n_done, _, failures = show_progress(steps(5, ["too few", None, "too few", "no memory"]))

    assert n_done == 5
    assert failures == {"too few": 2, "no memory": 1}


def test_nothing_to_do_shows_nothing(capsys):
    assert show_progress(iter(())) == (0, 0, {})
    assert capsys.readouterr().err == ""


def test_what_a_study_that_stopped_has_left_is_counted():
    assert show_progress(islice(steps(5), 3)).n_left == 2
    assert show_progress(steps(5)).n_left == 0


@pytest.mark.parametrize("n_steps", [1, 7, 1000])
def test_there_are_few_lines_without_a_terminal(capsys, n_steps):
    show_progress(steps(n_steps))

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) <= 21
    assert lines[-1] == f"{n_steps}/{n_steps} runs"


def test_terminal_has_a_bar(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    n_done, *_ = show_progress(steps(3))

    assert n_done == 3
    errors = capsys.readouterr().err
    assert "knn on iris" in errors
    assert "3/3" in errors
    assert "runs" not in errors


def test_bar_shows_sets_that_cannot_be_read(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    record = {"model": None, "dataset": "iris", "error": "iris_R.dat is missing"}
    show_progress([Step(record, 1, 1, 0.1, 0.1)])

    assert "reading iris" in capsys.readouterr().err
