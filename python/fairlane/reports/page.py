"""HTML page of a report: one file without external resources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core
from ..base.seeds import seed_range
from ..graphs import inline_network
from ..look.rerun import Rerun
from ..look.templates import render
from ..look.web_charts import Charts
from ..runs.page import describe_run, rerun_of
from ..runs.page import page as page_of_run
from ..runs.summary import limit_section, limits_sheet
from .charts import MOST_SOURCES, charts
from .differences import MOST_ROWS, SourceComparison
from .sources import Source

MOST_NETWORKS = 4
"""Most networks that are drawn, if they differ."""
MOST_RERUNS = 6
"""Most results whose scenario is in the page."""


def page(comparison: SourceComparison, warnings: Sequence[str]) -> str:
    """Returns the page of a result, or of the comparison of several."""
    sources = comparison.sources
    if len(sources) == 1:
        if sources[0].kind == "study":
            return sources[0].study.page()
        return page_of_run(sources[0].run, sources[0].folder)
    study = sources[0].kind == "study"
    drawn = [] if study else charts(comparison)
    hidden = len(comparison.differences) - MOST_ROWS
    return render(
        "reports/page.html.j2", title=f"{sources[0].label} and {sources[1].label if len(sources) == 2 else f'{len(sources) - 1} others'}",
        sources=sources, base=sources[0].label, sentences=comparison.sentences,
        about=comparison.about if not comparison.same else "", rows=comparison.rows(),
        hidden=max(0, hidden), table=comparison.values_sheet(), changed=comparison.changed_settings(), study=study, live=Charts(drawn),
        charts_of=[c.name for c in drawn], undrawn=max(0, len(sources) - MOST_SOURCES) if drawn else 0, warnings=warnings,
        exact=_exact(comparison), ran=[(s.label, _describe(s)) for s in sources], networks=[] if study else _networks(sources),
        limits=[] if study else [(s.label, t) for s in sources[:MOST_RERUNS] if (t := limits_sheet(s.run)) is not None],
        whys=[] if study else [(s.label, w) for s in sources[:MOST_RERUNS] if (w := limit_section(s.run)) is not None],
        repeat=[_rerun(s) for s in sources[:MOST_RERUNS]], unsaid=max(0, len(sources) - MOST_RERUNS), version=_core.version(),
    )  # fmt: skip


def _describe(source: Source) -> str:
    if source.kind == "run":
        return describe_run(source.run)
    r = source.study
    return f"{len(r.combinations)} combinations, {r.index.height} runs, seeds {seed_range(sorted(r.index['seed'].unique().to_list()))}."


def _exact(comparison: SourceComparison) -> tuple[list[str], list[list[object]]]:
    """Returns the differences with all digits."""
    heads = ["of", "metric", "unit", "result", "against", "difference", "low", "high", "percent", "percent_low", "percent_high", "paired",
             "p", "p_holm", "p_equivalent", "finding"]  # fmt: skip
    rows: list[list[object]] = []
    for d in comparison.differences:
        e, change, c = d.contrast.difference.difference, d.contrast.difference.change, d.contrast
        rows.append([d.measure.of, d.measure.metric, d.measure.unit, d.level, d.against, e.value, e.low, e.high, change.value, change.low,
                     change.high, c.difference.paired, c.difference.p, c.p, c.p_equivalent, c.finding])  # fmt: skip
    return heads, rows


def _networks(sources: Sequence[Source]) -> list[tuple[str, Any]]:
    """Returns the different networks, each with the results that use it."""
    seen: dict[str, list[Source]] = {}
    for s in sources:
        expanded = s.run.scenario.get("expanded") or {}
        seen.setdefault(repr((expanded.get("nodes"), expanded.get("links"))), []).append(s)
    out = []
    for i, own in enumerate(list(seen.values())[:MOST_NETWORKS]):
        drawn = inline_network(own[0].run.scenario, f"net{i}")
        if drawn is not None:
            out.append(("" if len(own) == len(sources) else ", ".join(s.label for s in own), drawn))
    return out


def _rerun(source: Source) -> Rerun:
    if source.kind == "run":
        return rerun_of(source.run, source.folder, source.label)
    spec, seeds = source.study.spec, seed_range(sorted(source.study.index["seed"].unique().to_list()))
    return Rerun(source.label, "", "Reproduce a study with its own command: its folder has study.json.", scenario=spec.base,
                 facts=[("study", spec.name), ("seeds", seeds), ("folder", source.folder or "-")])  # fmt: skip
