"""Diagnostics of scripts: place, message and help."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ..errors import FairlaneError

_SHOWN = 120
"""Longest shown part of a line."""


@dataclass(frozen=True, slots=True)
class Place:
    """A span of the text of a script; lines and columns count from 1."""

    line: int
    column: int
    end_column: int


class ScriptError(FairlaneError):
    """A script that cannot be read; `diagnostics` has one dict with file, line, column, end_column, message and help."""

    def __init__(self, file: str, text: str, place: Place, message: str, help: str = "") -> None:
        self.diagnostics: list[dict[str, Any]] = [
            {"file": file, "line": place.line, "column": place.column, "end_column": place.end_column, "message": message, "help": help}
        ]
        self.rendered = _render(file, text, place, message, help)
        super().__init__(self.rendered)


class Refusal(ScriptError):
    """A script that needs a feature that is not simulated."""


def _render(file: str, text: str, place: Place, message: str, help: str) -> str:
    lines = text.split("\n")
    source = lines[place.line - 1].rstrip("\r") if place.line <= len(lines) else ""
    number = str(place.line)
    pad = " " * len(number)
    skip = max(0, place.column - 1 - _SHOWN // 2)
    shown = "".join(" " if ord(c) < 32 else c for c in source[skip : skip + _SHOWN])
    caret = place.column - 1 - skip
    width = max(1, min(place.end_column - place.column, _SHOWN - caret))
    out = [f"error: {message}", f"{pad} --> {file}:{place.line}:{place.column}"]
    out += [f"{pad} |", f"{number} | {shown}", f"{pad} | {' ' * caret}{'^' * width}"]
    if help:
        out.append(f"{pad} = help: {help}")
    return "\n".join(out)


def near(word: str, known: list[str], otherwise: str = "") -> str:
    """Returns a hint with names similar to `word`."""
    folded = {k.lower(): k for k in known}
    found = get_close_matches(word.lower(), folded, n=1, cutoff=0.6)
    if found:
        return f"did you mean `{folded[found[0]]}`?"
    return otherwise or "known are " + ", ".join(sorted(known))
