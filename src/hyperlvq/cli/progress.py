"""Progress bars on standard error; none where nobody would see them."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich import progress as bars
from rich.console import Console, RenderableType
from rich.text import Text

from hyperlvq.writing import printable

if TYPE_CHECKING:
    from hyperlvq.study.runner import Step

TIME_IS_UP = "time limit reached, run the same command to continue"
LINES_WITHOUT_TERMINAL = 20
# The first runs of a study are the longest: minutes each.
SPEED_SECONDS = 3600


@contextmanager
def shown_progress(
    first: str, quiet: bool, in_steps: bool, above: Sequence[str] = ()
) -> Iterator[Callable[[str, float, float], None]]:
    """Yield what tells the bar the activity under way, and how much of how many is done.

    The lines `above` are shown as long as the bar is.
    """
    amount = bars.MofNCompleteColumn() if in_steps else bars.TaskProgressColumn()
    columns = _description(), bars.BarColumn(), amount, bars.TimeRemainingColumn()
    with _bar(quiet, *columns, above=above) as bar:
        task = bar.add_task(first, total=None)

        def progress(activity: str, done: float, total: float) -> None:
            bar.update(task, description=activity, completed=done, total=total)

        yield progress


@contextmanager
def shown_download() -> Iterator[Callable[[int, int | None], None]]:
    """Yield what tells the bar how many bytes have come; the first call makes it appear."""
    bar = _bar(False, bars.BarColumn(), bars.DownloadColumn(), bars.TransferSpeedColumn())
    task = bar.add_task("", total=None)

    def progress(done: int, total: int | None) -> None:
        bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield progress
    finally:
        if bar.live.is_started:  # or it would print an empty line
            bar.stop()


def follow_study(steps: "Iterable[Step]", jobs: str, place: str) -> None:
    """Follow a study on standard error; say in the end how many jobs were made, and what failed."""
    follow = _show_bar if Console(stderr=True).is_terminal else _show_lines
    n_done, n_left, failures = 0, 0, Counter[str]()
    for step in follow(steps):
        n_done, n_left = n_done + 1, step.total - step.done
        if step.record["error"] is not None:
            failures[step.record["error"]] += 1
    typer.echo(f"{n_done - failures.total()} {jobs} completed; {TIME_IS_UP if n_left else place}")
    for sentence, count in failures.items():
        typer.echo(printable(f"{count} failed: {sentence}"), err=True)


def _show_bar(steps: "Iterable[Step]") -> "Iterator[Step]":
    columns = (
        _description(),
        bars.BarColumn(),
        bars.TextColumn("{task.fields[runs]}"),
        bars.TimeRemainingColumn(),
    )
    with _bar(False, *columns, speed_estimate_period=SPEED_SECONDS, transient=False) as bar:
        task = bar.add_task("starting", total=None, runs="")
        for step in steps:
            model, dataset = step.record["model"], step.record["dataset"]
            bar.update(
                task,
                total=step.total_seconds,
                completed=step.done_seconds,
                runs=f"{step.done}/{step.total}",
                description=f"reading {dataset}" if model is None else f"{model} on {dataset}",
            )
            yield step


def _show_lines(steps: "Iterable[Step]") -> "Iterator[Step]":
    shown = -1
    for step in steps:
        part = int(LINES_WITHOUT_TERMINAL * step.done_seconds / step.total_seconds)
        if part != shown:  # a study may count several rounds, each anew
            shown = part
            print(f"{step.done}/{step.total} runs", file=sys.stderr, flush=True)
        yield step


def _description() -> bars.TextColumn:
    return bars.TextColumn("{task.description}", markup=False)


class _Bar(bars.Progress):
    """A bar below lines of text."""

    def __init__(self, *columns: Any, above: Sequence[str] = (), **options: Any):
        self.above = [Text(printable(line)) for line in above]
        super().__init__(*columns, **options)

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from self.above
        yield from super().get_renderables()


def _bar(quiet: bool, *columns: Any, transient: bool = True, **options: Any) -> _Bar:
    console = Console(stderr=True)
    is_shown = not quiet and console.is_terminal
    console.quiet = not is_shown  # before rich 14.3 a disabled bar prints an empty line
    return _Bar(*columns, console=console, disable=not is_shown, transient=transient, **options)
