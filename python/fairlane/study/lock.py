"""One process at a time writes in a folder; the system frees the lock when the process is gone, however it ended."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import weakref
from datetime import datetime
from pathlib import Path
from typing import Any

from ..base.files import kind_of, reason
from ..errors import FolderError

try:
    import fcntl
except ImportError:  # a system without it has no lock of this kind
    fcntl = None  # type: ignore[assignment]

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_held: weakref.WeakSet[Lock] = weakref.WeakSet()


class Lock:
    """The file `lock` in a folder, there as long as somebody works in it; its content tells who.

    The lock is that of `flock`, not the file: a file left by a process that is gone blocks no process.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "lock"
        self.note = ""
        """Note for the user if the file system has no locks."""
        self._fd = self._take()
        _held.add(self)
        self._sign()

    def _take(self) -> int:
        while True:
            # A link would be followed, and what it leads to be made; a device might act on being opened.
            if os.path.lexists(self.path) and (kind := kind_of(self.path.lstat().st_mode)):
                kind = "a link" if self.path.is_symlink() else kind
                raise FolderError(f"{self.path} is {kind}, not a file: move it away")
            try:
                fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o666)
            except OSError as e:
                raise FolderError(f"cannot write {self.path}: {reason(e)}") from None
            try:
                if fcntl is not None:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The former owner of the file may have removed it between our opening and our locking it: that lock would guard nothing.
                if os.path.samestat(os.fstat(fd), self.path.stat()):
                    return fd
            except FileNotFoundError:
                pass
            except BlockingIOError:
                text = _read(fd)
                os.close(fd)
                raise FolderError(f"{self.path.parent} is in use by {_who(text)}: wait for it, stop it, or choose another folder") from None
            except OSError as e:
                if e.errno in _NO_LOCKS:
                    self.note = f"the file system of {self.path.parent} has no locks: make sure that no other study writes there"
                    return fd
                os.close(fd)
                raise FolderError(f"cannot lock {self.path.parent}: {reason(e)}") from None
            os.close(fd)

    def _sign(self) -> None:
        me = {"process": os.getpid(), "host": socket.gethostname(), "since": datetime.now().isoformat(" ", "seconds")}
        # On a full disk the lock holds all the same, only who has it stays unsaid.
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, json.dumps(me).encode(), 0)

    def release(self) -> None:
        """Lets others in; a second call does nothing."""
        if self._fd < 0:
            return
        with contextlib.suppress(OSError):
            self.path.unlink()
        self.forget()

    def forget(self) -> None:
        """Closes the file. In a forked child, which shares the lock: it must not hold it when its parent is gone."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _forget_all() -> None:
    for lock in list(_held):
        lock.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def _read(fd: int) -> str:
    with contextlib.suppress(OSError):
        return os.pread(fd, 4096, 0).decode("utf-8", "replace")
    return ""


def _who(text: str) -> str:
    try:
        facts: dict[str, Any] = json.loads(text)
        process, host, since = facts["process"], facts["host"], facts["since"]
    except (ValueError, KeyError, TypeError):
        return "another process"
    if process == os.getpid() and host == socket.gethostname():
        return f"this process ({process}), since {since}"
    return f"process {process} on {host}, since {since}"
