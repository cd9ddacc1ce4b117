"""Find the files of a collection in a folder or an archive: `{data set: {file: ...}}`.

An archive gives contents, a folder paths; files that are not of the public layout are passed over.
"""

import tarfile
import zlib
from collections.abc import Iterator, Mapping
from lzma import LZMAError
from pathlib import Path, PurePosixPath

from hyperlvq.checks import InputError
from hyperlvq.study.manifest import SPLITS_FILE, TUNING_FILE, held_out_file, training_file

Files = Mapping[str, Mapping[str, Path | bytes]]

# the public collection unpacks to 200 MB: far beyond that, an archive is a trap
MAX_MEMBER_BYTES = 2**30
MAX_ARCHIVE_BYTES = 2**31
_HEADER_BYTES = 512
# tarfile lets ValueError and OverflowError through where a header's numbers make no sense
_DAMAGE = (tarfile.TarError, EOFError, LZMAError, zlib.error, ValueError, OverflowError)


def find_files(path: Path) -> Files:
    """Return the files of a folder or an archive, which is read once, without unpacking it."""
    try:
        return _files_of_folder(path) if path.is_dir() else _files_of_archive(path)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None


def _layout_files(name: str) -> tuple[str, ...]:
    if not name.isprintable():  # it could be neither typed nor shown
        return ()
    tables = training_file(name, True), training_file(name, False), held_out_file(name)
    return (*tables, TUNING_FILE, SPLITS_FILE)


def _files_of_folder(folder: Path) -> Files:
    data = folder / "data"
    found = {
        entry.name: {
            file: entry / file for file in _layout_files(entry.name) if (entry / file).is_file()
        }
        for entry in (data if data.is_dir() else folder).iterdir()
    }
    return {name: files for name, files in found.items() if files}


def _files_of_archive(path: Path) -> Files:
    found: dict[str, dict[str, bytes]] = {}
    with _opened(path) as archive:
        try:
            for name, content in _contents(archive):
                files = found.setdefault(name.parent.name, {})
                if name.name in files:
                    raise InputError(f"{path} has {name.parent.name}/{name.name} twice")
                files[name.name] = content
        except InputError:
            raise
        except _DAMAGE as error:
            raise InputError(f"{path} is damaged or cut off: {error}") from None
    return found


def _opened(path: Path) -> tarfile.TarFile:
    try:
        return tarfile.open(path)
    except _DAMAGE:
        raise InputError(f"{path} is neither a folder nor a tar archive") from None


def _contents(archive: tarfile.TarFile) -> Iterator[tuple[PurePosixPath, bytes]]:
    total = 0
    for member in archive:
        total += member.size + _HEADER_BYTES
        _check_member(member, total, archive.name)
        name = PurePosixPath(member.name)
        if member.isfile() and name.name in _layout_files(name.parent.name):
            stream = archive.extractfile(member)
            assert stream is not None  # as it is a file
            yield name, stream.read()


def _check_member(member: tarfile.TarInfo, total: int, archive: object) -> None:
    """Refuse what has no place in a collection: none of it is ever unpacked to disk, but still."""
    name = PurePosixPath(member.name)
    if not (member.isfile() or member.isdir()) or member.issparse():
        raise InputError(f"{archive} has {member.name!r}, which is not a plain file or a folder")
    if name.is_absolute() or ".." in name.parts:
        raise InputError(f"{archive} has {member.name!r}, which leads out of it")
    if not 0 <= member.size <= MAX_MEMBER_BYTES:
        raise InputError(f"{archive} has {member.name!r} of {member.size} bytes, which is refused")
    if total > MAX_ARCHIVE_BYTES:
        raise InputError(f"{archive} unpacks to more than {MAX_ARCHIVE_BYTES} bytes")
