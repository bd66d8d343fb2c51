"""`CardOutcome`: the answers about one subject."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import suggest
from ..study.labels import alike
from .judge import WORDS, Answer
from .subject import Subject


@dataclass(frozen=True)
class CardOutcome:
    """The answers about one subject."""

    subject: Subject
    answers: tuple[Answer, ...]
    quick: bool = False
    plugins: tuple[str, ...] = ()

    def count(self, verdict: str) -> int:
        """Returns the number of answers with a verdict."""
        return sum(a.verdict == verdict for a in self.answers)

    @property
    def summary(self) -> str:
        """The numbers of verdicts in words."""
        return ", ".join(f"{self.count(w)} {w}" for w in WORDS if self.count(w))

    @property
    def runs(self) -> int:
        """Number of simulations."""
        return sum(a.runs for a in self.answers)

    @property
    def errors(self) -> list[str]:
        """Why runs failed, each reason once."""
        return list({alike(a.error): a.error for a in reversed(self.answers) if a.error}.values())[::-1]

    def answer(self, key: str) -> Answer:
        """Returns the answer to a question; raises `UnknownNameError`."""
        for a in self.answers:
            if a.key == key:
                return a
        raise suggest(key, [a.key for a in self.answers], "question of this card")
