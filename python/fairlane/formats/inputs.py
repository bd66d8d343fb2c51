"""Texts and JSON documents of other programs, read as far as they go; each fault is one line with file and line."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..base.files import read_input
from ..errors import InputError

LARGEST = 256 << 20
"""Most bytes of a decompressed file."""
_LONGEST = 200
"""Characters of a quoted line."""


def document_of(file: Path) -> dict[str, Any]:
    """Returns the JSON document of a file, which may be compressed by gzip."""
    data = read_input(file, LARGEST)
    try:
        if data[:2] == b"\x1f\x8b":
            unpack = zlib.decompressobj(wbits=31)
            data = unpack.decompress(data, LARGEST)
            if unpack.unconsumed_tail:
                raise InputError(f"cannot import {file}: its decompressed size exceeds {LARGEST >> 20} MiB")
            if not unpack.eof:
                raise InputError(f"cannot import {file}: its compressed data is truncated")
        document = json.loads(data)
    except RecursionError:
        raise InputError(f"cannot import {file}: its JSON is nested too deeply") from None
    except (zlib.error, ValueError) as e:
        raise InputError(f"cannot import {file}: it is damaged ({str(e)[:100]})") from None
    if not isinstance(document, dict):
        raise InputError(f"cannot import {file}: it is JSON, but not an object")
    return document


def fault(file: Path, why: str, line: int | None = None) -> InputError:
    """Returns the error for a file that cannot be read, at a line."""
    return InputError(f"cannot import {file}{'' if line is None else f':{line}'}: {why}")


def quoted(line: str) -> str:
    """Returns a line for a message.

    >>> quoted("x" * 300)[-5:]
    'xx...'
    """
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."


def text_lines(file: Path) -> Iterator[tuple[int, str]]:
    """Yields the lines of a text file with their numbers."""
    text = read_input(file, LARGEST).decode("utf-8", "replace")
    for number, line in enumerate(text.split("\n"), 1):
        yield number, line.removesuffix("\r")


def json_lines(file: Path, remarks: list[str], mark: str = "") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the JSON objects of a file, one a line, each behind `mark` (RFC 7464) if given; a last line that is cut off is a remark."""
    left: tuple[int, str] | None = None
    for number, line in text_lines(file):
        shown = line.strip().lstrip(mark).strip()
        if not shown:
            continue
        if left is not None:
            raise fault(file, left[1], left[0])
        try:
            found = json.loads(shown)
        except RecursionError:
            raise fault(file, "its JSON is nested too deeply", number) from None
        except ValueError as e:
            left = (number, f"this line is no JSON ({str(e)[:80]})")
            continue
        if not isinstance(found, dict):
            raise fault(file, "this line is JSON, but not an object", number)
        yield number, found
    if left is not None:
        remarks.append(f"the last line ({left[0]}) is incomplete and was skipped")
