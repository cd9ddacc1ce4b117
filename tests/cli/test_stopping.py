"""Ctrl-C and other signals: one sentence that says what is true of the files."""

import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import pytest
from shell import PROGRAM, hyperlvq
from small_tables import QUICK, colour_table, fit_colours

from hyperlvq import __version__
from hyperlvq.cli.stopping import StoppedError, if_stopped

OLD = b"what was there before"
NOTHING = "hyperlvq: stopped; nothing was written\n"
STOPPED = "hyperlvq: stopped\n"
TABLE, MODEL = "{folder}/colours.csv", "{folder}/colours.hlvq"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table and a model of it."""
    folder = tmp_path_factory.mktemp("stopping")
    fit_colours(folder)
    return folder


def stopped(function, folder, out, *arguments):
    """Return how a command ends if Ctrl-C comes when it calls a function."""
    with patch(f"hyperlvq.{function}", side_effect=KeyboardInterrupt):
        return hyperlvq(*(part.format(folder=folder, out=out) for part in arguments))


FIT = ("fit", TABLE, "-t", "colour", *QUICK, "-o")
EXPORT = ("export", MODEL, "--vectors", TABLE, "-o", "{out}/c", "--to")


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("tables.training.train", (*FIT, "{out}/old")),
        ("tables.training.train", (*FIT, "-")),
        ("model_files.to_bytes", (*FIT, "{out}/old")),
        ("tables.batches.prediction_table", ("predict", MODEL, TABLE, "-o", "{out}/old.csv")),
        (
            "tables.evaluation.evaluate_table",
            ("evaluate", MODEL, TABLE, "--picture", "{out}/old.svg"),
        ),
        ("export.make_plan", (*EXPORT, "c")),
        ("tables.read.read_table", (*EXPORT, "onnx")),
    ],
)
def test_a_command_that_writes_says_that_it_has_not(folder, tmp_path, function, arguments):
    names = ("old", "old.csv", "old.svg")
    for name in names:
        (tmp_path / name).write_bytes(OLD)

    assert stopped(function, folder, tmp_path, *arguments) == (130, "", NOTHING)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == dict.fromkeys(
        names, OLD
    )


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("tables.evaluation.evaluate_table", ("evaluate", MODEL, TABLE)),
        ("tables.batches.prediction_table", ("predict", MODEL, TABLE)),
        ("tables.batches.prediction_table", ("predict", MODEL, TABLE, "-o", "/dev/null")),
        ("model_files.read_path", ("show", MODEL)),
        ("export.make_plan", ("budget", MODEL)),
        ("study.collection.manifest", ("data", "list")),
        ("study.collection.open_collection", ("data", "verify", "{folder}")),
    ],
)
def test_other_commands_say_that_they_stopped(folder, tmp_path, function, arguments):
    assert stopped(function, folder, tmp_path, *arguments) == (130, "", STOPPED)


def test_after_files_were_written_nothing_is_said_of_them(folder, tmp_path):
    result = stopped("export.compare", folder, tmp_path, *EXPORT, "c")

    assert result == (130, "", STOPPED)
    assert (tmp_path / "c" / "model.c").exists()


@pytest.mark.parametrize(
    ("function", "arguments", "sentence"),
    [
        (
            "study.runner.run_study",
            ("run", "-o", "{out}/study"),
            "a study goes on from here when its command is run again",
        ),
        (
            "study.tuning.tune_study",
            ("tune", "-o", "{out}/study"),
            "a study goes on from here when its command is run again",
        ),
        (
            "report.page.make_report",
            ("report", "{out}", "-o", "{out}/r.html"),
            "no file is left half-written",
        ),
    ],
)
def test_a_study_says_what_it_left(folder, tmp_path, function, arguments, sentence):
    (tmp_path / "records.jsonl").write_text("")
    result = stopped(function, folder, tmp_path, "study", *arguments)

    assert result == (130, "", f"hyperlvq: stopped; {sentence}\n")


def test_a_download_says_that_it_can_be_resumed(folder, tmp_path):
    result = stopped(
        *("study.fetch._download", folder, tmp_path),
        *("data", "fetch", "http://127.0.0.1/a", "-o", "{out}/a"),
    )

    sentence = "hyperlvq: stopped; the same command resumes the download, if the server can\n"
    assert result == (130, "", sentence)


@contextmanager
def started(*arguments, **signals):
    """Yield a command that reads from a pipe and treats signals as told, whoever started us."""

    def set_signals():
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            signal.signal(getattr(signal, name), signals.get(name, signal.SIG_DFL))

    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [*PROGRAM, *map(str, arguments)]
    with ExitStack() as stack:
        process = stack.enter_context(subprocess.Popen(command, **pipes, preexec_fn=set_signals))
        stack.callback(process.kill)
        yield process


#: More than a pipe holds: once it is written, most of it has been read.
LONG_TABLE = colour_table(100_000).encode()


@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_stops_a_training_in_one_sentence(tmp_path, number, code):
    with started("fit", "-", "-t", "colour", "-o", tmp_path / "m.hlvq") as process:
        process.stdin.write(LONG_TABLE)
        process.send_signal(getattr(signal, number))
        output, errors = process.communicate(timeout=60)

    assert (process.returncode, output, errors.decode()) == (code, b"", NOTHING)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("number", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_leaves_nothing_of_a_file_under_way(folder, tmp_path, number, code):
    old = tmp_path / "old.csv"
    old.write_bytes(OLD)
    with started("predict", folder / "colours.hlvq", "-", "-o", old) as process:
        process.stdin.write(LONG_TABLE)
        while not list(tmp_path.glob(".*.part")):
            assert process.poll() is None
        process.send_signal(getattr(signal, number))
        output, errors = process.communicate(timeout=60)

    assert (process.returncode, output, errors.decode()) == (code, b"", NOTHING)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [OLD]


def test_a_signal_that_is_ignored_stays_so(folder):
    with started("predict", folder / "colours.hlvq", "-", SIGHUP=signal.SIG_IGN) as process:
        process.stdin.write(b"a,b,kind\n0,1,x\n")
        process.send_signal(signal.SIGHUP)
        output, errors = process.communicate(timeout=60)

    assert (process.returncode, output, errors) == (0, b"colour\nred\n", b"")


def test_other_threads_leave_signals_alone():
    with ThreadPoolExecutor(1) as pool:
        code, output, _ = pool.submit(hyperlvq, "--version").result()

    assert (code, output) == (0, f"{__version__}\n")


def test_what_holds_within_a_block_is_said_of_it_alone():
    with (
        pytest.raises(StoppedError, match="nothing was written"),
        if_stopped("nothing was written"),
    ):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt), if_stopped(None):
        raise KeyboardInterrupt
