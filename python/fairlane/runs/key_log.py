"""Secrets of captured connections as a key log, the file that Wireshark names `tls.keylog_file`."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from ..errors import FairlaneError

_SECRETS, _KEY_LOG = 0x0000000A, 0x544C534B
"""Type of a block of secrets, and of secrets in the form of a key log (pcapng section 4.7)."""


def key_log(captures: Iterable[Path]) -> str:
    """Returns the lines of the secrets in pcapng files, each once.

    Raises `FairlaneError` if there are none.
    """
    files = list(captures)
    lines = dict.fromkeys(line for file in files for text in _secrets(file) for line in text.splitlines())
    if not lines:
        names = ", ".join(str(f) for f in files)
        raise FairlaneError(f"no secrets in {names}: only connections of QUIC of a real transport stack have them")
    return "".join(f"{line}\n" for line in lines)


def _secrets(file: Path) -> Iterable[str]:
    with file.open("rb") as f:
        while len(head := f.read(8)) == 8:
            kind, length = struct.unpack("<II", head)
            if kind == _SECRETS:
                form, size = struct.unpack("<II", f.read(8))
                text = f.read(size)
                if form == _KEY_LOG:
                    yield text.decode("ascii")
                f.seek(length - 16 - size, 1)
            else:
                f.seek(length - 8, 1)
