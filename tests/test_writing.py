"""Files that replace others: complete, or not at all."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from hyperlvq.checks import InputError
from hyperlvq.writing import check_writable, replacing, write_bytes


@pytest.fixture
def old_file(tmp_path):
    """Return a file that was there before."""
    (tmp_path / "file").write_text("old")
    return tmp_path / "file"


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("name", ["file", "link", "a" * 255])
def test_new_content_replaces_the_old_in_the_end_and_a_link_stays_one(name, old_file, tmp_path):
    (tmp_path / "link").symlink_to("file")
    with replacing(tmp_path / name) as part:
        part.write_text("new")
        assert old_file.read_text() == "old"

    assert (tmp_path / name).read_text() == "new"
    assert (tmp_path / "link").readlink().name == "file"
    assert {path.name for path in tmp_path.iterdir()} == {"file", "link", name}


def write_half(path, *, fails):
    with replacing(path) as part:
        part.write_text("half")
        if fails:
            raise KeyError


def disk_is_full(descriptor):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(("fsync", "error"), [(os.fsync, KeyError), (disk_is_full, InputError)])
def test_what_is_not_finished_leaves_everything_as_it_was(
    fsync, error, old_file, tmp_path, monkeypatch
):
    monkeypatch.setattr("os.fsync", fsync)
    with pytest.raises(error):
        write_half(old_file, fails=error is KeyError)

    assert old_file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old_file]


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
def test_a_file_that_is_replaced_keeps_its_mode_and_nobody_else_reads_the_new_one_before(
    old_file, umask, mode
):
    old_file.chmod(mode)

    with replacing(old_file) as part:
        assert mode_of(part) == 0o600

    assert mode_of(old_file) == mode


def test_a_file_of_a_group_that_is_not_ours_is_not_opened_to_our_own(old_file, monkeypatch):
    def refuse(*_):
        raise PermissionError

    old_file.chmod(0o660)
    monkeypatch.setattr("os.fchown", refuse)

    write_bytes(b"new", old_file)

    assert mode_of(old_file) == 0o600


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root")
def test_root_leaves_a_file_to_its_owner(old_file):
    os.chown(old_file, 1234, 1235)

    write_bytes(b"new", old_file)

    assert (old_file.stat().st_uid, old_file.stat().st_gid) == (1234, 1235)


def test_a_link_at_the_temporary_name_is_not_followed(old_file, tmp_path, monkeypatch):
    monkeypatch.setattr("secrets.token_hex", lambda _: "guessed")
    (tmp_path / ".hyperlvq-guessed.part").symlink_to("file")

    with pytest.raises(InputError, match="new cannot be written: File exists"):
        write_bytes(b"new", tmp_path / "new")

    assert old_file.read_text() == "old"


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


@pytest.mark.parametrize(
    ("write", "path", "sentence"),
    [
        (write_bytes, "/dev/full", "No space left on device"),
        (write_bytes, "file/model", "Not a directory"),
        (check_writable, ".", "it is a folder"),
        (check_writable, "no/where", "there is no folder no$"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(
    old_file, tmp_path, monkeypatch, write, path, sentence
):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InputError, match=f"{path} cannot be written: {sentence}"):
        write(*([b"content"] if write is write_bytes else []), path)


def test_a_folder_that_takes_no_new_file_is_known_before(old_file, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, _: path != tmp_path)

    with pytest.raises(InputError, match="file cannot be written: Permission denied"):
        check_writable(old_file)
