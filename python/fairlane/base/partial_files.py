"""Hidden files and folders that are being written (`.NAME.MACHINE-RANDOM.part`); the next write clears those of processes that are gone.

Whoever writes holds the lock (`flock`) of the file or folder, which the system frees with the process, however it ended. Such a lock holds
between processes of one kernel, so the name says which kernel: of another machine's nothing is known, and nothing is cleared.
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
"""Bytes of the name that the hidden one repeats: file systems take 255."""
_TRIES = 20


@functools.cache
def machine() -> str:
    """Eight digits of this kernel, for as long as it runs."""
    try:
        told = Path("/proc/sys/kernel/random/boot_id").read_text("ascii")
    except OSError:
        told = socket.gethostname()
    return hashlib.sha256(told.encode()).hexdigest()[:8]


def _stem(name: str) -> str:
    return os.fsdecode(os.fsencode(name)[:_LONGEST])


def hidden_name(name: str) -> str:
    """A name that nobody else has, for what will be called `name`."""
    return f".{_stem(name)}.{machine()}-{secrets.token_hex(5)}{PART}"


def replaced_name(name: str) -> str:
    """What a folder is called for the moment in which another one takes its place, where the two cannot change places in one step."""
    return f"{_stem(name)}.{machine()}-{secrets.token_hex(5)}{REPLACED}"


class _Taken(Exception):
    """Somebody else has the lock, or the thing is no longer there."""


def _open(path: Path, flags: int = os.O_RDONLY) -> int:
    """Opens what has a hidden name, whatever it is: nothing is followed or waited for."""
    safe = (getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
    return os.open(path, functools.reduce(int.__or__, safe, flags), 0o666)


def _lock(fd: int, path: Path) -> bool:
    """True if the lock is this process's, False if there are no locks here; raises `_Taken`."""
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
    """A folder of a hidden name in `place`, this process's own; removed in the end if it is still there."""
    clear(place)
    for _ in range(_TRIES):
        path, fd = place / hidden_name(name), -1
        path.mkdir()
        try:
            with contextlib.suppress(PermissionError):  # a system that opens no folder has no lock for it
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
    """A new file of a hidden name in `place`, open for writing; removed in the end if it is still there."""
    if str(place) not in _cleared:  # once for all files that this process writes there
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
    return OSError(errno.EBUSY, "its hidden files are removed all the time", str(place))


_cleared: set[str] = set()


def clear(place: Path) -> None:
    """Removes what processes of this kernel that are gone were writing in a folder."""
    try:
        with os.scandir(place) as entries:
            left = [e.name for e in entries if (m := _OURS.fullmatch(e.name)) and m["machine"] == machine()]
    except OSError:
        return
    for name in left:
        path = place / name
        with held(path) as mine, contextlib.suppress(OSError):
            if mine:  # nobody writes there
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


@contextlib.contextmanager
def held(path: Path) -> Iterator[bool | None]:
    """The lock of a file or folder that is there: True if this process has it now, False if another one has, None if there are no locks."""
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
    """The folders that were to be replaced by one at `path`, by processes that live or are gone."""
    of = re.compile(re.escape(_stem(path.name)) + r"\.[0-9a-f]{8}-[0-9a-f]{10}" + re.escape(REPLACED))
    try:
        return sorted(p for p in path.parent.iterdir() if of.fullmatch(p.name) and p.is_dir())
    except OSError:
        return []


def put_back(path: Path) -> None:
    """Gives a folder its name again that a killed process was about to replace; removes it if the other one is there already."""
    for aside in _aside(path.absolute()):
        with held(aside) as mine:
            if mine and os.path.lexists(path):
                shutil.rmtree(aside, ignore_errors=True)
            elif mine:
                aside.rename(path)


def where_it_is(path: Path) -> str:
    """What to add to a message that there is no folder `path`, if a killed process had begun to replace it."""
    if os.path.lexists(path) or not (aside := _aside(path.absolute())):
        return ""
    return f"; what was there is whole in {aside[0]}: a process was killed while it replaced it"
