"""Files and folders that are complete or absent: written under a temporary name, then renamed."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path

from ..errors import FolderError


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
