"""A scenario that comes through a pipe: `fairlane run -`."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from ..errors import FairlaneError

_MAX = 64 << 20
SHOWN = "<stdin>"


@dataclass(frozen=True, slots=True)
class StandardInput:
    """What was read from standard input, once; `checked` takes it like a file."""

    text: str
    form: str
    """toml or json."""
    shown: str = SHOWN
    """Its name in errors."""

    def to_toml(self) -> str:
        """The text, as `fairlane.base.scenario.Built` has it."""
        return self.text


def read() -> StandardInput:
    """All of standard input, as TOML or JSON; JSON begins with a brace. A terminal is read up to Ctrl-D."""
    if sys.stdin is None or sys.stdin.closed:
        raise FairlaneError("cannot read a scenario from standard input: it is closed")
    if sys.stdin.isatty():
        sys.stderr.write("reading a scenario from the terminal: end it with Ctrl-D\n")
    data = sys.stdin.buffer.read(_MAX + 1)
    if len(data) > _MAX:
        raise FairlaneError("what standard input has is larger than 64 MiB, surely not a scenario")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data[: e.start].count(b"\n") + 1
        raise FairlaneError(f"what standard input has is no text: line {line} is not UTF-8") from e
    return StandardInput(text, "json" if text.lstrip().startswith("{") else "toml")
