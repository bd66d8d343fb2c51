"""Judges the differences between the two sides."""

from __future__ import annotations

from validation.sides.judge import Row, Values, judge

from fairlane.stats import Interval, from_moments, interval

from .case import Case
from .measures import BY_NAME, NS2, TABLES
from .reference import Stored


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
    return from_moments(mean, sd, runs)


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
            rows.append(judge(NS2, name, measure, other, mine, explained.get(measure.name, 1.0)))
        elif measure.name in ("period", "peak") and mine.mean is not None:
            # One side has a sawtooth, the other does not.
            rows.append(Row(NS2, name, measure, interval([]), mine, "DIFFERS"))
        elif measure.name in ("period", "peak") and other is not None and other.mean is not None:
            rows.append(Row(NS2, name, measure, other, interval([]), "DIFFERS"))
    return rows


def _share(case: str, peer: dict[str, Interval], ours: list[Values], allowance: float) -> list[Row]:
    """The flow whose share differs most: one row, or none where shares are not known."""
    rows = []
    for name in (name for name in peer if name.startswith("share.")):
        mine = interval([v[name] for v in ours])
        if mine.mean is not None:
            rows.append(judge(NS2, case, BY_NAME["share"], peer[name], mine, allowance))
    return [max(rows, key=lambda row: (row.failed, abs(row.difference)))] if rows else []
