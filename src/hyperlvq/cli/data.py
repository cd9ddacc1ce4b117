"""`hyperlvq data`: what data sets there are, whether a copy is whole, and getting one."""

from pathlib import Path

from typer import Argument, Exit, Option, Typer

from hyperlvq.checks import InputError
from hyperlvq.cli import NOTHING_WRITTEN, if_stopped
from hyperlvq.cli.options import aligned, print_result

FETCHED = "uci121.tar.gz"

data_app: Typer = Typer(help="List, verify and download data sets.", no_args_is_help=True)


@data_app.command("list")
def list_sets(
    path: Path | None = Argument(None, help="Collection: a folder, .tar.gz or .tar.xz."),
    built_in: bool = Option(
        False, "--built-in", help="List the built-in data sets, which need no download."
    ),
) -> None:
    """List the data sets of the public collection, of PATH, or the built-in ones."""
    from hyperlvq.study.collection import BuiltinCollection, facts_of, manifest, open_collection

    if path and built_in:
        raise InputError("PATH and --built-in cannot be combined")
    # what is known of public sets need not be read
    public = {} if built_in else manifest()
    collection = open_collection(path) if path else BuiltinCollection()
    rows = [["name", "samples", "features", "classes", "training", "test", "evaluated on"]]
    for name in collection.names() if path or built_in else public:
        try:
            facts = public.get(name) or facts_of(collection.load(name))
        except InputError as error:
            print_result([f"hyperlvq: {error}"], to_stderr=True)
            continue
        sizes = facts.samples, facts.features, facts.classes, facts.n_train, facts.n_test
        rows.append([name, *map(str, sizes), facts.kind])
    print_result(aligned(rows, left=(0, 6)))


@data_app.command()
def verify(
    path: Path = Argument(..., help="Collection: a folder, .tar.gz or .tar.xz."),
    names: list[str] | None = Argument(None, help="Data sets to check.", show_default="all"),
) -> None:
    """Check every file of a collection; exit with code 1 if any is missing or damaged."""
    _check_collection(path, names)


@data_app.command()
def fetch(
    url: str | None = Argument(
        None, help="HTTP or HTTPS address.", show_default="the public collection"
    ),
    output: Path | None = Option(
        None, "--output", "-o", help="File to write; required with a URL.", show_default=FETCHED
    ),
    sha256: str | None = Option(None, help="Expected SHA-256 checksum in hexadecimal."),
) -> None:
    """Download the public collection, or the file at URL.

    Interrupted downloads are retried. The public collection is then checked, and files that
    differ from those of the study are reported.
    """
    from hyperlvq.cli.progress import shown_download
    from hyperlvq.study import fetch as download
    from hyperlvq.study.collection import HOME

    if url is not None and output is None:
        raise InputError("--output is required with a URL")
    path = output or Path(FETCHED)
    with if_stopped(NOTHING_WRITTEN), shown_download() as progress:
        download.fetch(HOME if url is None else url, path, sha256, progress)
    if url is not None:
        print_result([f"saved: {path}; check it with hyperlvq data verify {path}"])
    else:
        print_result([f"saved: {path}"])
        _check_collection(path, shows_whole=False)


def _check_collection(path: Path, names: list[str] | None = None, shows_whole: bool = True) -> None:
    """Print which data sets are whole, or only what is wrong with the others."""
    from hyperlvq.study.collection import manifest, open_collection

    collection = open_collection(path)
    found = collection.names()
    # where there is a public set, the copy should be complete
    public = manifest() if any(name in manifest() for name in found) else {}
    checked = names or [*public, *(name for name in found if name not in public)]
    failed = []
    for name in checked:
        try:
            collection.load(name)
            verdict = "ok"
        except InputError as error:
            verdict = str(error)
            failed.append(name)
        if shows_whole or verdict != "ok":
            print_result([f"{name}: {verdict}"])
    summary = f"{len(checked) - len(failed)} of {len(checked)} data sets are intact"
    print_result([f"{summary}; failed: {', '.join(failed)}" if failed else summary])
    if failed:
        raise Exit(1)
