"""Files and folders that are complete or absent: written under a temporary name, then renamed."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from os import PathLike, fspath
from pathlib import Path

from ..errors import FolderError, InputError
from .partial_files import held, hidden_file, hidden_folder, put_back, replaced_name
from .rename import exchange, take_name

LARGEST_INPUT = 64 << 20
"""Largest text that is read, in bytes: a scenario, a study, a packet script, standard input."""


def read_input(path: str | PathLike[str], most: int = LARGEST_INPUT) -> bytes:
    """Returns the bytes of an input file, at most `most`.

    Raises `InputError` with one line if the file is missing, unreadable, too large or not a regular file. Devices and pipes are refused
    without waiting: they may have no end, or no writer.
    """
    name = fspath(path)
    try:
        # Not blocking: between stat and open a pipe may replace the file.
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            kind = os.fstat(fd).st_mode
            if not stat.S_ISREG(kind):
                raise InputError(f"cannot read {name}: it is {_kind(kind)}, not a file")
            with open(fd, "rb", closefd=False) as f:
                data = f.read(most + 1)
        finally:
            os.close(fd)
    except OSError as e:
        raise InputError(f"cannot read {name}: {(e.strerror or str(e)).lower()}") from None
    except ValueError as e:
        raise InputError(f"cannot read {name!r}: {e}") from None
    if len(data) > most:
        raise InputError(f"cannot read {name}: it is larger than {most >> 20} MiB")
    return data


def package_stamp() -> str:
    """Returns a digest of names, sizes and times of the files of the package: another one after an update or an edit."""
    found = hashlib.sha256()
    for folder, inside, names in os.walk(Path(__file__).parents[1]):
        inside[:] = sorted(name for name in inside if name != "__pycache__")
        for name in sorted(names):
            path = Path(folder, name)
            with suppress(FileNotFoundError):
                about = path.stat()
                found.update(f"{path} {about.st_size} {about.st_mtime_ns}\n".encode())
    return found.hexdigest()


def _kind(mode: int) -> str:
    kinds = {"a directory": stat.S_ISDIR, "a pipe": stat.S_ISFIFO, "a socket": stat.S_ISSOCK}
    return next((name for name, test in kinds.items() if test(mode)), "a device")


@contextmanager
def replacing(path: Path, may_replace: Callable[[Path], bool] | None = None) -> Iterator[Path]:
    """Yields a new hidden folder next to `path`, renamed to `path` at the end; removed on an error.

    An existing `path` is replaced in one step if `may_replace` returns true for it.
    """
    path = path.absolute()
    made: list[Path] = []
    try:
        made = make_folders(path.parent)
        put_back(path)
        with hidden_folder(path.parent, path.name) as temp:
            yield temp
            try:
                _put(temp, path, may_replace)
            except FileExistsError:
                raise _made_meanwhile(path) from None
    except BaseException as e:
        remove_empty(made)
        if isinstance(e, OSError):
            raise FolderError(f"cannot write {path}: {reason(e)}; no part of it was written") from None
        raise


def _made_meanwhile(path: str | PathLike[str]) -> FolderError:
    return FolderError(f"{fspath(path)} was made by another program meanwhile, and is not replaced: choose another name")


def make_folders(path: Path) -> list[Path]:
    """Creates a folder with its parents; returns the created ones, the innermost first."""
    new = [p for p in (path, *path.parents) if not p.exists()]
    path.mkdir(parents=True, exist_ok=True)
    return new


def remove_empty(folders: Iterable[Path]) -> None:
    """Removes folders, the innermost first, up to one that is not empty: another process may write there."""
    for folder in folders:
        try:
            folder.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            return


def _put(temp: Path, path: Path, may_replace: Callable[[Path], bool] | None) -> None:
    """Renames a finished folder; raises `FileExistsError` if the name is taken and must not be replaced."""
    if may_replace is None or not os.path.lexists(path):
        take_name(temp, path)
        return
    if not may_replace(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    if exchange(temp, path):
        # Another folder may have come between the check and the exchange: one that must not be replaced goes back.
        if not may_replace(temp):
            exchange(temp, path)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        return
    # Two steps: a process killed between them leaves the old folder visible, and the next write puts it back.
    with held(path):
        aside = path.with_name(replaced_name(path.name))
        path.rename(aside)
        try:
            take_name(temp, path)
        except BaseException:
            if not os.path.lexists(path):
                aside.rename(path)
            raise
        shutil.rmtree(aside, ignore_errors=True)


def reason(e: OSError) -> str:
    """Returns the reason of an `OSError` in plain words."""
    if e.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full"
    if e.errno == errno.EFBIG:
        return "the file would be larger than allowed"
    return (e.strerror or str(e)).lower()


_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a link that leads nowhere"),
)


def kind_of(mode: int) -> str:
    """Returns the kind of a path by its `st_mode`, such as "a folder"; "" for a regular file."""
    return next((words for test, words in _KINDS if test(mode)), "")


def in_place_of_file(path: Path) -> str:
    """Returns the kind of a path that is not a regular file, such as "a pipe"; "" for a file or nothing."""
    try:
        return kind_of(path.stat().st_mode)
    except FileNotFoundError:
        return kind_of(path.lstat().st_mode) if path.is_symlink() else ""


class NotAFile(OSError):
    """A folder, a pipe, a socket or a device instead of a file."""


def open_file(path: Path) -> io.BufferedReader:
    """Opens a regular file for reading. Raises `NotAFile` for others: a pipe would wait for a writer, a device might never end."""
    if kind := kind_of(path.stat().st_mode):
        raise NotAFile(errno.EINVAL, f"it is {kind}, not a file", str(path))
    # The path may have changed since the check: it is opened without waiting and checked again.
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    if kind := kind_of(os.fstat(fd).st_mode):
        os.close(fd)
        raise NotAFile(errno.EINVAL, f"it is {kind}, not a file", str(path))
    return io.BufferedReader(io.FileIO(fd))


def write_file(path: Path, data: bytes) -> str:
    """Writes a file, syncs it to the disk and returns its SHA-256."""
    with path.open("wb") as f:
        f.write(data)
        f.flush()
        os.fsync(f.fileno())
    return hashlib.sha256(data).hexdigest()


def save_bytes(path: str | PathLike[str], data: bytes, *, new: bool = False) -> None:
    """Writes one file atomically; with `new` an existing file is not replaced."""
    target = Path(fspath(path)).absolute()
    try:
        with hidden_file(target.parent, target.name) as (fd, temp):
            with open(fd, "wb", closefd=False) as f:
                f.write(data)
            os.fsync(fd)
            name_file(temp, target, new=new)
    except OSError as e:
        raise FolderError(f"cannot write {fspath(path)}: {reason(e)}; no part of it was written") from None


def name_file(temp: Path, target: Path, *, new: bool) -> None:
    """Renames a finished file; with `new` raises `FolderError` if the name is taken."""
    if not new:
        temp.replace(target)
        return
    try:
        take_name(temp, target)
    except FileExistsError:
        raise _made_meanwhile(target) from None


@contextmanager
def staging(folder: str | PathLike[str]) -> Iterator[Path]:
    """Yields a hidden folder on the file system of `folder` for files that will move into it; removed at the end."""
    place = Path(fspath(folder)).absolute()
    parent = next(p for p in place.parents if p.exists())
    with ExitStack() as stack:
        try:
            temp = stack.enter_context(hidden_folder(parent, place.name))
        except OSError as e:
            raise FolderError(f"cannot write {fspath(folder)}: {reason(e)}") from None
        yield temp
