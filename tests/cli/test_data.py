import subprocess
from pathlib import Path

import pytest
from fuzzing import mutated
from hypothesis import given, settings
from hypothesis import strategies as st
from raw_server import RawServer
from shell import PROGRAM, hyperlvq
from small_set import FILES, NAME, with_test_file, write_set

from hyperlvq.study.collection import manifest


def test_list_shows_the_public_collection():
    code, output, _ = hyperlvq("data", "list")

    assert code == 0
    assert len(output.splitlines()) == 1 + len(manifest())
    assert output.splitlines()[4].split() == [
        *("adult", "48842", "14", "2", "32561", "16281"),
        *("test", "file"),
    ]


def test_list_shows_the_built_in_sets():
    _, output, _ = hyperlvq("data", "list", "--built-in")

    names = [line.split()[0] for line in output.splitlines()]
    assert names == ["name", "iris", "wine", "breast-cancer", "digits"]


def test_list_of_a_path_shows_what_is_there(tmp_path):
    write_set(tmp_path)
    write_set(tmp_path, with_test_file("[bold]"), "[bold]")
    write_set(tmp_path, {"conxuntos.dat": b""}, "broken")
    code, output, errors = hyperlvq("data", "list", tmp_path)

    assert code == 0
    rows = [line.split() for line in output.splitlines()[1:]]
    assert rows == [
        ["[bold]", "16", "2", "2", "8", "8", "test", "file"],
        [NAME, "8", "2", "2", "6", "2", "splits"],
    ]
    assert errors == "hyperlvq: broken/broken_R.dat is missing\n"


def test_list_takes_one_source(tmp_path):
    code, _, errors = hyperlvq("data", "list", tmp_path, "--built-in")

    assert code == 2
    assert errors == "hyperlvq: give a path or --built-in, not both\n"


def test_verify_says_that_all_is_well(tmp_path):
    code, output, _ = hyperlvq("data", "verify", write_set(tmp_path))

    assert code == 0
    assert output == f"{NAME}: ok\n1 of 1 data sets are whole\n"


def test_verify_names_what_failed(tmp_path):
    write_set(tmp_path, {**FILES, "conxuntos.dat": b"0\n9\n"})
    write_set(tmp_path, with_test_file("trees"), "trees")
    code, output, _ = hyperlvq("data", "verify", tmp_path)

    assert code == 1
    assert output.splitlines() == [
        f"{NAME}: {NAME}/conxuntos.dat, line 2: row number 9, but the last row is 7",
        "trees: ok",
        f"1 of 2 data sets are whole; failed: {NAME}",
    ]


def test_verify_misses_public_sets_where_there_are_some(tmp_path):
    write_set(tmp_path, {"conxuntos.dat": b""}, "iris")
    code, output, _ = hyperlvq("data", "verify", tmp_path)

    assert code == 1
    assert "iris: iris/iris_R.dat is missing\n" in output
    assert f"zoo: {tmp_path} has no data set called 'zoo'\n" in output
    assert "0 of 121 data sets are whole; failed: abalone, " in output


def test_verify_checks_only_the_sets_named(tmp_path):
    write_set(tmp_path)
    write_set(tmp_path, {"conxuntos.dat": b""}, "iris")
    code, output, _ = hyperlvq("data", "verify", tmp_path, NAME)

    assert code == 0
    assert output == f"{NAME}: ok\n1 of 1 data sets are whole\n"


def test_verify_of_nothing_is_bad_input(tmp_path):
    code, output, errors = hyperlvq("data", "verify", tmp_path / "nowhere.tar.xz")

    assert code == 2
    assert output == ""
    assert errors == f"hyperlvq: {tmp_path / 'nowhere.tar.xz'} does not exist\n"


@pytest.mark.data
def test_verify_of_the_collection_misses_miniboone_only(uci_path):
    code, output, _ = hyperlvq("data", "verify", uci_path)

    assert code == 1
    assert "miniboone: miniboone/miniboone_R.dat is missing\n" in output
    assert output.endswith("120 of 121 data sets are whole; failed: miniboone\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("command", ["list", "verify", "fetch"])
def test_full_disk_is_one_sentence(tmp_path, address, command):
    path = write_set(tmp_path)
    arguments = {
        "list": ["list", path],
        "verify": ["verify", path],
        "fetch": ["fetch", address, "-o", path / "a"],
    }
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PROGRAM, "data", *arguments[command]], stdout=full, stderr=subprocess.PIPE, text=True
        )

    sentence = "hyperlvq: standard output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, sentence)


def test_text_of_a_set_reaches_a_terminal_as_it_is(tmp_path):
    table = FILES[f"{NAME}_R.dat"].replace(b"f1", b"\x1b[31m").replace(b"0.25", b"\x1b[2J")
    code, output, errors = hyperlvq(
        "data", "verify", write_set(tmp_path, {**FILES, f"{NAME}_R.dat": table})
    )

    assert (code, errors) == (1, "")
    assert all(line.isprintable() for line in output.split("\n"))
    assert "\\u001b[31m is '\\x1b[2J', not a finite number" in output


@pytest.fixture
def address():
    with RawServer() as server:
        yield server.start(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbytes")


def test_fetch_downloads(tmp_path, address):
    path = tmp_path / "a.tar.xz"
    code, output, errors = hyperlvq("data", "fetch", address, "-o", path)

    assert (code, errors) == (0, "")
    assert path.read_bytes() == b"bytes"
    assert output == f"{path} is there; check it: hyperlvq data verify {path}\n"


@pytest.mark.parametrize("is_terminal", [False, True])
def test_fetch_shows_no_bar_for_what_is_no_address(tmp_path, monkeypatch, is_terminal):
    if is_terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    result = hyperlvq("data", "fetch", "notaurl", "-o", tmp_path / "x")

    assert result == (2, "", "hyperlvq: 'notaurl' is not an http or https address\n")


def test_fetch_shows_a_bar_on_a_terminal(tmp_path, address, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    code, _, errors = hyperlvq("data", "fetch", address, "-o", tmp_path / "a.tar.xz")

    assert code == 0
    assert "5/5 bytes" in errors


def test_fetch_refuses_a_wrong_checksum(tmp_path, address):
    path = tmp_path / "a.tar.xz"
    code, _, errors = hyperlvq("data", "fetch", address, "-o", path, "--sha256", "0" * 64)

    assert code == 2
    assert errors.splitlines()[-1].startswith(f"hyperlvq: {address} has SHA-256 ")
    assert not path.exists()


def changed_files():
    """Return the small set's files with a slice of one of them replaced by anything."""
    pieces = st.text("0123456789.- \t\n", max_size=5).map(str.encode)
    changes = [
        mutated(content, pieces).map(lambda changed, file=file: {**FILES, file: changed})
        for file, content in FILES.items()
    ]
    return st.one_of(changes)


@settings(deadline=None)
@given(files=changed_files())
def test_verify_of_anything_gives_a_verdict_in_one_sentence(files, tmp_path_factory):
    folder = write_set(tmp_path_factory.mktemp("fuzz"), files)

    code, output, errors = hyperlvq("data", "verify", folder)
    verdict, summary = output.splitlines()
    assert errors == ""
    assert (code, summary[0]) in [(0, "1"), (1, "0")]
    assert verdict.startswith(f"{NAME}: ")
