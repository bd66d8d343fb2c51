"""Renaming in one step: two names that change places, and a name that is taken only if nobody has it.

Linux and macOS do both in the kernel where the file system can. Elsewhere `exchange` says that it cannot, and `take_name` links or looks.
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
"""What file systems, older kernels and filters of system calls answer that do not know a flag; a real reason comes again without it."""
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL, errno.EMLINK, errno.EXDEV)


@functools.cache
def _call() -> Callable[[bytes, bytes, int], int] | None:
    """The system call that renames with flags: 0, or the error number."""
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
    """True if the system has renamed with this flag (Linux, macOS), False if it cannot; raises `OSError` for another reason."""
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
    """True if both names have changed places in one step; False if the system or the file system cannot do that."""
    return _with((_EXCHANGE, _SWAP), one, other)


def take_name(old: Path, new: Path) -> None:
    """Renames a file or folder; `FileExistsError` if there is something of the new name."""
    if _with((_NOREPLACE, _EXCL), old, new):
        return
    if os.path.lexists(new):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new))
    if old.is_dir():
        # No system renames a folder onto a file, or onto a folder with something in it.
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
        # Without hard links the name is taken by an empty file first.
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        old.replace(new)
        return
    old.unlink()
