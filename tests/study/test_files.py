import io
import tarfile

import pytest
from small_set import FILES, NAME, TABLE, write_set

from hyperlvq.checks import InputError
from hyperlvq.study import archive as archives
from hyperlvq.study.collection import find_files


def member(name, content=b"", **attributes):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for attribute, value in attributes.items():
        setattr(info, attribute, value)
    return info, content


def archive(path, *members, mode="w"):
    with tarfile.open(path, mode) as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return path


def test_folder_may_be_data_or_hold_it(tmp_path):
    write_set(tmp_path)

    assert find_files(tmp_path) == find_files(tmp_path / "data")
    assert find_files(tmp_path)[NAME].keys() == FILES.keys()


@pytest.mark.parametrize("compression", ["", ":gz", ":bz2", ":xz"])
@pytest.mark.parametrize("prefix", ["data/", "./data/", "", "collection-1.0/data/"])
def test_archive_gives_contents(tmp_path, compression, prefix):
    members = [member(f"{prefix}{NAME}/{file}", content) for file, content in FILES.items()]
    path = archive(tmp_path / "a.tar", *members, mode=f"w{compression}")

    assert find_files(path) == {NAME: FILES}


def test_files_of_other_kinds_are_passed_over(tmp_path):
    write_set(tmp_path, {"readme.txt": b""}, name="notes")
    write_set(tmp_path, {"conxuntos.dat": b""}, name="un\nprintable")
    path = archive(tmp_path / "a.tar", member("data/notes/readme.txt"), member("conxuntos.txt"))

    assert find_files(tmp_path) == {}
    assert find_files(path) == {}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (member("/data/iris/iris_R.dat"), "'/data/iris/iris_R.dat', which leads out of it"),
        (member("data/../../iris_R.dat"), "'data/../../iris_R.dat', which leads out of it"),
        (member("data/iris/iris_R.dat", type=tarfile.SYMTYPE, linkname="x"), "not a plain file"),
        (member("data/iris/iris_R.dat", type=tarfile.LNKTYPE, linkname="x"), "not a plain file"),
        (member("data/iris/iris_R.dat", type=tarfile.CHRTYPE), "not a plain file"),
        (member("data/iris/iris_R.dat", type=tarfile.FIFOTYPE), "not a plain file"),
        (member(f"data/{NAME}/{NAME}_R.dat", TABLE), f"has {NAME}/{NAME}_R.dat twice"),
    ],
)
def test_dangerous_archive_is_refused_as_a_whole(tmp_path, bad, message):
    good = member(f"data/{NAME}/{NAME}_R.dat", TABLE)
    path = archive(tmp_path / "a.tar", good, bad)

    with pytest.raises(InputError, match=message):
        find_files(path)


@pytest.mark.parametrize("size", [-512, 2**31, 2**62])
def test_member_of_absurd_size_is_refused(tmp_path, size):
    info = tarfile.TarInfo("data/iris/iris_R.dat")
    info.size = size
    (tmp_path / "a.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(4096))

    with pytest.raises(InputError, match=f"'data/iris/iris_R.dat' of {size} bytes: at most"):
        find_files(tmp_path / "a.tar")


def test_many_members_are_refused_once_they_are_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_ARCHIVE_BYTES", 10_000)
    path = archive(tmp_path / "a.tar", *[member(f"empty-{number}") for number in range(50)])

    with pytest.raises(InputError, match="unpacks to more than 10000 bytes"):
        find_files(path)


@pytest.mark.parametrize("compression", ["", ":gz", ":xz"])
def test_archive_cut_off_is_refused(tmp_path, rng, compression):
    noise = member("data/iris/iris_R.dat", rng.bytes(50_000))
    path = archive(tmp_path / "a.tar", noise, mode=f"w{compression}")
    path.write_bytes(path.read_bytes()[:20_000])

    with pytest.raises(InputError, match=r"a.tar is damaged or cut off: [^\n]+$"):
        find_files(path)


@pytest.mark.parametrize(
    "content", [b"", b"no archive", b"\x1f\x8b", b"BZh", b"BZh9x", b"\xfd7zXZ\x00"]
)
def test_file_that_is_no_archive_is_refused(tmp_path, content):
    path = tmp_path / "a.tar.xz"
    path.write_bytes(content)

    with pytest.raises(InputError, match=r"a.tar.xz is neither a folder nor a tar archive$"):
        find_files(path)


def test_missing_path_is_refused(tmp_path):
    with pytest.raises(InputError, match="nowhere does not exist"):
        find_files(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["folder", "a.tar"])
def test_unreadable_path_is_refused(tmp_path, monkeypatch, name):
    def forbidden(*_):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "folder").mkdir()
    monkeypatch.setattr("pathlib.Path.iterdir", forbidden)
    monkeypatch.setattr("builtins.open", forbidden)

    with pytest.raises(InputError, match=f"{name} cannot be read: Permission denied"):
        find_files(tmp_path / name)
