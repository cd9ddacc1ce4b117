"""`hyperlvq study`: run and report the paper's experiments."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from typer import Argument, Option, Typer, echo

from hyperlvq.checks import InputError
from hyperlvq.cli import if_stopped
from hyperlvq.cli.options import N_ITER, PROTOTYPES_PER_CLASS, aligned, print_result
from hyperlvq.study.experiments import MODELS

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from hyperlvq.report.tables import CostTable
    from hyperlvq.study.collection import Collection
    from hyperlvq.study.runner import Executor

GOES_ON = "run the command again to continue"
COST_HEADER = ("total flops", "T all: mean", "median", "T training: mean", "median")
COST_NOTE = (
    "Ratios are relative to straightforward RLS. T is the number of samples in the formulas. T all "
    "uses all samples of data sets without a test file, as for the paper's 79 % (RLS, QR) and 21 % "
    "(GLVQ). T training uses the training samples only."
)
NO_HALF = "no file is half-written"

study_app: Typer = Typer(help="Repeat the paper's experiments.", no_args_is_help=True)

OUTPUT = Option(..., "--output", "-o", help="Folder for the results.")
DATA = Option(
    None, help="Collection: a folder, .tar.gz or .tar.xz. Default: four scikit-learn sets."
)
MODEL_NAMES = Option(
    None, help=f"Models, separated by commas. Default: all of {', '.join(MODELS)}."
)
SET_NAMES = Option(None, help="Data sets, separated by commas. Default: all.")
SEEDS = Option(5, min=1, help="Number of random initialisations.")
PROTOCOL = Option(
    "paper", help="Scaling, splits and tuning: as in the paper, or without leaks from test samples."
)
JOBS = Option(None, min=1, help="Number of processes. Default: one per core.")
DASK = Option(
    None,
    metavar="ADDRESS",
    help="Scheduler of a Dask cluster, used instead of --jobs.",
)
DEVICE = Option(
    None,
    help="Train all initialisations or settings of a data set in one batch on this device. RLS and "
    "GLVQ models only.",
)
MINUTES = Option(None, min=0.01, help="Stop after this many minutes. Only with --device.")


@study_app.command()
def run(
    output: Path = OUTPUT,
    data: Path | None = DATA,
    settings: Path | None = Option(
        None,
        metavar="FILE|defaults",
        help="Settings file, such as one from `tune`, or `defaults` for one setting per model. "
        "Default: the settings of our own search for the collection and the protocol paper, else "
        "`defaults`.",
    ),
    as_published: bool = Option(
        False,
        "--as-published",
        help="Use the paper's solvers and initial prototypes. Needs --settings with its table.",
    ),
    models: str | None = MODEL_NAMES,
    sets: str | None = SET_NAMES,
    seeds: int = SEEDS,
    protocol: Literal["paper", "strict"] = PROTOCOL,
    jobs: int | None = JOBS,
    dask: str | None = DASK,
    device: Literal["cpu", "cuda"] | None = DEVICE,
    minutes: float | None = MINUTES,
    retry_failed: bool = Option(False, "--retry-failed", help="Repeat failed runs."),
) -> None:
    """Train and test the models of a study.

    An interrupted study continues when the command is run again.

    Example: hyperlvq study run --data uci121.tar.gz -o study
    """
    from hyperlvq.cli.progress import follow_study
    from hyperlvq.study.runner import run_study
    from hyperlvq.study.settings import read_settings

    with if_stopped(GOES_ON), executor_of(jobs, dask, device, minutes) as executor:
        steps = run_study(
            open_data(data),
            output,
            models=models_for(device, models, as_published=as_published),
            sets=split_names(sets),
            settings=None if settings is None else read_settings(settings),
            as_published=as_published,
            n_seeds=seeds,
            protocol=protocol,
            retry_failed=retry_failed,
            executor=executor,
        )
        follow_study(steps, "runs", f"the records are in {output}")


@study_app.command()
def tune(
    output: Path = OUTPUT,
    data: Path | None = DATA,
    models: str | None = MODEL_NAMES,
    sets: str | None = SET_NAMES,
    seeds: int = SEEDS,
    protocol: Literal["paper", "strict"] = PROTOCOL,
    grid: Literal["full", "quick"] | None = Option(
        None, help="full (default): larger than the paper's grid, takes days. quick: a small grid."
    ),
    as_published: bool = Option(
        False,
        "--as-published",
        help="Repeat the paper's own search with its grids, solvers and initial prototypes.",
    ),
    jobs: int | None = JOBS,
    dask: str | None = DASK,
    device: Literal["cpu", "cuda"] | None = DEVICE,
    minutes: float | None = MINUTES,
) -> None:
    """Search for the best settings of the models.

    The settings are written to settings.csv for `run`.

    Example: hyperlvq study tune --data uci121.tar.gz --protocol strict --grid quick -o tuning
    """
    from hyperlvq.cli.progress import follow_study
    from hyperlvq.study.records import read_records
    from hyperlvq.study.settings import TUNED_FILE
    from hyperlvq.study.tuning import TUNING_NAME, best_single_settings, tune_study

    with if_stopped(GOES_ON), executor_of(jobs, dask, device, minutes) as executor:
        values = grid_named(grid, as_published)
        steps = tune_study(
            open_data(data),
            output,
            models=models_for(device, models, grid=values, as_published=as_published),
            sets=split_names(sets),
            grid=values,
            n_seeds=seeds,
            protocol=protocol,
            executor=executor,
        )
        follow_study(steps, "searches", f"the settings are in {output / TUNED_FILE}")
    echo("The single best setting over all data sets:")
    records = read_records(output, TUNING_NAME)
    for name, (best, accuracy, n_searches) in best_single_settings(records).items():
        values = ", ".join(f"{key}={value}" for key, value in best.items())
        echo(f"  {name}: {values} ({accuracy:.4f} over {n_searches})")


@study_app.command()
def report(
    folder: Path = Argument(..., help="Folder for the results."),
    output: Path = Option(Path("report.html"), "--output", "-o", help="HTML page to write."),
    published: Path | None = Option(None, help="The paper's table, for comparison."),
    figures: Path | None = Option(None, help="Folder for the figures as SVG files."),
    reference: str | None = Option(
        None,
        metavar="MODEL",
        help="Model to compare all others with: adds statistical tests, ranks and times.",
    ),
) -> None:
    """Report a study as an HTML page, Markdown and CSV.

    Example: hyperlvq study report study --published paper_results.csv -o study.html
    """
    from hyperlvq.report.page import write_report

    with if_stopped(NO_HALF):
        paths = write_report(
            folder, output, published=published, figures_folder=figures, reference=reference
        )
    print_result(map(str, paths))


@study_app.command()
def costs(
    source: Path = Argument(
        ..., help="Table with the columns of the paper's, or folder of a study."
    ),
    prototypes_per_class: int = PROTOTYPES_PER_CLASS,
    n_iter: int = N_ITER,
) -> None:
    """Compute the training costs of the paper's Table I over data sets.

    Costs are relative to straightforward RLS, with two ways to count the T samples: all samples of
    data sets without a test file, as the paper's 79 % and 21 % do, or training samples only. For
    the folder of a study, the costs of GLVQ by the iterations made are added.

    Example: hyperlvq study costs paper_results.csv
    """
    from hyperlvq.report.results import read_published, recorded_sizes, summarise_records
    from hyperlvq.report.tables import cost_table, made_costs
    from hyperlvq.study.records import read_records

    study = summarise_records(read_records(source)) if source.is_dir() else None
    sizes = read_published(source).sizes if study is None else recorded_sizes(study)
    tables = []
    if study is None or len(sizes):
        tables.append(_method_rows(cost_table(sizes, prototypes_per_class, n_iter)))
    if study is not None and len(made := made_costs(study)):
        rows = [[m.title, f"{m.mean_iterations:.1f}", *_cost_cells(m)] for m in made.itertuples()]
        tables.append([["iterations made", "mean iterations", *COST_HEADER], *rows])
    if not tables:
        raise InputError(f"{source} has no runs of intRVFL + RLS or of GLVQ with their sizes")
    lines = [line for rows in tables for line in (*aligned(rows), "")]
    print_result([*lines, COST_NOTE])


def _method_rows(table: "CostTable") -> list[list[str]]:
    """Lay out the costs of every method, each followed by its steps."""
    rows = [["training cost", *COST_HEADER]]
    for method in table.methods.itertuples():
        rows.append([method.title, *_cost_cells(method)])
        for step, flops, ratio in table.steps.loc[method.Index].itertuples():
            rows.append([f"  {step}", f"{flops:.4g}", f"{ratio:.4f}", "", "", ""])
    return rows


def _cost_cells(row: Any) -> list[str]:
    """Format the figures of one method or model."""
    ratios = row.mean_ratio, row.median_ratio, row.training_mean_ratio, row.training_median_ratio
    return [f"{row.total_flops:.4g}", *(f"{ratio:.4f}" for ratio in ratios)]


def grid_named(grid: str | None, as_published: bool) -> str:
    """Name the grid that the options of `tune` ask for."""
    if as_published and grid is not None:
        raise InputError("--as-published uses the paper's grid: leave out --grid")
    return "published" if as_published else grid or "full"


def executor_of(
    jobs: int | None, dask: str | None, device: str | None, minutes: float | None
) -> "AbstractContextManager[Executor]":
    """Return the context of what does the jobs; raise if the options do not go together."""
    if device is not None and (jobs is not None or dask is not None):
        raise InputError("--device excludes --jobs and --dask: one process uses the device")
    if device is None and minutes is not None:
        raise InputError("--minutes goes with --device only")
    if dask is not None and jobs is not None:
        raise InputError("--jobs and --dask exclude each other: the cluster has its own workers")
    if dask is not None:
        from hyperlvq.distributed.cluster import cluster_executor

        return cluster_executor(dask)
    if device is not None:
        from hyperlvq.batched.backend import open_backend
        from hyperlvq.study.device import device_executor

        return nullcontext(device_executor(open_backend(device), minutes))
    from joblib import cpu_count

    from hyperlvq.study.runner import processes

    return nullcontext(processes(jobs or cpu_count()))


def models_for(device: str | None, text: str | None, **options: Any) -> list[str] | None:
    """Return the models of a list with commas, None for all; on a device, those it can train."""
    if device is None:
        return split_names(text)
    from hyperlvq.study.device import device_models

    return device_models(split_names(text), **options)


def open_data(path: Path | None) -> "Collection":
    """Return the collection at a path, or the built-in one."""
    from hyperlvq.study.collection import BuiltinCollection, open_collection

    return BuiltinCollection() if path is None else open_collection(path)


def split_names(text: str | None) -> list[str] | None:
    """Return the names of a list with commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
