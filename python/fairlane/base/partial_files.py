"""Hidden files and folders in progress (`.NAME.MACHINE-RANDOM.part`); the next write removes those of dead processes.

The writing process holds the lock (`flock`) of the file or folder, which the system releases with the process. Such a lock works between
processes of one kernel, so the name contains the kernel; files of other machines are left alone.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import re
import secrets
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without it has no lock of this kind
    fcntl = None  # type: ignore[assignment]

PART = ".part"
REPLACED = ".replaced"
_OURS = re.compile(r"\..+\.(?P<machine>[0-9a-f]{8})-[0-9a-f]{10}\.part", re.DOTALL)
_LONGEST = 100
"""Bytes of the name that the hidden name repeats: file systems allow 255."""
_TRIES = 20


@functools.cache
def machine() -> str:
    """Returns eight digits that identify the running kernel."""
    try:
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text("ascii")
    except OSError:
        boot_id = socket.gethostname()
    return hashlib.sha256(boot_id.encode()).hexdigest()[:8]


def _stem(name: str) -> str:
    return os.fsdecode(os.fsencode(name)[:_LONGEST])


def hidden_name(name: str) -> str:
    """Returns a unique hidden name for the future `name`."""
    return f".{_stem(name)}.{machine()}-{secrets.token_hex(5)}{PART}"


def replaced_name(name: str) -> str:
    """Returns the temporary name of a folder that is being replaced in two steps."""
    return f"{_stem(name)}.{machine()}-{secrets.token_hex(5)}{REPLACED}"


class _Taken(Exception):
    """Another process has the lock, or the file is gone."""


def _open(path: Path, flags: int = os.O_RDONLY) -> int:
    """Opens a hidden file or folder without following links or waiting."""
    safe = (getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
    return os.open(path, functools.reduce(int.__or__, safe, flags), 0o666)


def _lock(fd: int, path: Path) -> bool:
    """Returns true if this process has the lock, false if the system has no locks; raises `_Taken`."""
    try:
        if fcntl is not None:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(fd), path.lstat()):
            raise _Taken
    except (BlockingIOError, FileNotFoundError):
        raise _Taken from None
    except OSError:
        return False
    return fcntl is not None


@contextlib.contextmanager
def hidden_folder(place: Path, name: str) -> Iterator[Path]:
    """Yields a new hidden folder in `place`, locked by this process; removed at the end if it still exists."""
    clear(place)
    for _ in range(_TRIES):
        path, fd = place / hidden_name(name), -1
        path.mkdir()
        try:
            with contextlib.suppress(PermissionError):  # a system that cannot open folders has no lock for them
                fd = _open(path)
                _lock(fd, path)
            break
        except (FileNotFoundError, _Taken):
            if fd >= 0:
                os.close(fd)
    else:
        raise _gone(place)
    try:
        yield path
    finally:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        if fd >= 0:
            os.close(fd)


@contextlib.contextmanager
def hidden_file(place: Path, name: str) -> Iterator[tuple[int, Path]]:
    """Yields a new hidden file in `place`, open for writing; removed at the end if it still exists."""
    if str(place) not in _cleared:  # once per folder and process
        _cleared.add(str(place))
        clear(place)
    for _ in range(_TRIES):
        path = place / hidden_name(name)
        fd = _open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        try:
            _lock(fd, path)
            break
        except _Taken:
            os.close(fd)
    else:
        raise _gone(place)
    try:
        yield fd, path
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(fd)


def _gone(place: Path) -> OSError:
    return OSError(errno.EBUSY, "another process keeps removing its hidden files", str(place))


_cleared: set[str] = set()


def clear(place: Path) -> None:
    """Removes hidden files and folders in a folder whose processes on this kernel are dead."""
    try:
        with os.scandir(place) as entries:
            left = [e.name for e in entries if (m := _OURS.fullmatch(e.name)) and m["machine"] == machine()]
    except OSError:
        return
    for name in left:
        path = place / name
        with held(path) as mine, contextlib.suppress(OSError):
            if mine:  # no process writes there
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


@contextlib.contextmanager
def held(path: Path) -> Iterator[bool | None]:
    """Tries to lock an existing file or folder: true if locked, false if another process has the lock, None without locks."""
    fd, mine = -1, None
    try:
        fd = _open(path)
        mine = True if _lock(fd, path) else None
    except _Taken:
        mine = False
    except OSError:
        pass
    try:
        yield mine
    finally:
        if fd >= 0:
            os.close(fd)


# --- folders that are replaced in two steps ---------------------------------------------------------------------------------------


def _aside(path: Path) -> list[Path]:
    """Returns the folders set aside while a process replaces them at `path`."""
    of = re.compile(re.escape(_stem(path.name)) + r"\.[0-9a-f]{8}-[0-9a-f]{10}" + re.escape(REPLACED))
    try:
        return sorted(p for p in path.parent.iterdir() if of.fullmatch(p.name) and p.is_dir())
    except OSError:
        return []


def put_back(path: Path) -> None:
    """Restores a folder that a killed process had set aside; removes it if the new one is in place."""
    for aside in _aside(path.absolute()):
        with held(aside) as mine:
            if mine and os.path.lexists(path):
                shutil.rmtree(aside, ignore_errors=True)
            elif mine:
                aside.rename(path)


def where_it_is(path: Path) -> str:
    """Returns a hint for the message that folder `path` is missing, if a killed process had set it aside."""
    if os.path.lexists(path) or not (aside := _aside(path.absolute())):
        return ""
    return f"; its previous contents are intact in {aside[0]}: a process was killed while replacing it"
