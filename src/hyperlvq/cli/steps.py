"""Progress bars on standard error; none where nobody would see them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperlvq.tables.training import Progress


@contextmanager
def shown_steps(quiet: bool) -> "Iterator[Progress]":
    """Yield what tells the bar which step is under way, and how many of its parts are done."""
    from rich.progress import MofNCompleteColumn

    with _bar(quiet, MofNCompleteColumn()) as bar:
        task = bar.add_task("reading", total=None)

        def progress(activity: str, done: int, total: int) -> None:
            bar.update(task, description=activity, completed=done, total=total)

        yield progress


@contextmanager
def shown_share(activity: str, quiet: bool) -> Iterator[Callable[[float | None], None]]:
    """Yield what tells the bar which share of the work is done, None where that is unknown."""
    from rich.progress import TaskProgressColumn

    with _bar(quiet, TaskProgressColumn()) as bar:
        task = bar.add_task(activity, total=None)

        def progress(share: float | None) -> None:
            if share is not None:
                bar.update(task, completed=share, total=1)

        yield progress


@contextmanager
def shown_download() -> Iterator[Callable[[int, int | None], None]]:
    """Yield what tells the bar how many bytes have come; the first call makes it appear."""
    from rich.progress import BarColumn, DownloadColumn, TransferSpeedColumn

    bar = _bar_of(False, BarColumn(), DownloadColumn(), TransferSpeedColumn())
    task = bar.add_task("", total=None)

    def progress(done: int, total: int | None) -> None:
        bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield progress
    finally:
        if bar.live.is_started:  # or it would print an empty line
            bar.stop()


def _bar(quiet: bool, figure: Any) -> Any:
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    description = TextColumn("{task.description}")
    return _bar_of(quiet, description, BarColumn(), figure, TimeRemainingColumn())


def _bar_of(quiet: bool, *columns: Any) -> Any:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    is_shown = not quiet and console.is_terminal
    return Progress(*columns, console=console, disable=not is_shown, transient=True)
