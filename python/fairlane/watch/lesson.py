"""Lesson on the page of a recording: sentences at times of the run, and questions with hidden answers."""

from __future__ import annotations

import tomllib
from itertools import pairwise
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..errors import FairlaneError
from .topology import span

KEYS = {"steps": ("at", "say"), "questions": ("ask", "answer")}
"""Texts that each entry needs; others, such as `check`, are for tests."""


def read_lesson(path: str | PathLike[str]) -> dict[str, Any]:
    """Reads `[[steps]]` (`at`, `say`) and `[[questions]]` (`ask`, `answer`) of a TOML file; times become nanoseconds."""
    file = Path(fspath(path))
    try:
        found = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as e:
        raise FairlaneError(f"cannot read {file}: {getattr(e, 'strerror', None) or 'the file is not UTF-8 text'}") from e
    except tomllib.TOMLDecodeError as e:
        raise FairlaneError(f"{file}: {str(e)[0].lower()}{str(e)[1:]}") from e
    entries = {kind: _entries(file, found, kind) for kind in KEYS}
    if not entries["steps"]:
        raise FairlaneError(f'{file} has no sentence to show: add\n\n  [[steps]]\n  at = "0s"\n  say = "Watch the queue."')
    steps: list[dict[str, Any]] = [{"at": span(s["at"], f"{file}: time of a step"), "say": s["say"]} for s in entries["steps"]]
    for before, after in pairwise(steps):
        if after["at"] <= before["at"]:
            raise FairlaneError(f"{file}: the step {after['say']!r} at {after['at'] / 1e9:g} s must be later than the one before it")
    return {"steps": steps, "questions": [{k: q[k] for k in KEYS["questions"]} for q in entries["questions"]]}


def within(lesson: dict[str, Any], first: int, last: int) -> dict[str, Any]:
    """Returns the lesson; an error if a step is outside of the recorded span."""
    for step in lesson["steps"]:
        if not first <= step["at"] <= last:
            raise FairlaneError(f"the step at {step['at'] / 1e9:g} s is outside of the recorded span {first / 1e9:g} s to {last / 1e9:g} s")
    return lesson


def _entries(file: Path, found: dict[str, Any], kind: str) -> list[dict[str, str]]:
    entries = found.get(kind, [])
    if not isinstance(entries, list) or not all(isinstance(x, dict) for x in entries):
        raise FairlaneError(f"{file}: write each of the {kind} under a header [[{kind}]]")
    for number, entry in enumerate(entries, 1):
        for key in KEYS[kind]:
            if not isinstance(entry.get(key), str) or not entry[key].strip():
                raise FairlaneError(f"{file}: number {number} of [[{kind}]] lacks the text `{key}`")
    return entries
