"""Judges the differences between the two sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairlane.stats import CONFIDENCE, Interval, interval, t_quantile

from .case import Case
from .measures import BY_NAME, TABLES, Measure, Values
from .reference import Stored


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    case: str
    measure: Measure
    peer: Interval
    ours: Interval
    verdict: str
    """``ok``: within the bound; ``ok (interval)``: our mean is within ns-2's 95 % interval; ``ok (spread)``: ns-2's only
    run lies within the spread of our runs; ``explained``: differs, and docs/validation/ns2.md says why; ``DIFFERS``;
    ``shown``: no bound"""

    @property
    def failed(self) -> bool:
        """Whether the difference is too large."""
        return self.verdict == "DIFFERS"

    @property
    def difference(self) -> float:
        """Ours less ns-2's, in the unit of the measure."""
        return (self.ours.mean or 0.0) - (self.peer.mean or 0.0)

    def as_dict(self) -> dict[str, Any]:
        """For the JSON document."""
        bound = self.measure.bound(self.peer.mean or 0.0) if self.measure.judged else None
        return {
            "case": self.case,
            "metric": self.measure.name,
            "unit": self.measure.unit,
            "ns2": self.peer.as_dict(),
            "fairlane": self.ours.as_dict(),
            "difference": self.difference,
            "bound": bound,
            "verdict": self.verdict,
        }


def judge(case: str, measure: Measure, peer: Interval, ours: Interval, allowance: float = 1.0) -> Row:
    """Compares one measure; `allowance` is the number of bounds that an explained difference may have."""
    assert peer.mean is not None and ours.mean is not None
    if not measure.judged:
        verdict = "shown"
    elif abs(ours.mean - peer.mean) <= measure.bound(peer.mean):
        verdict = "ok"
    elif ours.mean in peer:
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


def from_runs(case: Case, peer: list[Values], ours: list[Values]) -> list[Row]:
    """Compares runs of both sides."""
    names = {name for values in peer for name in values}
    return _rows(case, {name: interval([v[name] for v in peer if name in v]) for name in names}, ours)


def from_stored(case: Case, peer: Stored, ours: list[Values]) -> list[Row]:
    """Compares our runs with stored results."""
    return _rows(case, {name: _as_interval(*value) for name, value in peer.items()}, ours)


def _as_interval(mean: float, sd: float | None, runs: int) -> Interval:
    if sd is None or runs < 2:
        return Interval(mean, None, None, None, 1)
    half = t_quantile(0.5 + CONFIDENCE / 2, runs - 1) * sd / runs**0.5
    return Interval(mean, mean - half, mean + half, sd, runs)


def _rows(case: Case, peer: dict[str, Interval], ours: list[Values]) -> list[Row]:
    name, explained = f"{case.family}/{case.name}", dict(case.explained)
    rows = []
    for measure in TABLES[case.bounds]:
        if measure.name == "share":
            rows += _share(name, peer, ours, explained.get("share", 1.0))
            continue
        other = peer.get(measure.name)
        mine = interval([v[measure.name] for v in ours if measure.name in v])
        if other is not None and other.mean is not None and mine.mean is not None:
            rows.append(judge(name, measure, other, mine, explained.get(measure.name, 1.0)))
        elif measure.name in ("period", "peak") and mine.mean is not None:
            # One side has a sawtooth, the other does not.
            rows.append(Row(name, measure, interval([]), mine, "DIFFERS"))
        elif measure.name in ("period", "peak") and other is not None and other.mean is not None:
            rows.append(Row(name, measure, other, interval([]), "DIFFERS"))
    return rows


def _share(case: str, peer: dict[str, Interval], ours: list[Values], allowance: float) -> list[Row]:
    """The flow whose share differs most: one row, or none where shares are not known."""
    rows = []
    for name in (name for name in peer if name.startswith("share.")):
        mine = interval([v[name] for v in ours])
        if mine.mean is not None:
            rows.append(judge(case, BY_NAME["share"], peer[name], mine, allowance))
    return [max(rows, key=lambda row: (row.failed, abs(row.difference)))] if rows else []
