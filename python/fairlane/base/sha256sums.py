"""`SHA256SUMS`: the checksums of output files such as tables, plots and pages.

`sha256sum --check SHA256SUMS` reads it. The list is removed before the first of its files is rewritten and written after the last one, so
it never names files of a killed process. Without it the files are not checked, and a warning is printed.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import FolderError
from .checksums import BLANK, DIFFERS, SealError, fault_of_text, seal_text
from .files import open_file, reason, save_bytes

NAME = "SHA256SUMS"
_MARK = b"# seal "
_SOURCE = b"# made from "
_LINE = re.compile(r"(\\?)([0-9a-f]{64}) [ *](.+)")

Put = Callable[[str, bytes], Path]
"""`put(name, data)` writes a file below the folder atomically and returns its path."""


def digest_in(path: Path) -> str:
    """Returns the SHA-256 of a file, which may be larger than memory; raises `OSError` if it cannot be read."""
    with open_file(path) as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def read(folder: Path) -> dict[str, str]:
    """Returns names and checksums; raises `SealError` if the list is damaged, `OSError` if it is missing."""
    path = folder / NAME
    with open_file(path) as f:
        data = f.read()
    if fault := fault_of_text(data, _MARK):
        raise SealError(f"{path} {fault}")
    found = (_LINE.fullmatch(line) for line in data.decode("utf-8", "replace").split("\n"))
    return {_unescaped(m[3]) if m[1] else m[3]: m[2] for m in found if m}


def source_of(folder: Path) -> str:
    """Returns the digest of what the listed files were made from; "" if it is not known, or if one of them is not as it was written."""
    try:
        with open_file(folder / NAME) as f:
            found = re.search(rb"^" + _SOURCE + rb"([0-9a-f]{64})$", f.read(4096), re.M)
        return found[1].decode() if found and not faults(folder)[1] else ""
    except (OSError, SealError):
        return ""


def record_source(folder: Path, digest: str) -> None:
    """Notes in the list what its files were made from. The next write of any of them removes the note."""
    with contextlib.suppress(OSError, SealError):
        save_bytes(folder / NAME, _text(read(folder), digest))


def _text(sums: dict[str, str], source: str = "") -> bytes:
    lines = [(_SOURCE.decode() + source + "\n")] if source else []
    for name, digest in sorted(sums.items()):
        # A name with a line break is escaped as sha256sum does.
        safe = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
        lines.append(f"{chr(92) * (safe != name)}{digest}  {safe}\n")
    return seal_text(_MARK + BLANK.encode() + b"\n" + "".join(lines).encode(), _MARK)


def _unescaped(name: str) -> str:
    return re.sub(r"\\([\\nr])", lambda m: {"n": "\n", "r": "\r"}.get(m[1], m[1]), name)


@contextmanager
def listed(folder: Path) -> Iterator[Put]:
    """Yields a function that writes output files in `folder`; the list of their checksums is written at the end."""
    try:
        known = read(folder)
    except (OSError, SealError):
        known = {}
    try:
        (folder / NAME).unlink(missing_ok=True)
    except OSError as e:
        raise FolderError(f"cannot write {folder / NAME}: {reason(e)}") from None

    def put(name: str, data: bytes) -> Path:
        known.pop(name, None)
        path = folder / name
        try:
            path.parent.mkdir(exist_ok=True)
        except OSError as e:
            raise FolderError(f"cannot write {path.parent}: {reason(e)}") from None
        save_bytes(path, data)
        known[name] = hashlib.sha256(data).hexdigest()
        return path

    try:
        yield put
    except BaseException:
        with contextlib.suppress(FolderError):  # the first error is reported, not that of the list
            _write(folder, known)
        raise
    _write(folder, known)


def _write(folder: Path, known: dict[str, str]) -> None:
    there = {name: digest for name, digest in known.items() if (folder / name).is_file()}
    if there:
        save_bytes(folder / NAME, _text(there))


def faults(folder: Path) -> tuple[int, dict[str, str]]:
    """Returns the number of files in the list, including itself, and the fault of each damaged one; raises as `read` does."""
    sums = read(folder)
    wrong = {}
    for name, digest in sums.items():
        try:
            if digest_in(folder / name) != digest:
                wrong[name] = DIFFERS.replace("is damaged", "was changed or damaged since it was written")
        except FileNotFoundError:
            wrong[name] = "is missing"
        except OSError as e:
            wrong[name] = f"cannot be read: {reason(e)}"
    return 1 + len(sums), wrong
