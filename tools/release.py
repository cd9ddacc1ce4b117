"""Build the sdist and the wheel, check them, and try each in an empty environment.

    python tools/release.py

Leaves both in dist/. Needs the extra `release`, git, and an index to install from.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from shutil import copy, rmtree
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
MOST_WHEEL_BYTES = 1_000_000
#: What the wheel may hold beside the code and the texts that code is made of.
TABLES = {"hyperlvq/study/manifest.csv", "hyperlvq/study/searched_settings.csv"}
DATA_SUFFIXES = {".csv", ".dat", ".gz", ".npz", ".parquet", ".xz", ".zip"}
#: Tests that read files outside of tests/: they fail or are skipped where the sdist lacks one.
READ_OTHER_FILES = (
    "README.md",
    "tests/docs/test_pages.py",
    "tests/study/test_archive.py",
    "tests/export/test_digits.py::test_integer_accuracy_is_what_was_promised",
)


def main() -> None:
    """Do all of it; the first thing that is wrong ends it."""
    version = check_versions()
    sdist, wheel = build()
    run("twine", "check", "--strict", sdist, wheel, module=True)
    check_wheel(wheel)
    check_sdist(sdist)
    with tempfile.TemporaryDirectory() as folder:
        for number, distribution in enumerate((wheel, sdist)):
            try_in_an_empty_environment(distribution, Path(folder) / str(number))
        run_tests_of_sdist(sdist, Path(folder) / "tests")
    print(f"hyperlvq {version} is in {DIST.relative_to(ROOT)}: {wheel.name}, {sdist.name}")


def check_versions() -> str:
    """Return the version, which code and citation must agree on.

    That the changelog has no section for it is only noted, so that a release can be rehearsed.
    """
    version = found_in("src/hyperlvq/version.py", r'__version__ = "(.+)"')
    cited = found_in("CITATION.cff", r"^version: (\S+)$")
    if cited != version:
        raise SystemExit(f"CITATION.cff has version {cited}, src/hyperlvq/version.py {version}")
    if f"\n## {version}" not in (ROOT / "CHANGELOG.md").read_text():
        print(f"note: CHANGELOG.md has no section for {version} yet")
    return version


def found_in(path: str, pattern: str) -> str:
    """Return the group of a pattern in a file that must have it."""
    found = re.search(pattern, (ROOT / path).read_text(), flags=re.MULTILINE)
    if found is None:
        raise SystemExit(f"{path} has nothing like {pattern}")
    return found[1]


def build() -> tuple[Path, Path]:
    """Return the sdist, and the wheel that was built from it."""
    rmtree(DIST, ignore_errors=True)
    run("build", ROOT, "--outdir", DIST, module=True)
    (sdist,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    return sdist, wheel


def check_wheel(wheel: Path) -> None:
    """Refuse a wheel that is large or has what is not of the package."""
    if (size := wheel.stat().st_size) >= MOST_WHEEL_BYTES:
        raise SystemExit(f"{wheel.name} has {size} bytes: less than {MOST_WHEEL_BYTES} is wanted")
    names = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    strange = {name for name in names if not name.startswith("hyperlvq/") or "/test" in name}
    strange |= {name for name in names - TABLES if Path(name).suffix in DATA_SUFFIXES}
    if strange or not names >= TABLES:
        raise SystemExit(f"{wheel.name} has {sorted(strange)}, lacks {sorted(TABLES - names)}")
    (metadata,) = (name for name in ZipFile(wheel).namelist() if name.endswith("/METADATA"))
    if links := re.findall(r"\]\((?!https://).*?\)", ZipFile(wheel).read(metadata).decode()):
        raise SystemExit(f"links of the README lead nowhere on the package index: {links}")
    print(f"{wheel.name}: {size:,} bytes, {len(names)} files")


def check_sdist(sdist: Path) -> None:
    """Refuse an sdist that lacks a file of the repository, hidden ones apart."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    if missing := {name for name in listed if not name.startswith(".")} - held:
        raise SystemExit(f"{sdist.name} lacks {sorted(missing)}")
    print(f"{sdist.name}: {sdist.stat().st_size:,} bytes, {len(held)} files")


def try_in_an_empty_environment(distribution: Path, folder: Path) -> None:
    """Install a distribution alone, run the README's Python; add the command line, run that."""
    run("venv", folder, module=True)
    python = folder / "bin" / "python"
    table = Path(copy(ROOT / "docs" / "penguins.csv", folder))
    run("pip", "install", "--quiet", distribution, module=True, python=python)
    run("doctest", ROOT / "README.md", module=True, python=python, folder=folder)
    run("pip", "install", "--quiet", f"{distribution}[cli]", module=True, python=python)
    run("pip", "check", module=True, python=python)
    command = folder / "bin" / "hyperlvq"
    run(command, "fit", table, "--target", "species", "-o", "model.hlvq", folder=folder)
    run(command, "predict", "model.hlvq", table, "-o", "classes.csv", folder=folder)
    rows = (folder / "classes.csv").read_text().splitlines()
    if len(rows) != len(table.read_text().splitlines()):
        raise SystemExit(f"hyperlvq predict wrote {len(rows)} lines")


def run_tests_of_sdist(sdist: Path, folder: Path) -> None:
    """Unpack an sdist and run those of its tests that need more than the package."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    os.environ["PYTHONPATH"] = str(root / "src")  # also of the commands that tests run
    temporary = f"--basetemp={folder.with_name('pytest')}"  # which no other run clears
    run("pytest", "-q", temporary, *READ_OTHER_FILES, module=True, folder=root)


def run(
    *command: str | Path,
    module: bool = False,
    python: str | Path = sys.executable,
    folder: Path | None = None,
) -> None:
    """Show a command, or a module of an interpreter, and run it; what fails ends the release."""
    words = [str(word) for word in ([python, "-m", *command] if module else command)]
    print("$", *words, flush=True)
    if code := subprocess.run(words, cwd=folder).returncode:
        raise SystemExit(f"{words[0]} ended with {code}")


if __name__ == "__main__":
    main()
