import os
import resource
import subprocess
import sys
from unittest.mock import patch

import pytest
from shell import PROGRAM, hyperlvq

import hyperlvq as package
from hyperlvq.cli import app

HEAVY = (
    "numpy",
    "scipy",
    "sklearn",
    "numba",
    "pandas",
    "matplotlib",
    "joblib",
    "jinja2",
    "pyarrow",
)
STARTED = f"""
import sys
from hyperlvq.cli import main
try:
    main()
except SystemExit:
    print(*(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)
"""
CPU_SECONDS = 0.4  # a tenth of what importing scikit-learn and numba would take


def cpu_seconds(*command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_the_commands(option):
    code, output, _ = hyperlvq(option)

    assert code == 0
    assert "data" in output
    assert "study" in output


@pytest.mark.parametrize("command", ["run", "tune", "report", "costs"])
def test_every_command_of_a_study_has_help_with_an_example(command):
    code, output, _ = hyperlvq("study", command, "--help")

    assert code == 0
    assert f"Example: hyperlvq study {command} " in output


def test_version_is_the_packages():
    assert hyperlvq("--version") == (0, f"{package.__version__}\n", "")


@pytest.mark.parametrize("arguments", [(), ("study",), ("data",)])
def test_command_that_is_not_complete_shows_help(arguments):
    code, output, errors = hyperlvq(*arguments)

    assert code == 2
    assert "Usage: hyperlvq" in output + errors


def test_unknown_command_is_bad_input():
    code, _, errors = hyperlvq("studdy")

    assert code == 2
    assert (
        errors == "hyperlvq: no such command 'studdy'; did you mean 'study'; see hyperlvq --help\n"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["study", "run", "--foo"], "no such option: --foo; see hyperlvq study run --help"),
        (["study", "run"], "missing option '--output' / '-o'; see hyperlvq study run --help"),
        (
            ["study", "run", "-o", "x", "--seeds", "0"],
            "invalid value for '--seeds': it must be greater than or equal to 1; "
            "see hyperlvq study run --help",
        ),
        (
            ["study", "tune", "-o", "x", "--grid", "all"],
            "invalid value for '--grid': 'all' is not one of 'full', 'quick'; "
            "see hyperlvq study tune --help",
        ),
    ],
)
def test_wrong_use_is_one_sentence(arguments, sentence):
    assert hyperlvq(*arguments) == (2, "", f"hyperlvq: {sentence}\n")


@pytest.mark.parametrize("arguments", [["--help"], ["study", "run", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments):
    command = [sys.executable, "-c", STARTED, *arguments]
    process = subprocess.run(command, capture_output=True, text=True, check=True)

    assert process.stderr.split() == []


def test_help_starts_in_a_moment():
    assert min(cpu_seconds(*PROGRAM, "--help") for _ in range(5)) < CPU_SECONDS


@pytest.mark.parametrize("module", ["typer", "rich", "pandas", "matplotlib", "jinja2", "pyarrow"])
def test_missing_extra_is_named(module):
    missing = ModuleNotFoundError(f"No module named {module!r}", name=module)
    with patch.object(app, "run", side_effect=missing):
        code, _, errors = hyperlvq("--help")

    assert code == 2
    assert errors == "hyperlvq: the command line needs: pip install 'hyperlvq[cli]'\n"


def test_missing_module_of_ours_is_no_missing_extra():
    missing = ModuleNotFoundError("No module named 'hyperlvq.gone'", name="hyperlvq.gone")
    with patch.object(app, "run", side_effect=missing), pytest.raises(ModuleNotFoundError):
        hyperlvq("--help")


def test_too_little_memory_is_one_sentence():
    with patch.object(app, "run", side_effect=MemoryError):
        code, _, errors = hyperlvq("fit")

    assert (code, errors) == (2, "hyperlvq: there is not enough memory for this\n")


STUDY = ("--sets", "iris", "--models", "knn", "--jobs")


@pytest.fixture(scope="module")
def study_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("app") / "study"
    assert hyperlvq("study", "run", "-o", folder, *STUDY, "1")[0] == 0
    return folder


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        ("study", "run", "--help"),
        ("study", "run", "-o", "{folder}", *STUDY, "1"),
        ("study", "report", "{folder}", "-o", "{folder}/report.html"),
    ],
)
def test_a_full_standard_output_is_one_sentence(arguments, unbuffered, study_folder):
    command = [*PROGRAM, *(part.format(folder=study_folder) for part in arguments)]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment
        )

    sentence = "hyperlvq: standard output cannot be written: No space left on device\n"
    assert process.returncode == 2
    assert process.stderr.endswith(sentence)
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize("n_files", range(8, 18, 2))
def test_too_few_open_files_are_one_sentence(n_files, tmp_path):
    process = subprocess.run(
        [*PROGRAM, "study", "run", "-o", tmp_path / "study", *STUDY, "2"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (n_files, n_files)),
        capture_output=True,
        text=True,
    )

    assert process.returncode == 2
    assert "Too many open files" in process.stderr
    assert "Traceback" not in process.stderr


def test_a_full_standard_error_leaves_the_exit_code():
    with open("/dev/full", "w") as full:
        process = subprocess.run([*PROGRAM, "show", "no.hlvq"], stderr=full)

    assert process.returncode == 2


def test_errors_of_ours_are_not_taken_for_the_systems():
    with patch.object(app, "run", side_effect=KeyError("ours")), pytest.raises(KeyError):
        hyperlvq("--help")


@pytest.mark.parametrize(
    "interruption", [{"side_effect": KeyboardInterrupt}, {"return_value": 130}]
)
def test_interruption_is_one_sentence(interruption):
    with patch.object(app, "run", **interruption):
        code, _, errors = hyperlvq("show")

    assert (code, errors) == (130, "hyperlvq: stopped\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete_commands(shell):
    environment = {**os.environ, "_HYPERLVQ_COMPLETE": f"source_{shell}"}
    process = subprocess.run(PROGRAM, capture_output=True, text=True, env=environment, check=True)

    assert "_HYPERLVQ_COMPLETE" in process.stdout
