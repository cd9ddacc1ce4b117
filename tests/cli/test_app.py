import resource
import subprocess
import sys
from unittest.mock import patch

import pytest
from shell import PROGRAM, filled, hyperlvq, in_process, output_of

import hyperlvq as package
from hyperlvq.cli import app

HEAVY = {"numpy", "joblib", "jinja2", "matplotlib", "pyarrow"}
HEAVIEST = {"numba", "pandas", "scipy", "sklearn"}
STARTED = f"""
import sys
from hyperlvq.cli import main
try:
    main()
except SystemExit:
    print(*{HEAVY | HEAVIEST} & sys.modules.keys(), file=sys.stderr)
"""
STUDY = ("--sets", "iris", "--models", "knn", "--jobs")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        *(([option], name) for option in ("--help", "-h") for name in ("data", "study")),
        *((["study", name, "-h"], f"Example: hyperlvq study {name} ") for name in ("run", "tune")),
        (["fit", "-h"], "Example: hyperlvq fit train.csv --target species -o model.hlvq"),
    ],
)
def test_help_names_commands_and_has_examples(arguments, words):
    assert words in output_of(*arguments)


def test_version_is_the_packages():
    assert output_of("--version") == f"{package.__version__}\n"


@pytest.mark.parametrize("arguments", [(), ("study",), ("data",)])
def test_command_that_is_not_complete_shows_help(arguments):
    code, output, errors = hyperlvq(*arguments)

    assert code == 2
    assert "Usage: hyperlvq" in output + errors


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        (["--version"], HEAVY | HEAVIEST),
        (["study", "run", "-h"], HEAVY | HEAVIEST),
        *(
            (command, HEAVIEST)
            for name in ("{model}", "{default}")
            for command in (
                ["show", name],
                ["predict", name, "{table}", "--proba", "--margins"],
                ["evaluate", name, "{table}"],
                ["budget", name],
                ["export", name, "-o", "{folder}", "--vectors", "{table}"],
            )
        ),
        (["export", "{model}", "-o", "{folder}", "--trainable"], HEAVIEST),
    ],
)
def test_commands_start_without_what_takes_long_to_load(
    arguments, refused, model, default_model, table, tmp_path
):
    places = {"model": model, "default": default_model, "table": table, "folder": tmp_path}
    command = [sys.executable, "-c", STARTED, *filled(arguments, **places)]
    process = subprocess.run(command, capture_output=True, text=True, check=True)

    assert {*process.stderr.split()} <= HEAVY - refused


EXTRA = "hyperlvq: the command line needs more packages: pip install 'hyperlvq[cli]'\n"


@pytest.mark.parametrize(
    ("outcome", "code", "sentence"),
    [
        *(
            ({"side_effect": ModuleNotFoundError(name=module)}, 2, EXTRA)
            for module in ("typer", "rich", "pandas", "matplotlib", "jinja2", "pyarrow")
        ),
        ({"side_effect": MemoryError}, 2, "hyperlvq: not enough memory\n"),
        ({"side_effect": KeyboardInterrupt}, 130, "hyperlvq: stopped\n"),
        ({"return_value": 130}, 130, "hyperlvq: stopped\n"),
    ],
)
def test_what_a_command_cannot_help_is_one_sentence(outcome, code, sentence):
    with patch.object(app, "run", **outcome):
        assert hyperlvq("show") == (code, "", sentence)


@pytest.mark.parametrize("error", [ModuleNotFoundError(name="hyperlvq.gone"), KeyError("ours")])
def test_errors_of_ours_are_not_taken_for_the_systems(error):
    with patch.object(app, "run", side_effect=error), pytest.raises(type(error)):
        hyperlvq("--help")


SIZES = ("costs", "--n-samples", "1000", "--n-classes", "3")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        SIZES,
        ("study", "run", "-o", "{folder}", *STUDY, "1"),
        ("predict", "{model}", "{table}"),
        ("predict", "{model}", "{table}", "-o", "/dev/null"),
    ],
)
def test_a_full_standard_output_is_one_sentence(unbuffered, arguments, model, table, tmp_path):
    arguments = filled(arguments, folder=tmp_path, model=model, table=table)
    with open("/dev/full", "w") as full:
        code, _, errors = in_process(
            *arguments, stdout=full, environment={"PYTHONUNBUFFERED": unbuffered}
        )

    sentence = "hyperlvq: standard output cannot be written: No space left on device"
    assert code == 2
    assert [line for line in errors.splitlines() if not line.endswith(" runs")] == [sentence]


def test_a_full_standard_error_leaves_the_exit_code():
    with open("/dev/full", "w") as full:
        assert in_process("show", "no.hlvq", stderr=full)[0] == 2


@pytest.mark.parametrize("n_files", range(8, 18, 2))
def test_too_few_open_files_are_one_sentence(n_files, tmp_path):
    code, _, errors = in_process(
        *("study", "run", "-o", tmp_path / "study", *STUDY, "2"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (n_files, n_files)),
    )

    assert code == 2
    assert "Too many open files" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "first"),
    [(SIZES, b""), (("predict", "{model}", "{folder}/t.csv", "--margins"), b"colour,margin\n")],
)
def test_a_reader_that_has_seen_enough_is_no_error(arguments, first, model, table, tmp_path):
    header, *rows = table.read_text().splitlines()
    (tmp_path / "t.csv").write_text("\n".join([header, *rows * 3000]))
    command = [*PROGRAM, *filled(arguments, model=model, folder=tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seen = process.stdout.readline() if first else b""
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()

    assert (seen, process.wait(), errors) == (first, 0, b"")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete_commands(shell):
    code, output, _ = in_process(environment={"_HYPERLVQ_COMPLETE": f"source_{shell}"})

    assert code == 0
    assert "_HYPERLVQ_COMPLETE" in output
