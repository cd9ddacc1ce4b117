"""Files that replace others: complete, or not at all."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from hyperlvq.checks import InputError
from hyperlvq.writing import check_writable, replacing, write_bytes


def write_half(path):
    with replacing(path) as part:
        part.write_text("half")
        raise KeyError


def write_all(paths):
    with ExitStack() as files:
        for path in paths:
            files.enter_context(replacing(path)).write_text("new")


def test_new_content_replaces_the_old(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    with replacing(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"

    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_raises_leaves_everything_as_it_was(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    with pytest.raises(KeyError):
        write_half(path)

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_several_files_become_all_or_none(tmp_path):
    paths = [tmp_path / "one", tmp_path / "folder"]
    paths[1].mkdir()

    with pytest.raises(InputError, match="folder cannot be written: it is a folder"):
        write_all(paths)

    assert not paths[0].exists()


def test_a_link_stays_one(tmp_path):
    (tmp_path / "target").write_text("old")
    link = tmp_path / "link"
    link.symlink_to("target")

    write_bytes(b"new", link)

    assert link.is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    """Set the umask to 027, which lets others read nothing."""
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_a_new_file_gets_what_the_umask_leaves(tmp_path, umask):
    write_bytes(b"new", tmp_path / "file")

    assert mode_of(tmp_path / "file") == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, umask, mode):
    path = tmp_path / "file"
    path.touch()
    path.chmod(mode)

    write_bytes(b"new", path)

    assert mode_of(path) == mode


def test_nobody_else_reads_what_will_replace_a_secret(tmp_path):
    path = tmp_path / "file"
    path.touch(0o600)

    with replacing(path) as part:
        assert mode_of(part) == 0o600


def test_a_file_of_a_group_that_is_not_ours_is_not_opened_to_our_own(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError

    path = tmp_path / "file"
    path.touch()
    path.chmod(0o660)
    monkeypatch.setattr("os.fchown", refuse)

    write_bytes(b"new", path)

    assert mode_of(path) == 0o600


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root")
def test_root_leaves_a_file_to_its_owner(tmp_path):
    path = tmp_path / "file"
    path.touch()
    os.chown(path, 1234, 1235)

    write_bytes(b"new", path)

    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1235)


def test_a_temporary_name_cannot_be_guessed(tmp_path):
    with replacing(tmp_path / "file") as first, replacing(tmp_path / "file") as second:
        assert first != second
        assert first.parent == second.parent == tmp_path


def test_a_link_at_the_temporary_name_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr("secrets.token_hex", lambda _: "guessed")
    (tmp_path / "victim").write_text("old")
    (tmp_path / ".hyperlvq-guessed.part").symlink_to("victim")

    with pytest.raises(InputError, match="file cannot be written: File exists"):
        write_bytes(b"new", tmp_path / "file")

    assert (tmp_path / "victim").read_text() == "old"


def test_threads_that_write_one_path_leave_one_whole_file(tmp_path):
    path = tmp_path / "file"
    contents = [bytes([number]) * 200_000 for number in range(8)]

    def write_and_read(content):
        write_bytes(content, path)
        return path.read_bytes()

    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(write_and_read, contents * 4))

    assert set(seen) <= set(contents)
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_as_long_as_a_name_can_be_is_written(tmp_path):
    path = tmp_path / ("a" * 255)

    write_bytes(b"new", path)

    assert path.read_bytes() == b"new"


def test_a_full_disk_is_one_sentence():
    with pytest.raises(InputError, match="/dev/full cannot be written: No space left on device"):
        write_bytes(b"content", "/dev/full")


def test_a_file_in_place_of_a_folder_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(InputError, match="cannot be written: Not a directory"):
        write_bytes(b"content", tmp_path / "file" / "model")


@pytest.mark.parametrize(
    ("path", "sentence"),
    [(".", "it is a folder"), ("no/where", "no is not a folder")],
)
def test_what_cannot_be_written_is_known_before(tmp_path, monkeypatch, path, sentence):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InputError, match=f"{path} cannot be written: {sentence}"):
        check_writable(path)


def test_a_folder_that_takes_no_new_file_is_known_before(tmp_path, monkeypatch):
    (tmp_path / "model").write_text("old")
    monkeypatch.setattr("os.access", lambda path, _: path != tmp_path)

    with pytest.raises(InputError, match="model cannot be written: Permission denied"):
        check_writable(tmp_path / "model")
