from itertools import islice

import pytest

from hyperlvq.cli.progress import follow_study, shown_progress
from hyperlvq.study.runner import Step


def steps(n_steps, errors=(), model="knn"):
    for done in range(1, n_steps + 1):
        error = errors[done - 1] if done <= len(errors) else None
        record = {"model": model, "dataset": "iris", "error": error}
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


@pytest.mark.parametrize(
    ("taken", "output"),
    [
        (steps(5, ["too few", None, "too few", "no memory"]), "2 runs completed; they are there\n"),
        (iter(()), "0 runs completed; they are there\n"),
        (
            islice(steps(5), 3),
            "3 runs completed; time limit reached, run the same command to continue\n",
        ),
    ],
)
def test_runs_failures_and_the_end_are_told(follow, taken, output):
    found, errors = follow(taken)

    assert found == output
    failures = ["2 failed: too few", "1 failed: no memory"] if output[0] == "2" else []
    assert [line for line in errors.splitlines() if "failed" in line] == failures


@pytest.mark.parametrize("n_steps", [0, 1, 7, 1000])
def test_there_are_few_lines_without_a_terminal(follow, n_steps):
    lines = follow(steps(n_steps))[1].splitlines()

    assert len(lines) <= 21
    assert lines[-1:] == ([f"{n_steps}/{n_steps} runs"] if n_steps else [])


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(("model", "activity"), [("knn", "knn on iris"), (None, "reading iris")])
def test_terminal_has_a_bar_of_runs_and_of_sets_that_cannot_be_read(follow, model, activity):
    _, errors = follow(steps(3, model=model))

    assert activity in errors
    assert "3/3" in errors
    assert "runs" not in errors


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(("in_steps", "amount"), [(True, "1/2"), (False, "50%")])
def test_bar_of_a_command_shows_what_is_done_of_an_activity(capsys, in_steps, amount):
    with shown_progress("reading", quiet=False, in_steps=in_steps) as progress:
        progress("training", 1, 2)

    _, errors = capsys.readouterr()
    assert "training" in errors
    assert amount in errors
