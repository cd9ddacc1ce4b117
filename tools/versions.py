"""Run the tests with the oldest and the newest dependencies that pyproject.toml allows.

    python tools/versions.py [oldest] [newest] [--python PATH] [--tests PATH ...]

Each gets an environment of its own in build/versions. The oldest has the lower bounds of all
dependencies and extras; what these depend on is new, so their warnings of deprecation do not fail a
test. Without --tests, those run that most depend on the versions, in minutes.
"""

import argparse
import os
import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "versions"
CHOICES = ("oldest", "newest")
LOWER_BOUND = re.compile(r"(?P<name>[\w-]+)(\[[\w,]+\])?>=(?P<version>[\d.]+)")
NOT_TESTED = ("docs", "release", "torch")  # torch's tests need a build for the machine
FOLDERS = ("cli", "distributed", "kernels", "readouts", "report", "tables")
PYTEST_OPTIONS = {"oldest": ("-W", "default::DeprecationWarning"), "newest": ()}


def main() -> None:
    """Make the environments, run the tests in each, and stop at the first that fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("choices", nargs="*", default=CHOICES, metavar="{oldest,newest}")
    parser.add_argument("--python", default="python3", help="the interpreter to try")
    parser.add_argument("--tests", nargs="+", default=quick_tests(), help="what pytest runs")
    options = parser.parse_args()
    if unknown := set(options.choices) - set(CHOICES):
        parser.error(f"there is no {unknown.pop()!r}: choose from {', '.join(CHOICES)}")
    for choice in options.choices:
        python = make_environment(options.python, choice)
        subprocess.run([python, "-m", "pip", "list"], check=True)
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(python.parents[1] / "numba")}
        pytest = [python, "-m", "pytest", "-q", *PYTEST_OPTIONS[choice], *options.tests]
        if code := subprocess.run(pytest, cwd=ROOT, env=environment).returncode:
            raise SystemExit(f"with the {choice} dependencies, pytest ended with {code}")


def quick_tests() -> list[str]:
    """Return the tests to run where none are named."""
    files = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("tests/test_*.py"))
    return ["README.md", *files, *(f"tests/{folder}" for folder in FOLDERS)]


def make_environment(interpreter: str, choice: str) -> Path:
    """Return the interpreter of a new environment with the chosen dependencies."""
    folder = FOLDER / f"{Path(interpreter).name}-{choice}"
    subprocess.run([interpreter, "-m", "venv", "--clear", folder], check=True)
    python = folder / "bin" / "python"
    constraints = folder / "constraints.txt"
    bounds = lower_bounds() if choice == "oldest" else {}
    constraints.write_text("".join(f"{name}=={version}\n" for name, version in bounds.items()))
    pip = [python, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--upgrade", "pip"], check=True)
    subprocess.run([*pip, "--constraint", constraints, "--editable", f"{ROOT}[dev]"], check=True)
    return python


def lower_bounds() -> dict[str, str]:
    """Return the oldest allowed version of every dependency, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    requirements = [
        *project["dependencies"],
        *(each for extra in extras if extra not in NOT_TESTED for each in extras[extra]),
    ]
    found = {}
    for requirement in requirements:
        if requirement.startswith(project["name"]):
            continue
        bound = LOWER_BOUND.fullmatch(requirement)
        if bound is None:
            raise SystemExit(f"pyproject.toml: {requirement!r} has no lower bound of its own")
        found[bound["name"]] = bound["version"]
    return found


if __name__ == "__main__":
    main()
