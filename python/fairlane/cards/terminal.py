"""Report cards on a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..look.sheet import Sheet, Words
from .subject import KINDS

if TYPE_CHECKING:
    from .outcome import CardOutcome
    from .question import Question

SHORT = {"pass": "pass", "concern": "concern", "fail": "fail", "not applicable": "n/a"}


def head(card: CardOutcome) -> str:
    """Returns the subject with its verdicts."""
    return f"Report card of {card.subject.title} ({KINDS[card.subject.kind]}): {card.summary}; {card.runs} simulations"


def short(section: str) -> str:
    """Returns the first of the sections that ask a question, without the word.

    >>> short("RFC 7928 sections 8.3 and 12"), short("draft-ietf-ippm-responsiveness-09 section 5.3, RFC 5166 section 2.2")
    ('RFC 7928 8.3', 'ippm draft 5.3')
    """
    first = re.split(r"[,;] | and | to ", section)[0]
    return re.sub(r" sections? ", " ", re.sub(r"draft-ietf-(\w+)-[\w-]*", r"\1 draft", first)).removeprefix("Sarpkaya et al. ")


def table(cards: Sequence[CardOutcome]) -> Sheet:
    """Returns the answers: one column for each subject if there are several."""
    if len(cards) > 1:
        heads = ["question", "bound", *(c.subject.title for c in cards)]
        return Sheet(heads, [[a.key, a.limit, *(_cell(c, a.key) for c in cards)] for a in cards[0].answers])
    rows = [[a.key, short(a.question.section), SHORT[a.verdict], a.shown, a.limit] for a in cards[0].answers]
    return Sheet(["question", "section", "verdict", "number", "bound"], rows, words=(1,), styles={2: "bold"})


def _cell(card: CardOutcome, key: str) -> str:
    a = card.answer(key)
    return f"{SHORT[a.verdict]} {a.shown}".strip()


def report(cards: Sequence[CardOutcome]) -> list[Words | Sheet]:
    """Returns the sections of the report."""
    out: list[Words | Sheet] = [Words(head(c)) for c in cards]
    out.append(table(cards))
    for card in cards:
        out += [Words(f"runs failed: {error}") for error in card.errors]
    if len(cards) == 1:
        (card,) = cards
        worst = [a for a in card.answers if a.verdict in ("fail", "concern")]
        out += [Words(f"{a.verdict}: {a.question.question} {a.sentence} ({a.question.section}).") for a in worst]
        out += [Words(f"not applicable: {', '.join(keys)}: {why}.") for why, keys in _reasons(card).items()]
    return out


def _reasons(card: CardOutcome) -> dict[str, list[str]]:
    """Returns why questions do not apply, with their keys."""
    found: dict[str, list[str]] = {}
    for a in card.answers:
        if a.verdict == "not applicable":
            found.setdefault(a.sentence, []).append(a.key)
    return found


def listing(asked: Sequence[Question]) -> Sheet:
    """Returns the questions of a kind."""
    rows = [[q.key, q.section, f"left out: {q.left_out}" if q.left_out else q.question] for q in asked]
    return Sheet(["key", "section", "question"], rows, words=(1, 2))
