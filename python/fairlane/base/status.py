"""The progress of long work: the last line of the terminal, which each report replaces."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from .encodings import encodable
from .escapes import one_line
from .format import duration

_CLEAR = "\r\x1b[2K"
"""Empties the last line of a terminal."""


@contextmanager
def terminal_line(*, quiet: bool = False) -> Iterator[Callable[[str], None] | None]:
    """Yields a callback that replaces the last line of the terminal; None unless stderr is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return

    def show(text: str) -> None:
        # A longer line would wrap, and only its last row be replaced.
        sys.stderr.write(_CLEAR + encodable(_cut(one_line(text), _width() - 1), sys.stderr.encoding))
        sys.stderr.flush()

    try:
        yield show
    finally:
        show("")


def steps(what: str, line: Callable[[str], None]) -> Callable[[float, str], None]:
    """Returns a callback that shows on `line` the fraction done, the time left and the current step."""
    began = time.monotonic()

    def show(fraction: float, text: str = "") -> None:
        spent = time.monotonic() - began
        left = f", {duration(spent * (1 - fraction) / fraction)} left" if fraction > 0.01 and spent > 1 else ""
        line(f"{what} {fraction:4.0%}{left} {text}")

    return show


@contextmanager
def terminal_steps(what: str) -> Iterator[Callable[[float, str], None] | None]:
    """Yields such a callback for the last line of the terminal; None unless stderr is a terminal."""
    with terminal_line() as line:
        yield None if line is None else steps(what, line)


def write_above(text: str, stream: TextIO) -> None:
    """Writes a line over the one that shows the progress."""
    shown = stream.isatty() and sys.stderr.isatty()
    stream.write(f"{_CLEAR if shown else ''}{text}\n")
    stream.flush()


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _cut(text: str, width: int) -> str:
    """Shortens text to a width.

    >>> _cut("tuning 3/10 runs", 12), _cut("tuning", 12)
    ('tuning 3/...', 'tuning')
    """
    return text if len(text) <= width else f"{text[: max(0, width - 3)]}..."
