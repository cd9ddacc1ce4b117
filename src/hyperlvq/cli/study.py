"""`hyperlvq study`: the paper's experiments, run and shown."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from hyperlvq.study.runner import DataSource

study_app = typer.Typer(help="Repeat the paper's experiments.", no_args_is_help=True)

Data = Annotated[
    Path | None,
    typer.Option(help="The collection: a folder, .tar.gz or .tar.xz; built-in sets without it."),
]
Models = Annotated[str | None, typer.Option(help="Names of models, separated by commas; or all.")]
Sets = Annotated[str | None, typer.Option(help="Names of data sets, separated by commas; or all.")]
Seeds = Annotated[int, typer.Option(min=1, help="Number of random initialisations.")]
Protocol = Annotated[
    Literal["paper", "strict"],
    typer.Option(help="How data are scaled, split and tuned: as in the paper, or leaving no leak."),
]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Number of processes; by default one a core.")
]
Published = Annotated[
    Path | None, typer.Option(help="The paper's table, to be shown beside our figures.")
]


@study_app.command()
def run(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the records.")],
    data: Data = None,
    settings: Annotated[
        Path | None, typer.Option(help="A settings file, such as `tune` or the paper gives.")
    ] = None,
    models: Models = None,
    sets: Sets = None,
    seeds: Seeds = 5,
    protocol: Protocol = "paper",
    jobs: Jobs = None,
) -> None:
    """Train and test the models; started again, do only what is missing.

    Example: hyperlvq study run --data uci121.tar.xz --settings paper_results.csv -o study
    """
    from hyperlvq.cli.progress import show_progress
    from hyperlvq.study.runner import run_study
    from hyperlvq.study.settings import read_settings

    steps = run_study(
        open_source(data),
        output,
        models=names(models),
        sets=names(sets),
        settings=None if settings is None else read_settings(settings),
        n_seeds=seeds,
        protocol=protocol,
        n_jobs=jobs or default_jobs(),
    )
    n_done, failures = show_progress(steps)
    typer.echo(f"{n_done} runs made; the records are in {output}")
    for sentence, count in failures.items():
        typer.echo(f"{count} runs failed: {sentence}", err=True)


def open_source(path: Path | None) -> "DataSource":
    """Return the collection at a path, or the built-in one."""
    from hyperlvq.study.builtin import BuiltinCollection
    from hyperlvq.study.collection import open_collection

    return BuiltinCollection() if path is None else open_collection(path)


def names(text: str | None) -> list[str] | None:
    """Return the names of a list with commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def default_jobs() -> int:
    """Return the number of cores this process may use."""
    from joblib import cpu_count

    return cpu_count()
