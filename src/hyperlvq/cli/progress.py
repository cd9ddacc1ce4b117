"""A progress bar that knows how long what is left will take."""

import sys
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from hyperlvq.study.runner import Step

LINES_WITHOUT_TERMINAL = 20
# The first runs are the longest: minutes each.
SPEED_SECONDS = 3600


class Shown(NamedTuple):
    """How many runs were made, how many are left, and the sentences of those that failed."""

    n_done: int
    n_left: int
    failures: Counter[str]


def show_progress(steps: Iterable[Step]) -> Shown:
    """Follow a study on standard error."""
    console = Console(stderr=True)
    follow = _show_bar if console.is_terminal else _show_lines
    n_done, n_left, failures = 0, 0, Counter[str]()
    for step in follow(steps, console):
        n_done, n_left = n_done + 1, step.total - step.done
        if step.record["error"] is not None:
            failures[step.record["error"]] += 1
    return Shown(n_done, n_left, failures)


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
