import io
import tarfile

import pytest
from raw_server import RawServer
from shell import hyperlvq, output_of
from small_set import FILES, NAME, with_test_file, write_set

from hyperlvq.study import collection as collections
from hyperlvq.study.collection import Facts, git_blob_sha1, manifest

BROKEN = {"conxuntos.dat": b""}


def test_list_shows_the_public_collection():
    lines = output_of("data", "list").splitlines()

    assert len(lines) == 1 + len(manifest())
    assert lines[4].split() == [*("adult", "48842", "14", "2", "32561", "16281"), "test", "file"]


def test_list_shows_the_built_in_sets():
    names = [line.split()[0] for line in output_of("data", "list", "--built-in").splitlines()]

    assert names == ["name", "iris", "wine", "breast-cancer", "digits"]


def test_list_of_a_path_shows_what_is_there(tmp_path):
    write_set(tmp_path)
    write_set(tmp_path, with_test_file("[bold]"), "[bold]")
    write_set(tmp_path, BROKEN, "broken")
    code, output, errors = hyperlvq("data", "list", tmp_path)

    assert code == 0
    assert [line.split() for line in output.splitlines()[1:]] == [
        ["[bold]", "16", "2", "2", "8", "8", "test", "file"],
        [NAME, "8", "2", "2", "6", "2", "splits"],
    ]
    assert errors == "hyperlvq: broken/broken_R.dat is missing\n"


WRONG_ROW = {**FILES, "conxuntos.dat": b"0\n9\n"}
ALL_WELL = (0, f"{NAME}: ok\n1 of 1 data sets are intact\n", "")


@pytest.mark.parametrize(
    ("sets", "named", "expected"),
    [
        ({NAME: FILES}, [], ALL_WELL),
        ({NAME: FILES, "iris": BROKEN}, [NAME], ALL_WELL),
        (
            {NAME: WRONG_ROW, "trees": with_test_file("trees")},
            [],
            (
                1,
                f"{NAME}: {NAME}/conxuntos.dat, line 2: row number 9, but the last row is 7\n"
                f"trees: ok\n1 of 2 data sets are intact; failed: {NAME}\n",
                "",
            ),
        ),
    ],
)
def test_verify_names_what_failed_of_the_sets_asked_for(tmp_path, sets, named, expected):
    for name, files in sets.items():
        write_set(tmp_path, files, name)

    assert hyperlvq("data", "verify", tmp_path, *named) == expected


def test_verify_misses_public_sets_where_there_are_some(tmp_path):
    write_set(tmp_path, BROKEN, "iris")
    code, output, _ = hyperlvq("data", "verify", tmp_path)

    assert code == 1
    assert "iris: iris/iris_R.dat is missing\n" in output
    assert f"zoo: {tmp_path} has no data set called 'zoo'\n" in output
    assert "0 of 121 data sets are intact; failed: abalone, " in output


@pytest.mark.data
def test_verify_of_the_collection_misses_miniboone_only(uci_path):
    code, output, _ = hyperlvq("data", "verify", uci_path)

    assert code == 1
    assert "miniboone: miniboone/miniboone_R.dat is missing\n" in output
    assert output.endswith("120 of 121 data sets are intact; failed: miniboone\n")


def test_text_of_a_set_reaches_a_terminal_as_it_is(tmp_path):
    table = FILES[f"{NAME}_R.dat"].replace(b"f1", b"\x1b[31m").replace(b"0.25", b"\x1b[2J")
    write_set(tmp_path, {**FILES, f"{NAME}_R.dat": table})
    code, output, errors = hyperlvq("data", "verify", tmp_path)

    assert (code, errors) == (1, "")
    assert all(line.isprintable() for line in output.split("\n"))
    assert "\\u001b[31m is '\\x1b[2J', not a finite number" in output


def test_fetch_downloads_what_has_the_checksum(tmp_path, address):
    path = tmp_path / "a.tar.xz"
    code, _, errors = hyperlvq("data", "fetch", address, "-o", path, "--sha256", "0" * 64)
    assert code == 2
    assert errors.splitlines()[-1].startswith(f"hyperlvq: {address} has SHA-256 ")
    assert not path.exists()

    output = output_of("data", "fetch", address, "-o", path)

    assert path.read_bytes() == b"bytes"
    assert output == f"saved: {path}; check it with hyperlvq data verify {path}\n"


@pytest.mark.parametrize("value", [b"0.25", b"0.26"])
def test_fetch_without_an_address_brings_the_collection_and_checks_it(tmp_path, monkeypatch, value):
    table = FILES[f"{NAME}_R.dat"]
    served = {**FILES, f"{NAME}_R.dat": table.replace(b"0.25", value)}
    monkeypatch.chdir(tmp_path)
    checksums = {file: git_blob_sha1(content) for file, content in FILES.items()}
    used = {NAME: Facts(NAME, 8, 2, 2, "splits", 6, 2, checksums)}
    monkeypatch.setattr(collections, "manifest", lambda: used)
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w:gz") as file:
        file.add(write_set(tmp_path / "home", served) / "data", "data")
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body.getvalue())}\r\n\r\n".encode()
    with RawServer() as server:
        monkeypatch.setattr(collections, "HOME", server.start(head + body.getvalue()))
        code, output, errors = hyperlvq("data", "fetch")

    sums = git_blob_sha1(served[f"{NAME}_R.dat"]), git_blob_sha1(table)
    differs = "differs from the file that the study used (git blob SHA-1 {}, expected {})"
    fault = f"{NAME}: {NAME}/{NAME}_R.dat {differs.format(*sums)}"
    expected = {
        b"0.25": (0, ["1 of 1 data sets are intact"]),
        b"0.26": (1, [fault, f"0 of 1 data sets are intact; failed: {NAME}"]),
    }
    assert (code, output.splitlines()[1:], errors) == (*expected[value], "")
    assert output.startswith("saved: uci121.tar.gz\n")
    assert (tmp_path / "uci121.tar.gz").is_file()


def test_fetch_shows_a_bar_on_a_terminal_for_an_address(tmp_path, address, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    code, _, errors = hyperlvq("data", "fetch", address, "-o", tmp_path / "a.tar.xz")

    assert code == 0
    assert "5/5 bytes" in errors
    refused = hyperlvq("data", "fetch", "notaurl", "-o", tmp_path / "x")
    assert refused == (2, "", "hyperlvq: 'notaurl' is not an http or https address\n")
