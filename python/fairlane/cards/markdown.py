"""A report card as Markdown: the answers that fail first, then all of them in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .judge import WORDS, confidence
from .terminal import SHORT, short

if TYPE_CHECKING:
    from .judge import Answer
    from .outcome import CardOutcome

_TITLES = {"fail": "Fails", "concern": "Concerns", "not applicable": "Not applicable"}


def markdown(card: CardOutcome) -> str:
    """Returns the card as text; the first sentence is the result."""
    passed, asked = card.count("pass"), len(card.answers) - card.count("not applicable")
    others = ", ".join(f"{card.count(w)} {SHORT[w]}" for w in WORDS[1:3] if card.count(w))
    name, rest = f"`{card.subject.title}`", f" ({others})" if others else ""
    out = [f"# Report card of {name}", f"{name} passes {passed} of {asked} questions{rest}. {confidence(card.quick)}"]
    for word, title in _TITLES.items():
        if found := [a for a in card.answers if a.verdict == word]:
            out += [f"## {title}", "\n".join(f"- `{a.key}`: {a.question.question} {_because(a)}" for a in found)]
    rows = [[f"`{a.key}`", short(a.question.section), SHORT[a.verdict], a.shown, a.limit] for a in card.answers]
    lines = ["| question | section | verdict | number | bound |", "|---|---|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n\n".join([*out, "## All answers", "\n".join(lines)]) + "\n"


def _because(a: Answer) -> str:
    if a.verdict == "not applicable":
        return f"{a.sentence[:1].upper()}{a.sentence[1:]}."
    return f"{a.sentence[:1].upper()}{a.sentence[1:]} ({a.question.section}). {a.question.basis}"
