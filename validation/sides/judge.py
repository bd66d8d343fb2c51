"""Measures, and the judgement on how much the two sides differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairlane.stats import Interval

Values = dict[str, float]
"""Values of one run, by measure; values of flow k have the suffix `.k`."""


@dataclass(frozen=True)
class Simulator:
    """The other side."""

    name: str
    """as people write it"""
    key: str
    """in file names and JSON"""
    width: int
    """of the column with the cases"""
    digits: int
    """of the values in the table"""
    either: bool
    """whether its mean in our interval is enough, where ours is not in its"""


@dataclass(frozen=True)
class Measure:
    """One measured quantity and how close the two sides must be."""

    name: str
    unit: str
    doc: str
    relative: float | None = None
    """largest difference as a share of the other side's value; None: shown, not judged"""
    absolute: float = 0.0
    """largest difference in the unit itself; the wider of the two bounds holds"""

    @property
    def judged(self) -> bool:
        """True if it has a bound."""
        return self.relative is not None or self.absolute > 0.0

    def bound(self, peer: float) -> float:
        """Returns the largest allowed difference from the other side's value."""
        return max((self.relative or 0.0) * abs(peer), self.absolute)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    side: Simulator
    case: str
    measure: Measure
    peer: Interval
    ours: Interval
    verdict: str
    """``ok``: within the bound; ``ok (interval)``: our mean is within the other's 95 % interval (or, where the side says so, the other's
    in ours); ``ok (spread)``: the other's only run lies within the spread of our runs; ``explained``: differs, and
    docs/validation/ says why; ``DIFFERS``; ``shown``: no bound"""

    @property
    def failed(self) -> bool:
        """True if the difference is too large."""
        return self.verdict == "DIFFERS"

    @property
    def difference(self) -> float:
        """Ours less the other's, in the unit of the measure."""
        return (self.ours.mean or 0.0) - (self.peer.mean or 0.0)

    def as_dict(self) -> dict[str, Any]:
        """For the JSON document."""
        return {
            "case": self.case,
            "metric": self.measure.name,
            "unit": self.measure.unit,
            self.side.key: self.peer.as_dict(),
            "fairlane": self.ours.as_dict(),
            "difference": self.difference,
            "bound": self.measure.bound(self.peer.mean or 0.0) if self.measure.judged else None,
            "verdict": self.verdict,
        }


def judge(side: Simulator, case: str, measure: Measure, peer: Interval, ours: Interval, allowance: float = 1.0) -> Row:
    """Compares one measure; `allowance` is the number of bounds that an explained difference may have."""
    assert peer.mean is not None and ours.mean is not None
    if not measure.judged:
        verdict = "shown"
    elif abs(ours.mean - peer.mean) <= measure.bound(peer.mean):
        verdict = "ok"
    elif ours.mean in peer or (side.either and peer.mean in ours):
        verdict = "ok (interval)"
    elif peer.n == 1 and _within_spread(peer.mean, ours):
        verdict = "ok (spread)"
    elif abs(ours.mean - peer.mean) <= allowance * measure.bound(peer.mean):
        verdict = "explained"
    else:
        verdict = "DIFFERS"
    return Row(side, case, measure, peer, ours, verdict)


def _within_spread(value: float, ours: Interval) -> bool:
    """True if one more run could have given `value`: the 95 % prediction interval, which is the confidence interval
    widened by sqrt(n + 1)."""
    half = ours.half_width
    return half is not None and ours.mean is not None and abs(value - ours.mean) <= half * (ours.n + 1) ** 0.5
