"""In what share of the settings a claim holds, and the word for it.

The interval of a share is that of Clopper and Pearson (Biometrika 26, 1934): exact for independent draws, and it never promises more than
they do. Points of a scrambled sequence are spread more evenly than such draws, which makes the interval a careful one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Word = Literal["holds", "fails", "depends", "inconclusive"]
WORDS: tuple[Word, ...] = ("holds", "depends", "fails", "inconclusive")
"""The words of verdicts, in the order in which they are counted."""

NEARLY_ALL = 0.95
"""A claim holds in general if its share is beyond this, and fails if it is below one minus this, interval and all."""
CONFIDENCE = 0.95
"""Confidence level of the reported intervals."""
STOPPING = 0.99
"""Confidence level of the interval that stops the sampling: wider, because it is tested repeatedly."""
FEWEST = 40
"""Settings that speak of a claim, below which it has no verdict."""
SILENT = 0.05
"""Share of settings that say nothing of a claim, above which it has no verdict."""


@dataclass(frozen=True)
class Share:
    """How often a claim holds: the share with its interval, and of how many settings."""

    share: float
    low: float
    high: float
    n: int

    @property
    def clear(self) -> Literal["holds", "fails", ""]:
        """The word if the whole interval is beyond `NEARLY_ALL` on one side."""
        return "holds" if self.low >= NEARLY_ALL else "fails" if self.high <= 1 - NEARLY_ALL else ""

    @property
    def between(self) -> bool:
        """True if the whole interval lies between the two bounds."""
        return self.high < NEARLY_ALL and self.low > 1 - NEARLY_ALL

    def __str__(self) -> str:
        return f"{100 * self.share:.0f} % ({100 * self.low:.0f} to {100 * self.high:.0f} %) of {self.n} settings"


def share(outcomes: Sequence[float | bool | None], confidence: float = CONFIDENCE) -> Share | None:
    """The share of the settings in which a claim holds, with its Clopper-Pearson interval; None without any.

    An outcome is whether the claim holds there, or the share of the replications in which it does; None says nothing and does not count.
    Replications of one setting are no draws of their own: each setting counts once, however many it has.

    >>> s = share([True] * 30 + [False] * 70)
    >>> round(s.low, 3), round(s.high, 3)
    (0.212, 0.4)
    """
    from scipy.special import betaincinv  # scipy.stats takes a second to import

    heard = [float(x) for x in outcomes if x is not None]
    n = len(heard)
    if not n:
        return None
    k, rest = math.fsum(heard), (1 - confidence) / 2
    low = 0.0 if k <= 0 else float(betaincinv(k, n - k + 1, rest))
    high = 1.0 if k >= n else float(betaincinv(k + 1, n - k, 1 - rest))
    return Share(min(1.0, k / n), low, high, n)


@dataclass(frozen=True)
class Boundary:
    """A boundary where a claim changes: a parameter, and the value, or the levels, on one side of which it holds more often."""

    name: str
    value: str | tuple[str, ...]
    """The value as written, or the levels with which it holds more often."""
    side: Literal["above", "below", "with"]
    """Where it holds more often: above or below the value, or with these levels."""
    share_there: float
    """In which share of the settings on that side it holds."""
    share_else: float
    """In which share of those on the other side."""
    where: str = ""
    """The part of the settings that is meant, if not all of them: "window above 20p"."""
    n: int = 0
    """Settings in that part."""

    @property
    def separation(self) -> float:
        """How well it separates: the difference of the two shares."""
        return self.share_there - self.share_else

    def to_json(self) -> dict[str, Any]:
        """The entry of a JSON document."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {
            "name": self.name, "value": value, "holds": self.side, "share_there": round(self.share_there, 4),
            "share_else": round(self.share_else, 4), "where": self.where, "settings": self.n,
        }  # fmt: skip

    def __str__(self) -> str:
        at = " or ".join(self.value) if isinstance(self.value, tuple) else self.value
        inside = f", where {self.where}" if self.where else ""
        return f"{self.name} {'' if self.side == 'with' else self.side + ' '}{at}{inside}"


@dataclass(frozen=True)
class Judgement:
    """The word for a claim and what it rests on."""

    word: Word
    share: Share | None
    boundaries: tuple[Boundary, ...]
    explained: float
    """How much of the variation between settings the boundaries explain, from 0 to 1."""
    reason: str


def judge(
    outcomes: Sequence[float | bool | None],
    boundaries: Sequence[Boundary] = (),
    explained: float = 0.0,
) -> Judgement:
    """The word for a claim of a study from its outcome in each setting of the sample; `boundaries`, `explained`: from `changes_at`."""
    s, told = share(outcomes), tuple(boundaries)
    silent = sum(x is None for x in outcomes)

    def word(w: Word, reason: str) -> Judgement:
        return Judgement(w, s, told, explained, reason)

    if s is None or s.n < FEWEST:
        return word("inconclusive", f"only {0 if s is None else s.n} of the {FEWEST} settings needed can evaluate this claim")
    if silent > SILENT * len(outcomes):
        return word("inconclusive", f"{silent} of {len(outcomes)} settings cannot evaluate this claim")
    if s.clear:
        return word(s.clear, f"{s.clear} in {s.n if s.share in (0.0, 1.0) else _of(s)} of {s.n} plausible settings")
    if told and explained >= EXPLAINED:
        return word("depends", f"holds in {s}; it depends on {'; '.join(str(t) for t in told)}")
    if not s.between:
        return word("inconclusive", f"holds in {s}; more samples would settle it")
    return word("inconclusive", f"holds in {s}; no single parameter explains where it holds")


EXPLAINED = 0.25
"""Least share of the variation between settings that boundaries explain for the verdict "depends"."""


def _of(s: Share) -> int:
    k = round(s.share * s.n)
    return k if s.clear == "holds" else s.n - k
