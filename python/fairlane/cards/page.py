"""The page of report cards: one HTML file without any link to the network, for the appendix of a draft."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..look.rerun import Rerun, code_warning
from ..look.templates import render
from .judge import ROUNDS, WORDS, confidence
from .subject import KINDS
from .terminal import short

if TYPE_CHECKING:
    from .outcome import CardOutcome


def page(cards: Sequence[CardOutcome], command: str = "") -> str:
    """Returns the page as text; `command`: the command line that made it."""
    from .. import _core

    first = cards[0]
    csv = (
        ["question", "section", "subject", "verdict", "number", "low", "high", "n", "bound", "unit"],
        [
            [
                a.key, a.question.section, c.subject.title, a.verdict, a.interval.mean, a.interval.low, a.interval.high, a.interval.n,
                a.question.bound, a.question.unit,
            ]
            for c in cards
            for a in c.answers
        ],
    )  # fmt: skip
    facts = [
        ("replications", f"{ROUNDS[0]}" if first.quick else f"{ROUNDS[0]}, and up to {ROUNDS[-1]} where the verdict is open"),
        ("simulations", str(sum(c.runs for c in cards))),
        ("fairlane", _core.version()),
    ]
    again = Rerun("", command or _command(cards), "", "", None, facts, "", code_warning(first.plugins))
    return render(
        "cards/page.html.j2", cards=cards, first=first, words=WORDS, kinds=KINDS, confidence=confidence(first.quick), csv=csv, again=again,
        title=_title(cards), short=short, version=_core.version(),
        css={"pass": "holds", "concern": "depends", "fail": "fails", "not applicable": "no-data"},
    )  # fmt: skip


def _title(cards: Sequence[CardOutcome]) -> str:
    """Returns how many questions each subject passes, of at most three."""
    of = [(c.subject.title, f"{c.count('pass')} of {len(c.answers) - c.count('not applicable')}") for c in cards]
    (name, first), *others = of
    if len(others) > 2:
        return f"{name} passes {first} questions; {len(others)} others answer the same"
    parts = [f"{name} passes {first}", *(f"{n} {passed}" for n, passed in others)]
    return f"{', '.join(parts[:-1])}{' and ' if others else ''}{parts[-1]} questions"


def _command(cards: Sequence[CardOutcome]) -> str:
    first = cards[0]
    words = ["fairlane", "card", first.subject.kind, first.subject.label]
    words += ["--queue", first.subject.queue.label] if first.subject.queue else []
    words += ["--against", ",".join(c.subject.label for c in cards[1:])] if len(cards) > 1 else []
    words += ["--quick"] if first.quick else []
    words += [w for p in first.plugins for w in ("--plugin", p)]
    return shlex.join(words)
