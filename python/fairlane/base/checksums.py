"""Files that contain a checksum of their own bytes, so that damage is found before they are read.

The checksum is SHA-256 over every byte of the file except its own 64 hexadecimal digits. It is inside the file, where readers of the
format skip it, so no second file can be lost:

* Parquet: one line between the data and the footer, where no offset of the footer points. It also names the content, so a file under
  the name of another one is found.
* JSON: the member `seal`.
* Lists of sums (`base/sha256sums.py`): the first line, a comment.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import FolderError
from .files import open_file

DIGITS = 64
BLANK = "0" * DIGITS
"""Placeholder of the checksum."""
DIFFERS = "is damaged: its checksum differs"
CUT = "is damaged: truncated, or not a Parquet file"
FOREIGN = "is damaged: its checksum belongs to another file"
UNSEALED = "has no checksum of this version: another version of fairlane wrote it, or it is damaged"
MEMBER = b'"seal": "'
_HEAD = 4096
"""Bytes at the beginning of a text that contain its checksum."""
_MAGIC = b"PAR1"
_LEAD = b"\nfairlane seal 1 "
_LONGEST = 256
"""Longest line of a checksum in bytes."""
_CHUNK = 1 << 20


class SealError(FolderError):
    """A stored file that is damaged or has no checksum."""


# --- Parquet ------------------------------------------------------------------------------------------------------------------


def seal_parquet(data: bytes, what: str) -> bytes:
    """Adds the checksum to a Parquet file; `what` names its content, such as the key of a run."""
    at = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    head, tail = data[:at] + _mark(what), b"\n" + data[at:]
    digest = hashlib.sha256(head)
    digest.update(tail)
    return b"".join((head, digest.hexdigest().encode(), tail))


def _mark(what: str) -> bytes:
    return _LEAD + f"{what} sha256 ".encode()


def fault_of(data: bytes, what: str) -> str:
    """Returns the fault of a Parquet file with checksum; "" if it is intact."""
    return _fault(io.BytesIO(data), len(data), what)


def fault_in(path: Path, what: str) -> str:
    """Returns the fault of a Parquet file on disk, which may be larger than memory; raises `OSError` if it cannot be read."""
    with open_file(path) as f:
        return _fault(f, os.fstat(f.fileno()).st_size, what)


def _fault(f: BinaryIO, size: int, what: str) -> str:
    mark = _mark(what)
    f.seek(max(0, size - 8))
    end = f.read(8)
    at = size - 8 - int.from_bytes(end[:4], "little")
    if len(end) < 8 or end[4:] != _MAGIC or at < len(_MAGIC):
        return CUT
    digits = at - 1 - DIGITS
    f.seek(max(0, digits - len(mark)))
    if digits < len(mark) or f.read(len(mark)) != mark:
        f.seek(max(0, at - _LONGEST))
        return FOREIGN if _LEAD in f.read(min(at, _LONGEST)) else UNSEALED
    stored = f.read(DIGITS)
    digest = hashlib.sha256()
    f.seek(0)
    _feed(digest, f, digits)
    f.seek(digits + DIGITS)
    _feed(digest, f, size)  # bytes appended to the file are damage as well
    return "" if stored == digest.hexdigest().encode() else DIFFERS


def _feed(digest: Any, f: BinaryIO, to: int) -> None:
    left = to - f.tell()
    while left > 0 and (chunk := f.read(min(left, _CHUNK))):
        digest.update(chunk)
        left -= len(chunk)


# --- texts --------------------------------------------------------------------------------------------------------------------


def seal_text(data: bytes, mark: bytes = MEMBER) -> bytes:
    """Returns a text with its checksum instead of the `BLANK` after `mark`."""
    at = data.index(mark + BLANK.encode(), 0, _HEAD) + len(mark)
    digest = hashlib.sha256(data[:at])
    digest.update(data[at + DIGITS :])
    return data[:at] + digest.hexdigest().encode() + data[at + DIGITS :]


def fault_of_text(data: bytes, mark: bytes = MEMBER) -> str:
    """Returns the fault of a text with checksum; "" if it is intact."""
    at = data.find(mark, 0, _HEAD)
    if at < 0:
        return UNSEALED
    at += len(mark)
    digest = hashlib.sha256(data[:at])
    digest.update(data[at + DIGITS :])
    return "" if data[at : at + DIGITS] == digest.hexdigest().encode() else DIFFERS


def dump_json(tree: dict[str, Any]) -> bytes:
    """Returns a JSON document with its checksum after the first member, the name of its format."""
    (first, name), *rest = tree.items()
    text = json.dumps({first: name, "seal": BLANK, **dict(rest)}, indent=1, ensure_ascii=False, allow_nan=False)
    return seal_text((text + "\n").encode())


def load_json(path: str | PathLike[str]) -> dict[str, Any]:
    """Reads a JSON document with checksum; raises `SealError` if it is damaged, `OSError` if it cannot be read."""
    with open_file(Path(path)) as f:
        data = f.read()
    fault = fault_of_text(data)
    if fault:
        raise SealError(f"{path} {fault}")
    tree: dict[str, Any] = json.loads(data)
    return tree
