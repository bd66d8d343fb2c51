"""Folders of questions: those that come with fairlane and those of its users."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

from ..errors import FairlaneError, suggest
from .question import FILE, Question, read_question
from .subject import need_kind


def shipped(kind: str) -> Path:
    """Returns the folder of the questions of a kind."""
    return Path(__file__).resolve().parent / "questions" / kind


def _place(q: Question) -> tuple[list[tuple[int, str]], str]:
    """Returns what questions are sorted by: numbers in sections count as numbers."""
    return [
        (int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", q.section.replace("sections", "section"))
    ], q.key


def questions(kind: str, *, only: Iterable[str] = (), own: Sequence[str | PathLike[str]] = (), quick: bool = False) -> list[Question]:
    """Returns the questions of a kind of card in the order of the sections that ask them, then `own` folders.

    `only`: their keys; `quick`: those of a quick card. Raises `UnknownNameError` for an unknown key.
    """
    need_kind(kind)
    found = [read_question(p.parent, kind) for p in sorted(shipped(kind).glob(f"*/{FILE}"))]
    found.sort(key=_place)
    for folder in own:
        question = read_question(folder, kind)
        if question.kind != kind:
            raise FairlaneError(f"{folder} is a question for {question.kind}, not for {kind}: see `subject` in its card.toml")
        if any(q.key == question.key for q in found):
            raise FairlaneError(f"two questions are called {question.key!r}: rename the folder {folder}")
        found.append(question)
    wanted = list(only)
    keys = [q.key for q in found]
    for key in wanted:
        if key not in keys:
            raise suggest(key, keys, f"question of a card of {kind}")
    if wanted:
        return [q for q in found if q.key in wanted]
    return [q for q in found if q.quick or not quick]
