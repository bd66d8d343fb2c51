"""Cards of everything in the registry: one folder each, one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from ..base.files import save_bytes
from ..study.executors import WorkerPool, choose
from .card import Card, CardProgress, answer_questions
from .folders import questions
from .judge import WORDS
from .markdown import markdown
from .subject import Subject, registered, subjects
from .terminal import SHORT

LETTERS = {"pass": "✓", "concern": "~", "fail": "✗", "not applicable": "·"}
"""Signs of verdicts in the table."""


@dataclass(frozen=True)
class Overview:
    """The cards of many subjects."""

    kind: str
    cards: tuple[Card, ...]

    @property
    def errors(self) -> list[str]:
        """Why runs failed."""
        return [e for c in self.cards for e in c.errors]

    def markdown(self, pages: str = "", ending: str = "html") -> str:
        """Returns one table: a row for each subject, its verdicts, and what failed. `pages`: folder of the pages, to link them."""
        out = [f"| {self.kind} | {' | '.join(SHORT[w] for w in WORDS)} | fails | concerns |", "|---|" + "---:|" * len(WORDS) + "---|---|"]
        for c in self.cards:
            name = f"[{c.subject.label}]({pages}{c.subject.folder}.{ending})" if pages else f"`{c.subject.label}`"
            keys = [", ".join(a.key for a in c.answers if a.verdict == w) for w in ("fail", "concern")]
            out.append(f"| {name} | {' | '.join(str(c.count(w)) for w in WORDS)} | {' | '.join(keys)} |")
        return "\n".join(out) + "\n"


def every(kind: str, only: Iterable[str] = ()) -> list[Subject]:
    """Returns every queue or congestion control of the registry, or those that are named."""
    names = list(only) or registered(kind)
    return [s for name in names for s in subjects(kind, name)]


def answer_all(
    kind: str,
    of: Sequence[Subject],
    folder: str | PathLike[str],
    *,
    quick: bool = False,
    pool: WorkerPool | None = None,
    progress: Callable[[int, int, str], CardProgress | None] | None = None,
) -> Overview:
    """Makes the cards of subjects in a folder: the runs of each, its pages, and `KIND.md`. Finished runs are not repeated."""
    place, workers = Path(folder), pool or choose()
    asked = questions(kind, quick=quick)
    cards = []
    for i, subject in enumerate(of):
        told = None if progress is None else progress(i, len(of), subject.label)
        card = answer_questions(subject, asked, place / subject.folder, quick=quick, pool=workers, progress=told)
        save_bytes(place / f"{subject.folder}.html", card.page().encode())
        save_bytes(place / f"{subject.folder}.md", markdown(card).encode())
        cards.append(card)
    overview = Overview(kind, tuple(cards))
    save_bytes(place / f"{kind}.md", overview.markdown("./").encode())
    return overview
