"""Files and folders that are complete or absent: written under a temporary name, then renamed."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path

from ..errors import FolderError, InputError

LARGEST_INPUT = 64 << 20
"""Most bytes of a text that is read: a scenario, a study, a packet script, whatever comes from standard input."""


def read_input(path: str | PathLike[str], most: int = LARGEST_INPUT) -> bytes:
    """The bytes of a file that somebody names, at most `most`.

    Raises `InputError` with one line: missing, not readable, larger, or no file at all. Devices and pipes may have no end, or nobody who
    writes into them, so they are refused without being waited for.
    """
    name = fspath(path)
    try:
        # Not blocking: between a look at a name and its opening a pipe may take the place of a file.
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
        raise InputError(f"cannot read {name}: {(e.strerror or str(e)).lower()}") from e
    except ValueError as e:
        raise InputError(f"cannot read {name!r}: {e}") from e
    if len(data) > most:
        raise InputError(f"cannot read {name}: it is larger than {most >> 20} MiB")
    return data


def _kind(mode: int) -> str:
    kinds = {"a directory": stat.S_ISDIR, "a pipe": stat.S_ISFIFO, "a socket": stat.S_ISSOCK}
    return next((name for name, test in kinds.items() if test(mode)), "a device")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A fresh folder beside `path` to write into, renamed to `path` at the end; removed if anything fails."""
    path = path.absolute()
    made: Path | None = None
    temp: Path | None = None
    try:
        first_new = next((p for p in reversed([path.parent, *path.parent.parents]) if not p.exists()), None)
        if first_new is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            made = first_new
        temp = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
        temp.chmod(0o777 & ~_umask())
        yield temp
        if path.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".old", dir=path.parent))
            path.rename(old / "was")
            temp.rename(path)
            shutil.rmtree(old, ignore_errors=True)
        else:
            temp.rename(path)
    except BaseException as e:
        if temp is not None:
            shutil.rmtree(temp, ignore_errors=True)
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        if isinstance(e, OSError):
            raise FolderError(f"cannot write {path}: {reason(e)}; nothing was written") from e
        raise


def reason(e: OSError) -> str:
    """Why writing failed, in plain words."""
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
    """What stands in the place of a file, by its `st_mode`; "" if it is a file."""
    return next((words for test, words in _KINDS if test(mode)), "")


def in_place_of_file(path: Path) -> str:
    """What stands where a file belongs, such as "a pipe"; "" if a file does, or nothing."""
    try:
        return kind_of(path.stat().st_mode)
    except FileNotFoundError:
        return kind_of(path.lstat().st_mode) if path.is_symlink() else ""


class NotAFile(OSError):
    """A folder, a pipe, a socket or a device in the place of a file."""


def open_file(path: Path) -> io.BufferedReader:
    """Opens a file to read it. What only looks like one (a pipe would wait for a writer, a device might never end) is `NotAFile`."""
    if kind := kind_of(path.stat().st_mode):
        raise NotAFile(errno.EINVAL, f"it is {kind}, not a file", str(path))
    # It may have become another thing since: opened without waiting, and looked at again.
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    if kind := kind_of(os.fstat(fd).st_mode):
        os.close(fd)
        raise NotAFile(errno.EINVAL, f"it is {kind}, not a file", str(path))
    return io.BufferedReader(io.FileIO(fd))


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def write_file(path: Path, data: bytes) -> str:
    """Writes a file through to the disk and returns its SHA-256."""
    with path.open("wb") as f:
        f.write(data)
        f.flush()
        os.fsync(f.fileno())
    return hashlib.sha256(data).hexdigest()


def save_bytes(path: str | PathLike[str], data: bytes) -> None:
    """Writes one file whole or not at all."""
    target = Path(fspath(path)).absolute()
    temp = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        write_file(temp, data)
        temp.replace(target)
    except BaseException as e:
        temp.unlink(missing_ok=True) if target.parent.is_dir() else None
        if isinstance(e, OSError):
            raise FolderError(f"cannot write {fspath(path)}: {reason(e)}; nothing was written") from e
        raise


@contextmanager
def staging(folder: str | PathLike[str]) -> Iterator[Path]:
    """A folder that nobody sees, on the disk of `folder`, for files that will be part of it; removed in the end."""
    place = Path(fspath(folder)).absolute()
    parent = next(p for p in place.parents if p.exists())
    try:
        temp = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=".part", dir=parent))
    except OSError as e:
        raise FolderError(f"cannot write {fspath(folder)}: {reason(e)}") from e
    try:
        yield temp
    finally:
        shutil.rmtree(temp, ignore_errors=True)
