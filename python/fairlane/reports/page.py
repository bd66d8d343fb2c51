"""The page of a report: one HTML file without any link to the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core
from ..graphs import inline_network
from ..look.rerun import Rerun, seed_range
from ..look.templates import render
from ..look.web_charts import Charts
from ..runs.page import describe_run, rerun_of
from ..runs.page import page as page_of_run
from ..runs.summary import limit_section, limits_sheet
from .charts import MOST_SIDES, charts
from .differences import MOST_ROWS, SourceComparison
from .sources import Source

MOST_NETWORKS = 4
"""Networks that are drawn; the first ones, if they differ."""
MOST_AGAIN = 6
"""Results whose scenario stands in the page."""


def page(told: SourceComparison, warnings: Sequence[str]) -> str:
    """The page as text: of one result its own, of several what sets them apart."""
    sides = told.sides
    if len(sides) == 1:
        if sides[0].kind == "study":
            return sides[0].study.page()
        return page_of_run(sides[0].run, sides[0].folder)
    study = sides[0].kind == "study"
    drawn = [] if study else charts(told)
    hidden = len(told.differences) - MOST_ROWS
    return render(
        "reports/page.html.j2", title=f"{sides[0].label} and {sides[1].label if len(sides) == 2 else f'{len(sides) - 1} others'}",
        sides=sides, base=sides[0].label, sentences=told.sentences, about=told.about if not told.same else "", rows=told.rows(),
        hidden=max(0, hidden), table=told.side_by_side(), changed=told.set_differently(), study=study, live=Charts(drawn),
        charts_of=[c.name for c in drawn], undrawn=max(0, len(sides) - MOST_SIDES) if drawn else 0, warnings=warnings,
        exact=_exact(told), ran=[(s.label, _ran(s)) for s in sides], networks=[] if study else _networks(sides),
        limits=[] if study else [(s.label, t) for s in sides[:MOST_AGAIN] if (t := limits_sheet(s.run)) is not None],
        whys=[] if study else [(s.label, w) for s in sides[:MOST_AGAIN] if (w := limit_section(s.run)) is not None],
        repeat=[_again(s) for s in sides[:MOST_AGAIN]], unsaid=max(0, len(sides) - MOST_AGAIN), version=_core.version(),
    )  # fmt: skip


def _ran(side: Source) -> str:
    if side.kind == "run":
        return describe_run(side.run)
    r = side.study
    return f"{len(r.points)} points, {r.index.height} cells, seeds {seed_range(sorted(r.index['seed'].unique().to_list()))}."


def _exact(told: SourceComparison) -> tuple[list[str], list[list[object]]]:
    """The differences with all digits."""
    heads = ["of", "metric", "unit", "result", "against", "difference", "low", "high", "percent", "percent_low", "percent_high", "paired",
             "p", "p_holm", "p_equivalent", "finding"]  # fmt: skip
    rows: list[list[object]] = []
    for d in told.differences:
        e, change, c = d.contrast.difference.difference, d.contrast.difference.change, d.contrast
        rows.append([d.measure.of, d.measure.metric, d.measure.unit, d.level, d.against, e.value, e.low, e.high, change.value, change.low,
                     change.high, c.difference.paired, c.difference.p, c.p, c.p_equivalent, c.finding])  # fmt: skip
    return heads, rows


def _networks(sides: Sequence[Source]) -> list[tuple[str, Any]]:
    """The networks that differ, each once, with the results that ran on it."""
    seen: dict[str, list[Source]] = {}
    for s in sides:
        expanded = s.run.scenario.get("expanded") or {}
        seen.setdefault(repr((expanded.get("nodes"), expanded.get("links"))), []).append(s)
    out = []
    for i, own in enumerate(list(seen.values())[:MOST_NETWORKS]):
        drawn = inline_network(own[0].run.scenario, f"net{i}")
        if drawn is not None:
            out.append(("" if len(own) == len(sides) else ", ".join(s.label for s in own), drawn))
    return out


def _again(side: Source) -> Rerun:
    if side.kind == "run":
        return rerun_of(side.run, side.folder, side.label)
    spec, seeds = side.study.spec, seed_range(sorted(side.study.index["seed"].unique().to_list()))
    return Rerun(side.label, "", "A study is run again by its own command: its folder has study.json.", scenario=spec.base,
                 facts=[("study", spec.name), ("seeds", seeds), ("folder", side.folder or "-")])  # fmt: skip
