"""Answers: the number of a question in each replication, its interval, and the verdict.

A number whose whole interval is on the right side of the bound passes. One whose whole interval is beyond bound and tolerance fails. All
others are a concern: within the tolerance, or not decided by the replications.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..base.format import number
from ..claims import BadCheck, Check, NoData, Tables
from ..stats import Interval, interval
from ..study.sentences import layout, spellings
from .question import Question

if TYPE_CHECKING:
    from ..study import StudyResult

Word = Literal["pass", "concern", "fail", "not applicable"]
WORDS: tuple[Word, ...] = ("pass", "concern", "fail", "not applicable")
NOTHING = Interval(None, None, None, None, 0)
"""Interval of an answer without a number."""
ROUNDS = (5, 10, 20)
"""Replications after which a verdict is tried."""
_ERROR = 0.05
"""Probability that the interval misses the mean at any of the looks; each look has an equal part of it (Bonferroni)."""


def confidence(quick: bool) -> str:
    """Returns how sure the intervals are, in words."""
    if quick:
        return f"Intervals are those of {1 - _ERROR:.0%} over {ROUNDS[0]} replications.".replace("%", " %")
    share = 100 * (1 - _ERROR / len(ROUNDS))
    looks = ", ".join(map(str, ROUNDS[:-1]))
    return f"Intervals are those of {share:.1f} %: at {looks} and {ROUNDS[-1]} replications together they miss the mean with 5 % at most."


@dataclass(frozen=True)
class Answer:
    """The answer to a question."""

    question: Question
    verdict: Word
    interval: Interval
    """Mean over the replications; without values if the question does not apply."""
    sentence: str
    values: tuple[float, ...] = ()
    """The number in each replication."""
    heads: tuple[str, ...] = ()
    """Factors and metrics of the table."""
    rows: tuple[tuple[str, ...], ...] = ()
    """Means of the metrics at each combination of levels."""
    error: str = ""
    """Why runs failed, with the traceback of a plug-in."""
    seconds: float = 0.0
    runs: int = 0

    @property
    def key(self) -> str:
        """Key of the question."""
        return self.question.key

    @property
    def shown(self) -> str:
        """The number with its interval."""
        return "" if self.interval.mean is None else spread(self.interval, self.question.unit)

    @property
    def limit(self) -> str:
        """The bound with its sign."""
        q = self.question
        return "" if q.left_out else f"{'≤' if q.sign == '<=' else '≥'} {q.bound:g}{f' {q.unit}' if q.unit else ''}"


def spread(iv: Interval, unit: str) -> str:
    """Formats a number with its interval to three digits."""
    text = number(iv.mean, 3)
    half = iv.half_width
    if half is not None and half > 0:
        text += f" ± {number(half, 2)}"
    return f"{text} {unit}".rstrip()


def judged(values: Sequence[float], question: Question, looks: int) -> tuple[Word, Interval, bool]:
    """Returns verdict and interval of a number, and true if more replications cannot be expected to change it."""
    iv = interval(values, 1 - _ERROR / looks)
    mean = iv.mean
    assert mean is not None
    low, high = (mean if x is None else x for x in (iv.low, iv.high))
    flip = 1 if question.sign == "<=" else -1
    low, high = sorted((flip * low, flip * high))
    bound = flip * question.bound
    if high <= bound:
        return "pass", iv, True
    if low > bound + question.tolerance:
        return "fail", iv, True
    return "concern", iv, low > bound and high <= bound + question.tolerance


class Numbers:
    """The numbers of a study as a question sees them: one table of metrics for each seed."""

    def __init__(self, result: StudyResult, seeds: Sequence[int]) -> None:
        self.seeds = list(seeds)
        self._metrics, self._factors = result.metrics, result.spec.factors
        self._values = {m: [result.per_seed(m, c) for c in result.combinations] for m in self._metrics}

    def tables(self, seed: int | None = None) -> Tables:
        """Returns the metrics of one seed, or their means over the seeds."""
        rows = layout(self._metrics, self._factors, None)
        return Known(rows, {m: [self._cell(x, seed) for x in of] for m, of in self._values.items()}, spellings(self._factors))

    def _cell(self, values: Mapping[int, float | None], seed: int | None) -> float:
        found = [values.get(s) for s in ([seed] if seed is not None else self.seeds)]
        known = [x for x in found if x is not None and math.isfinite(x)]
        return math.fsum(known) / len(known) if known else math.nan

    def of(self, check: Check) -> list[float]:
        """Returns the number of a claim in each seed; raises `NoData` where a value is missing."""
        out = []
        for seed in self.seeds:
            made = check.comparisons(self.tables(seed))
            if not made or not math.isfinite(made[-1].left):
                raise NoData("a value that the claim reads is missing")
            out.append(made[-1].left)
        return out

    def applies(self, question: Question) -> bool:
        """Returns false if the condition of the question is."""
        if not question.applies:
            return True
        try:
            return Check(question.applies).outcome(self.tables()) == "holds"
        except BadCheck:
            return False


class Known(Tables):
    """Tables in which a value that is not a number is no data."""

    def vs(self, table: str, **factors: object) -> list[float]:
        """All matching values."""
        values = super().vs(table, **factors)
        if not all(map(math.isfinite, values)):
            raise NoData(f"{table} {factors}")
        return values


def sentence(verdict: Word, iv: Interval, question: Question, decided: bool) -> str:
    """Returns a verdict in words."""
    shown, unit = spread(iv, question.unit), f" {question.unit}" if question.unit else ""
    bound = f"{question.bound:g}{unit}"
    side = "at most" if question.sign == "<=" else "at least"
    text = f"{shown}; {side} {bound} is asked"
    if verdict != "concern":
        return text
    if not decided:
        return f"{text}, and {iv.n} replications do not decide"
    return f"{text}, and it is within the tolerance of {question.tolerance:g}{unit}"
