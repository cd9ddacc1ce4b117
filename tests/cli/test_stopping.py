"""Ctrl-C and other signals: one sentence that says what is true of the files."""

import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import pytest
from shell import PROGRAM, filled, hyperlvq
from small_tables import QUICK, colour_table

from hyperlvq import __version__

OLD = b"what was there before"
STOPPED = "hyperlvq: stopped\n"
NOTHING = "hyperlvq: stopped; nothing was written\n"
GOES_ON = "hyperlvq: stopped; run the command again to continue\n"
HALF = "hyperlvq: stopped; no file is half-written\n"

FIT = ("fit", "{table}", "-t", "colour", *QUICK, "-o")
PREDICT = ("predict", "{model}", "{table}")
EVALUATE = ("evaluate", "{model}", "{table}")
EXPORT = ("export", "{model}", "--vectors", "{table}", "-o", "{out}/c", "--to")


@pytest.mark.parametrize(
    ("function", "arguments", "sentence"),
    [
        ("tables.training.train", (*FIT, "{out}/old"), NOTHING),
        ("tables.training.train", (*FIT, "-"), NOTHING),
        ("model_files.to_bytes", (*FIT, "{out}/old"), NOTHING),
        ("tables.batches.prediction_table", (*PREDICT, "-o", "{out}/old.csv"), NOTHING),
        ("tables.evaluation.evaluate_table", (*EVALUATE, "--picture", "{out}/old.svg"), NOTHING),
        ("export.make_plan", (*EXPORT, "c"), NOTHING),
        ("tables.read.read_table", (*EXPORT, "onnx"), NOTHING),
        ("tables.evaluation.evaluate_table", EVALUATE, STOPPED),
        ("tables.batches.prediction_table", PREDICT, STOPPED),
        ("tables.batches.prediction_table", (*PREDICT, "-o", "/dev/null"), STOPPED),
        ("model_files.read_path", ("show", "{model}"), STOPPED),
        ("export.make_plan", ("budget", "{model}"), STOPPED),
        ("study.collection.manifest", ("data", "list"), STOPPED),
        ("study.collection.open_collection", ("data", "verify", "{out}"), STOPPED),
        ("study.runner.run_study", ("study", "run", "-o", "{out}/study"), GOES_ON),
        ("study.tuning.tune_study", ("study", "tune", "-o", "{out}/study"), GOES_ON),
        ("report.page.make_report", ("study", "report", "{out}", "-o", "{out}/r.html"), HALF),
        ("study.fetch._download", ("data", "fetch", "http://a/", "-o", "{out}/a"), NOTHING),
    ],
)
def test_commands_say_what_is_true_of_the_files(
    function, arguments, sentence, model, table, tmp_path
):
    before = {"old": OLD, "old.csv": OLD, "old.svg": OLD, "records.jsonl": b""}
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)

    with patch(f"hyperlvq.{function}", side_effect=KeyboardInterrupt):
        result = hyperlvq(*filled(arguments, model=model, table=table, out=tmp_path))

    assert result == (130, "", sentence)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_after_files_were_written_nothing_is_said_of_them(model, table, tmp_path):
    with patch("hyperlvq.cli.devices.print_result", side_effect=KeyboardInterrupt):
        result = hyperlvq(*filled((*EXPORT, "c"), model=model, table=table, out=tmp_path))

    assert result == (130, "", STOPPED)
    assert (tmp_path / "c" / "model.c").exists()


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
def test_a_signal_leaves_nothing_of_a_file_under_way(model, tmp_path, number, code):
    old = tmp_path / "old.csv"
    old.write_bytes(OLD)
    with started("predict", model, "-", "-o", old) as process:
        process.stdin.write(LONG_TABLE)
        while not list(tmp_path.glob(".*.part")):
            assert process.poll() is None
        process.send_signal(getattr(signal, number))
        output, errors = process.communicate(timeout=60)

    assert (process.returncode, output, errors.decode()) == (code, b"", NOTHING)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [OLD]


def test_a_signal_that_is_ignored_stays_so(model):
    with started("predict", model, "-", SIGHUP=signal.SIG_IGN) as process:
        process.stdin.write(b"a,b,kind\n0,1,x\n")
        process.send_signal(signal.SIGHUP)
        output, errors = process.communicate(timeout=60)

    assert (process.returncode, output, errors) == (0, b"colour\nred\n", b"")


def test_other_threads_leave_signals_alone():
    with ThreadPoolExecutor(1) as pool:
        code, output, _ = pool.submit(hyperlvq, "--version").result()

    assert (code, output) == (0, f"{__version__}\n")
