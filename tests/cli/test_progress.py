from itertools import islice

import pytest

from hyperlvq.cli.progress import follow_study
from hyperlvq.study.runner import Step


def steps(n_steps, errors=()):
    for done in range(1, n_steps + 1):
        error = errors[done - 1] if done <= len(errors) else None
        record = {"model": "knn", "dataset": "iris", "error": error}
        yield Step(record, done, n_steps, 0.1 * done, 0.1 * n_steps)


@pytest.fixture
def follow(capsys):
    """Return what follows steps and returns what it printed: standard output and error."""

    def followed(taken):
        follow_study(taken, "runs", "they are there")
        return capsys.readouterr()

    return followed


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")


def test_runs_and_failures_are_counted(follow):
    output, errors = follow(steps(5, ["too few", None, "too few", "no memory"]))

    assert output == "2 runs made; they are there\n"
    assert errors.splitlines()[-2:] == ["2 failed: too few", "1 failed: no memory"]


@pytest.mark.parametrize(
    ("taken", "output"),
    [
        (iter(()), "0 runs made; they are there\n"),
        (islice(steps(5), 3), "3 runs made; time is up, the same command goes on\n"),
    ],
)
def test_study_without_work_is_done_and_one_that_stopped_is_not(follow, taken, output):
    assert follow(taken)[0] == output


@pytest.mark.parametrize("n_steps", [0, 1, 7, 1000])
def test_there_are_few_lines_without_a_terminal(follow, n_steps):
    lines = follow(steps(n_steps))[1].splitlines()

    assert len(lines) <= 21
    assert lines[-1:] == ([f"{n_steps}/{n_steps} runs"] if n_steps else [])


@pytest.mark.usefixtures("terminal")
def test_terminal_has_a_bar(follow):
    _, errors = follow(steps(3))

    assert "knn on iris" in errors
    assert "3/3" in errors
    assert "runs" not in errors


@pytest.mark.usefixtures("terminal")
def test_bar_shows_sets_that_cannot_be_read(follow):
    record = {"model": None, "dataset": "iris", "error": "iris_R.dat is missing"}

    assert "reading iris" in follow([Step(record, 1, 1, 0.1, 0.1)])[1]
