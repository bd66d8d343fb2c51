"""Judges the differences between the two sides."""

from __future__ import annotations

from validation.sides.judge import Measure, Row, Values, judge

from fairlane.stats import Interval, interval

from .cases import Case
from .measures import FLOW_SHARE, MEASURES, NS3


def rows(case: Case, peer: list[Values], ours: list[Values]) -> list[Row]:
    """All measures of a case, and the flow that differs most."""
    out = []
    explained = dict(case.explained)
    for measure in MEASURES:
        theirs, mine = _interval(peer, measure.name), _interval(ours, measure.name)
        if theirs.mean is not None and mine.mean is not None:
            out.append(judge(NS3, case.title, measure, theirs, mine, explained.get(measure.name, 1.0)))
    capacity = case.rate * 1e-6
    flows = []
    for i in range(len(case.flows)):
        measure = Measure(f"flow.{i}", "Mbit/s", "goodput of one flow", None, FLOW_SHARE * capacity)
        theirs, mine = _interval(peer, measure.name), _interval(ours, measure.name)
        flows.append(judge(NS3, case.title, measure, theirs, mine, explained.get(measure.name, 1.0)))
    out.append(max(flows, key=lambda row: (row.failed, abs(row.difference))))
    return out


def _interval(runs: list[Values], name: str) -> Interval:
    return interval([values[name] for values in runs if name in values])
