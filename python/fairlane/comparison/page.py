"""HTML page of a comparison: one file without external resources."""

from __future__ import annotations

import shlex
from itertools import pairwise
from typing import TYPE_CHECKING

from ..base import toml
from ..base.seeds import seed_range
from ..graphs import inline_network
from ..look import theme
from ..look.rerun import MOST_SCENARIO, Rerun, code_warning
from ..look.templates import drawing, render, svg_link
from ..look.web_charts import Charts

if TYPE_CHECKING:
    from .data import ComparisonData
    from .differences import Difference

from ..runs.summary import limit_section, limits_sheet
from .charts import queues
from .differences import about, sentence_rows, table
from .plots import CAPTIONS, panels, picture
from .tables import group_table, link_table, measure_table, what

STILL = ("ellipses", "jain")
"""Static figures, which are not time series."""
MOST_WHY = 12
"""Most settings with a section on limits."""
MOST_ROWS = 200
"""Most differences that the page lists; the document has all."""


def page(c: ComparisonData) -> str:
    """Returns the page."""
    from .. import _core

    still = (*STILL, "points") if c.metrics else STILL
    drawn = {what: [drawing(p, f"{what}-{i}", f"{what}: {CAPTIONS[what]}") for i, p in enumerate(panels(c, what))] for what in still}
    scenario = c.settings[0].result.scenario
    numbers = c.table()
    found: list[Difference] = c._differences
    live = queues(c)
    return render(
        "comparison/page.html.j2", title=scenario.get("name") or f"Comparison of {what(c)}", link=c.link, what=what(c),
        scenario=scenario, runs=len(c.seeds), factors=[f for f in c.factors if len(f.levels) > 1],
        whys=[(q.label, w) for q in c.settings[:MOST_WHY] if (w := limit_section(q.result)) is not None],
        limits=[(q.label, t) for q in c.settings[:MOST_WHY] if (t := limits_sheet(q.result)) is not None],
        names=[q.label for q in c.settings], drawn=drawn, captions=CAPTIONS, table=link_table(c), version=_core.version(),
        groups=[(g, c.settings[0].flows(g)["flow"].n_unique(), group_table(c, g)) for g in c.groups()], warnings=c.warnings,
        sentences=sentence_rows(c.sentences()), about=about(c), topology=inline_network(scenario, "topology"),
        live=Charts(live), queues=[x.name for x in live],
        repeat=_rerun(c), named=measure_table(c) if c.metrics else None, word="command" if c.command.startswith("fairlane ") else "call",
        exact=lambda group: numbers.filter(numbers["group"] == group),
        saved={name: svg_link(theme.svg(picture(c, name)), name) for name in (*still, *(["queue"] if live else []))},
        differences=table(found[:MOST_ROWS]), cut=max(0, len(found) - MOST_ROWS),
    )  # fmt: skip


def _rerun(c: ComparisonData) -> Rerun:
    """Returns the command or call that reproduces the comparison, with the scenario of the first setting."""
    scenario = toml.dumps(c.settings[0].result.description)
    prints = [(f"fingerprint of {q.label}, seed {q.result.seeds[0]}", q.result.fingerprints[0]) for q in c.settings[:8]]
    short = scenario if len(scenario) <= MOST_SCENARIO else ""
    return Rerun(command=c.command, scenario=short, facts=[("seeds", seed_range(c.seeds)), *prints], code=code_warning(_plugins(c.command)))


def _plugins(command: str) -> list[str]:
    """Returns the plug-ins of a command line."""
    words = shlex.split(command) if command.startswith("fairlane ") else []
    return [file for option, file in pairwise(words) if option == "--plugin"]
