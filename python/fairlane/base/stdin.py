"""A scenario on standard input: `fairlane run -`."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from ..errors import FairlaneError

_MAX = 64 << 20
SHOWN = "<stdin>"


@dataclass(frozen=True, slots=True)
class StandardInput:
    """Scenario text from standard input; `checked` accepts it like a file."""

    text: str
    form: str
    """toml or json."""
    shown: str = SHOWN
    """Name in errors."""

    def to_toml(self) -> str:
        """Returns the text (see `fairlane.base.scenario.Built`)."""
        return self.text


def read() -> StandardInput:
    """Reads standard input as TOML or JSON; JSON begins with a brace. Input from a terminal ends with Ctrl-D."""
    if sys.stdin is None or sys.stdin.closed:
        raise FairlaneError("cannot read a scenario from standard input: it is closed")
    if sys.stdin.isatty():
        sys.stderr.write("reading a scenario from the terminal: end it with Ctrl-D\n")
    data = sys.stdin.buffer.read(_MAX + 1)
    if len(data) > _MAX:
        raise FairlaneError("standard input is larger than 64 MiB, the largest size of a scenario")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data[: e.start].count(b"\n") + 1
        raise FairlaneError(f"standard input is not text: line {line} is not UTF-8") from None
    return StandardInput(text, "json" if text.lstrip().startswith("{") else "toml")
