"""Write a report: the page, and its tables as Markdown and CSV beside it."""

from contextlib import ExitStack
from pathlib import Path

from hyperlvq.checks import InputError
from hyperlvq.report.formats import no_formula
from hyperlvq.report.page import draw_figures, make_report, render_markdown, render_page
from hyperlvq.report.published import read_published
from hyperlvq.study.records import read_records
from hyperlvq.writing import replacing

PAGE_SUFFIXES = (".html", ".htm")


def write_report(
    folder: str | Path,
    output: str | Path,
    published: str | Path | None = None,
    figures_folder: str | Path | None = None,
) -> list[Path]:
    """Write the report of a study and return the files written.

    Beside the page `report.html` go `report.md`, `report_sets.csv` (accuracies by data set) and
    `report_summary.csv` (means by model); there, a name that a spreadsheet would take for a
    formula begins with an apostrophe. Nothing is written unless all can be made, and no file
    is ever half-written.

    Parameters
    ----------
    folder : path
        Where the study's records are.
    output : path
        The page to write; its name ends in .html.
    published : path, optional
        A CSV file with the paper's accuracies, to show beside those of the study.
    figures_folder : path, optional
        Where to write the figures as SVG files too; made if it does not exist.
    """
    output = Path(output)
    _check_output(output)
    records = read_records(folder)
    report = make_report(records, None if published is None else read_published(published))
    figures = draw_figures(report)
    per_set = report.per_set.rename(index=no_formula)
    contents = {
        output.with_suffix(".md"): render_markdown(report),
        output.with_name(f"{output.stem}_sets.csv"): per_set.to_csv(lineterminator="\n"),
        output.with_name(f"{output.stem}_summary.csv"): report.summary.to_csv(lineterminator="\n"),
    }
    if figures_folder is not None:
        target = _made_folder(Path(figures_folder))
        contents |= {target / f"{name}.svg": figure for name, figure in figures.items()}
    contents[output] = render_page(report, figures)
    _check_inputs_stay(contents, published)
    _write_all(contents)
    return list(contents)


def _check_output(output: Path) -> None:
    if output.suffix.lower() not in PAGE_SUFFIXES:
        raise InputError(f"{output} must be named *.html: the report is a page")
    if not output.parent.is_dir():
        raise InputError(f"{output.parent} is not a folder")


def _check_inputs_stay(contents: dict[Path, str], published: str | Path | None) -> None:
    if published is not None and Path(published).resolve() in map(Path.resolve, contents):
        raise InputError(f"{published} would be overwritten: give the report another name")


def _made_folder(folder: Path) -> Path:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made a folder: {error.strerror}") from None
    return folder


def _write_all(contents: dict[Path, str]) -> None:
    """Write every file under a temporary name before the first gets its own."""
    with ExitStack() as files:
        for path, content in contents.items():
            part = files.enter_context(replacing(path))
            part.write_text(content, encoding="utf-8", newline="\n")
