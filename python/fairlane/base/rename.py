"""Atomic renames: exchanging two names, and renaming only to an unused name.

Linux and macOS do both in the kernel if the file system supports it. Elsewhere `exchange` returns false, and `take_name` uses a hard link
or a check.
"""

from __future__ import annotations

import errno
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path

_AT_FDCWD = -100
_NOREPLACE, _EXCHANGE = 1, 2
"""Flags of renameat2(2)."""
_SWAP, _EXCL = 2, 4
"""Flags of renamex_np(2), macOS."""
_UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM, errno.EXDEV)
"""Errors of file systems, kernels and system-call filters that do not support the flag; other causes recur without it."""
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL, errno.EMLINK, errno.EXDEV)


@functools.cache
def _call() -> Callable[[bytes, bytes, int], int] | None:
    """Returns a function that renames with flags and returns 0 or the error number; None without such a system call."""
    if sys.platform not in ("linux", "darwin"):
        return None
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    name = "renameat2" if sys.platform == "linux" else "renamex_np"
    function = getattr(libc, name, None)
    if function is None:
        return None

    def call(old: bytes, new: bytes, flags: int) -> int:
        at = [ctypes.c_int(_AT_FDCWD)] if sys.platform == "linux" else []
        two = [*at, ctypes.c_char_p(old), *at, ctypes.c_char_p(new)]
        return ctypes.get_errno() if function(*two, ctypes.c_uint(flags)) else 0

    return call


def _with(flags: tuple[int, int], old: Path, new: Path) -> bool:
    """Renames with a flag (Linux, macOS): true if done, false if not supported; raises `OSError` on other errors."""
    call = _call()
    if call is None:
        return False
    error = call(os.fsencode(old), os.fsencode(new), flags[sys.platform == "darwin"])
    if error in _UNKNOWN:
        return False
    if error:
        raise OSError(error, os.strerror(error), str(new))
    return True


def exchange(one: Path, other: Path) -> bool:
    """Exchanges two names in one step: true if done, false if the system or the file system cannot."""
    return _with((_EXCHANGE, _SWAP), one, other)


def take_name(old: Path, new: Path) -> None:
    """Renames a file or folder; raises `FileExistsError` if the new name is taken."""
    if _with((_NOREPLACE, _EXCL), old, new):
        return
    if os.path.lexists(new):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new))
    if old.is_dir():
        # No system renames a folder to the name of a file, or of a folder that is not empty.
        try:
            old.rename(new)
        except OSError as e:
            if e.errno in (errno.ENOTEMPTY, errno.ENOTDIR):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new)) from None
            raise
        return
    try:
        os.link(old, new)
    except FileExistsError:
        raise
    except OSError as e:
        if e.errno not in _NO_LINKS:
            raise
        # Without hard links an empty file reserves the name first.
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        old.replace(new)
        return
    old.unlink()
