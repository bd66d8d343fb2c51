"""Checks of output paths, made before a run, so that no run is lost to a wrong name.

Existing files are kept without `--force`. The command of a study, a tuning run or a reproduction resumes its folder and writes tables,
plots and pages again; a folder with other contents is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from os import PathLike, fspath
from pathlib import Path

from ..errors import FolderError
from .files import in_place_of_file, reason, save_bytes
from .partial_files import hidden_file, hidden_folder


def new_file(path: str | PathLike[str], *, force: bool = False) -> Path:
    """Returns the path of an output file; raises `FolderError` if it cannot be written, or exists without `force`."""
    target = Path(fspath(path))
    if kind := in_place_of_file(target):
        raise FolderError(f"cannot write {target}: it is {kind}, not a file")
    if target.is_symlink():
        raise FolderError(f"cannot write {target}: it is a link, which is not replaced")
    if os.path.lexists(target) and not force:
        raise FolderError(f"{target} exists: choose another name, or replace it with force=True")
    folder = folder_of(target)
    # Creating a file reveals missing rights, read-only file systems and names that are too long.
    try:
        with hidden_file(folder, target.name):
            pass
    except OSError as e:
        raise FolderError(f"cannot write {target}: {_reason(e, folder)}") from None
    return target


def kept_text(make: Callable[[], str], path: str | PathLike[str] | None, *, force: bool) -> str:
    """Returns the text that `make` returns; `path`: also writes it. A path that cannot be written is an error before anything is made."""
    target = None if path is None else new_file(path, force=force)
    text = make()
    if target is not None:
        save_bytes(target, text.encode(), new=not force)
    return text


def folder_of(target: Path) -> Path:
    """Returns the folder of an output file; raises `FolderError` if it does not exist."""
    folder = target.absolute().parent
    if not folder.is_dir():
        what = f"{target.parent} is {in_place_of_file(folder) or 'a file'}, not a folder" if os.path.lexists(folder) else ""
        raise FolderError(f"cannot write {target}: {what or f'the folder {target.parent} does not exist'}")
    return folder


def new_files(paths: Iterable[str | PathLike[str]], *, force: bool = False) -> list[Path]:
    """Returns the paths of output files; raises `FolderError` if two are the same."""
    out: dict[Path, Path] = {}
    for path in paths:
        target = new_file(path, force=force)
        place = target.absolute().parent.resolve() / target.name
        if place in out:
            raise FolderError(f"{target} is named twice: give each its own name")
        out[place] = target
    return list(out.values())


def open_folder(path: Path, shown: Path | None = None) -> None:
    """Raises `FolderError` if a folder cannot be created at `path`, or an existing one cannot be written to; errors name `shown`."""
    place = next(p for p in (path.absolute(), *path.absolute().parents) if os.path.lexists(p))
    if not place.is_dir():
        raise FolderError(f"cannot write {shown or path}: {place} is {in_place_of_file(place) or 'a file'}, not a folder")
    try:
        with hidden_folder(place, path.name):
            pass
    except OSError as e:
        raise FolderError(f"cannot write {shown or path}: {_reason(e, place)}") from None


def room_for(folder: Path, files: Iterable[str] = (), folders: Iterable[str] = ()) -> None:
    """Raises `FolderError` if something else in a folder has the name of one of these files and folders."""
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
    if isinstance(e, PermissionError):
        return f"no permission to write in {folder}"
    # The folder exists: a file system such as /proc takes no files.
    return f"{folder} takes no new files" if isinstance(e, FileNotFoundError) else reason(e)
