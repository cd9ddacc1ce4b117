"""Find the files of a collection in a folder or an archive: `{data set: {file: ...}}`.

An archive gives contents, a folder paths; files that are not of the public layout are passed over.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from hyperlvq.checks import InputError
from hyperlvq.study.archive import read_archive
from hyperlvq.study.manifest import SPLITS_FILE, TUNING_FILE, held_out_file, training_file

Files = Mapping[str, Mapping[str, Path | bytes]]


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
    for name, content in read_archive(path, _is_of_layout):
        files = found.setdefault(name.parent.name, {})
        if name.name in files:
            raise InputError(f"{path} has {name.parent.name}/{name.name} twice")
        files[name.name] = content
    return found


def _is_of_layout(name: PurePosixPath) -> bool:
    return name.name in _layout_files(name.parent.name)
