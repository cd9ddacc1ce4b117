"""Files that replace others: complete, or not at all."""

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
