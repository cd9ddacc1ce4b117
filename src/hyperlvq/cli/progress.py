"""A progress bar that knows how long what is left will take."""

import sys
from collections import Counter
from collections.abc import Iterable

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from hyperlvq.cli.text import printable
from hyperlvq.study.runner import Step

TIME_IS_UP = "time is up, the same command goes on"
LINES_WITHOUT_TERMINAL = 20
# The first runs are the longest: minutes each.
SPEED_SECONDS = 3600


def follow_study(steps: Iterable[Step], jobs: str, place: str) -> None:
    """Follow a study on standard error; say in the end how many jobs were made, and what failed."""
    console = Console(stderr=True)
    follow = _show_bar if console.is_terminal else _show_lines
    n_done, n_left, failures = 0, 0, Counter[str]()
    for step in follow(steps, console):
        n_done, n_left = n_done + 1, step.total - step.done
        if step.record["error"] is not None:
            failures[step.record["error"]] += 1
    typer.echo(f"{n_done - failures.total()} {jobs} made; {TIME_IS_UP if n_left else place}")
    for sentence, count in failures.items():
        typer.echo(printable(f"{count} failed: {sentence}"), err=True)


def _show_bar(steps: Iterable[Step], console: Console) -> Iterable[Step]:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[runs]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, speed_estimate_period=SPEED_SECONDS) as bar:
        task = bar.add_task("starting", total=None, runs="")
        for step in steps:
            bar.update(
                task,
                total=step.total_seconds,
                completed=step.done_seconds,
                runs=f"{step.done}/{step.total}",
                description=_activity(step),
            )
            yield step


def _show_lines(steps: Iterable[Step], console: Console) -> Iterable[Step]:
    shown = -1
    for step in steps:
        part = int(LINES_WITHOUT_TERMINAL * step.done_seconds / step.total_seconds)
        if part != shown:  # a study may count several rounds, each anew
            shown = part
            print(f"{step.done}/{step.total} runs", file=sys.stderr, flush=True)
        yield step


def _activity(step: Step) -> str:
    model, dataset = step.record["model"], step.record["dataset"]
    return f"reading {dataset}" if model is None else f"{model} on {dataset}"
