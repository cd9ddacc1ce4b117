"""A progress bar for one long step after another."""

from collections.abc import Iterator
from contextlib import contextmanager

from hyperlvq.tables.training import Progress


@contextmanager
def shown_steps(quiet: bool) -> Iterator[Progress]:
    """Yield what tells a bar on standard error how far it is; no bar where nobody would see it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    shown = not quiet and console.is_terminal
    with Bar(*columns, console=console, disable=not shown, transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def progress(activity: str, done: int, total: int) -> None:
            bar.update(task, description=activity, completed=done, total=total)

        yield progress
