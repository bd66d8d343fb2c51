"""Worst paths on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base.format import quantity
from ..look.sheet import Sheet, Words

if TYPE_CHECKING:
    from ..stats import Interval
    from .outcome import WorstOutcome


def head(r: WorstOutcome) -> str:
    """Returns the name of the search with its budget."""
    s = r.spec
    how = f"compared with {s.reference}" if s.reference else "compared with the unchanged path"
    return f"{s.name}: {s.objective.goal} of {s.subject}, {how}; {r.evaluations} paths tried with {len(s.seeds)} seeds each"


def rows(r: WorstOutcome) -> tuple[list[str], list[list[str]]]:
    """Returns the table of worst paths on fresh seeds."""
    s = r.spec
    other = s.reference or "unchanged path"

    def cell(x: Interval) -> str:
        return quantity(x, s.objective.unit)

    heads = ["path", s.subject, other, "difference", "changes"]
    return heads, [[str(f.number), cell(f.own), cell(f.other), cell(f.effect), ", ".join(f.shrunk.candidate)] for f in r.findings]


def sheet(r: WorstOutcome) -> Sheet:
    """Returns the table for a terminal."""
    return Sheet(*rows(r), title=f"{r.spec.objective.word}, {len(r.spec.fresh)} fresh seeds")


def report(r: WorstOutcome) -> list[Words | Sheet]:
    """Returns the sections of the report."""
    out: list[Words | Sheet] = [Words(head(r))]
    if not r.found:
        return [*out, Words(r.summary)]
    out.append(sheet(r))
    for f in r.findings:
        out.append(Words(f"{f.number}. {f.sentence}"))
        out += [Words(f"   {name}: {line}") for name, lines in f.limits for line in lines[:-1][:2]]
    return out
