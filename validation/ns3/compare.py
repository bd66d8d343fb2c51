"""Judges the differences between the two sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairlane.stats import Interval, interval

from .cases import Case
from .measures import FLOW_SHARE, MEASURES, Measure, Values


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    case: str
    measure: Measure
    peer: Interval
    ours: Interval
    verdict: str
    """``ok``: within the bound; ``ok (interval)``: our mean lies in ns-3's 95 % interval or ns-3's in ours; ``ok (spread)``: ns-3's
    only run lies within the spread of our runs; ``explained``: differs, and docs/validation/ns3.md says why; ``DIFFERS``;
    ``shown``: no bound"""

    @property
    def failed(self) -> bool:
        """Whether the difference is too large."""
        return self.verdict == "DIFFERS"

    @property
    def difference(self) -> float:
        """Ours less ns-3's, in the unit of the measure."""
        return (self.ours.mean or 0.0) - (self.peer.mean or 0.0)

    def as_dict(self) -> dict[str, Any]:
        """For the JSON document."""
        return {
            "case": self.case,
            "metric": self.measure.name,
            "unit": self.measure.unit,
            "ns3": self.peer.as_dict(),
            "fairlane": self.ours.as_dict(),
            "difference": self.difference,
            "bound": self.measure.bound(self.peer.mean or 0.0) if self.measure.judged else None,
            "verdict": self.verdict,
        }


def judge(case: str, measure: Measure, peer: Interval, ours: Interval, allowance: float = 1.0) -> Row:
    """Compares one measure; `allowance` is the number of bounds that an explained difference may have."""
    assert peer.mean is not None and ours.mean is not None
    if not measure.judged:
        verdict = "shown"
    elif abs(ours.mean - peer.mean) <= measure.bound(peer.mean):
        verdict = "ok"
    elif ours.mean in peer or peer.mean in ours:
        verdict = "ok (interval)"
    elif peer.n == 1 and _within_spread(peer.mean, ours):
        verdict = "ok (spread)"
    elif abs(ours.mean - peer.mean) <= allowance * measure.bound(peer.mean):
        verdict = "explained"
    else:
        verdict = "DIFFERS"
    return Row(case, measure, peer, ours, verdict)


def _within_spread(value: float, ours: Interval) -> bool:
    """Whether one more run could have given `value`: the 95 % prediction interval, which is the confidence interval
    widened by sqrt(n + 1)."""
    half = ours.half_width
    return half is not None and ours.mean is not None and abs(value - ours.mean) <= half * (ours.n + 1) ** 0.5


def rows(case: Case, peer: list[Values], ours: list[Values]) -> list[Row]:
    """All measures of a case, and the flow that differs most."""
    out = []
    explained = dict(case.explained)
    for measure in MEASURES:
        theirs, mine = _interval(peer, measure.name), _interval(ours, measure.name)
        if theirs.mean is not None and mine.mean is not None:
            out.append(judge(case.title, measure, theirs, mine, explained.get(measure.name, 1.0)))
    capacity = case.rate * 1e-6
    flows = []
    for i in range(len(case.flows)):
        measure = Measure(f"flow.{i}", "Mbit/s", "goodput of one flow", None, FLOW_SHARE * capacity)
        flows.append(judge(case.title, measure, _interval(peer, measure.name), _interval(ours, measure.name)))
    out.append(max(flows, key=lambda row: (row.failed, abs(row.difference))))
    return out


def _interval(runs: list[Values], name: str) -> Interval:
    return interval([values[name] for values in runs if name in values])
