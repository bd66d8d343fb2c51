"""Where commands write: every place is tried before anything is run, so that no run is lost to a name.

One rule for all: what exists is not replaced, unless that is asked for (`--force`). The folder of a study, a search or a reproduction is
gone on with by the command that made it, which writes its own tables, pictures and pages again; one with other things in it is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from os import PathLike, fspath
from pathlib import Path

from ..errors import FolderError
from .files import in_place_of_file, reason
from .partial_files import hidden_file, hidden_folder


def new_file(path: str | PathLike[str], *, force: bool = False) -> Path:
    """The path of a file that is to be written; `FolderError` if it cannot be, or if it exists and is not to be replaced (`force`)."""
    target = Path(fspath(path))
    if kind := in_place_of_file(target):
        raise FolderError(f"cannot write {target}: it is {kind}, not a file")
    if target.is_symlink():
        raise FolderError(f"cannot write {target}: it is a link, which is not replaced")
    if os.path.lexists(target) and not force:
        raise FolderError(f"{target} exists: choose another name, or replace it with force=True")
    folder = folder_of(target)
    # Rights, read-only file systems and names that are too long show when a file is made, not before.
    try:
        with hidden_file(folder, target.name):
            pass
    except OSError as e:
        raise FolderError(f"cannot write {target}: {_reason(e, folder)}") from e
    return target


def folder_of(target: Path) -> Path:
    """The folder of a file that is to be written; `FolderError` if there is none."""
    folder = target.absolute().parent
    if not folder.is_dir():
        what = f"{target.parent} is {in_place_of_file(folder) or 'a file'}, not a folder" if os.path.lexists(folder) else ""
        raise FolderError(f"cannot write {target}: {what or f'the folder {target.parent} does not exist'}")
    return folder


def new_files(paths: Iterable[str | PathLike[str]], *, force: bool = False) -> list[Path]:
    """The paths of files that are to be written, no two of them the same."""
    out: dict[Path, Path] = {}
    for path in paths:
        target = new_file(path, force=force)
        place = target.absolute().parent.resolve() / target.name
        if place in out:
            raise FolderError(f"{target} is named twice: give each its own name")
        out[place] = target
    return list(out.values())


def open_folder(path: Path) -> None:
    """Makes sure that a folder can be made at `path`, or written into if it is there."""
    place = next(p for p in (path.absolute(), *path.absolute().parents) if os.path.lexists(p))
    if not place.is_dir():
        raise FolderError(f"cannot write {path}: {place} is {in_place_of_file(place) or 'a file'}, not a folder")
    try:
        with hidden_folder(place, path.name):
            pass
    except OSError as e:
        raise FolderError(f"cannot write {path}: {_reason(e, place)}") from e


def room_for(folder: Path, files: Iterable[str] = (), folders: Iterable[str] = ()) -> None:
    """Makes sure that nothing in a folder stands where these files and folders are to be written."""
    open_folder(folder)
    for name in files:
        if kind := in_place_of_file(folder / name):
            raise FolderError(f"cannot write {folder / name}: it is {kind}, not a file; move it away")
    for name in folders:
        path = folder / name
        if os.path.lexists(path):
            if not path.is_dir():
                raise FolderError(f"cannot write {path}: it is {in_place_of_file(path) or 'a file'}, not a folder; move it away")
            open_folder(path)


def _reason(e: OSError, folder: Path) -> str:
    return f"no permission to write in {folder}" if isinstance(e, PermissionError) else reason(e)
