"""The page of a comparison: one HTML file without any link to the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..look import theme
from ..look.templates import drawing, render, svg_link

if TYPE_CHECKING:
    from .differences import Difference
    from .result import Comparison

from .differences import about, table
from .plots import CAPTIONS, PICTURES, panels, picture
from .tables import group_table, link_table, what

MOST_NODES = 2000
"""Networks up to this size are drawn."""
MOST_ROWS = 200
"""Differences that the page lists; the others are in the document."""


def page(c: Comparison) -> str:
    """The page as text."""
    from .. import _core

    drawn = {what: [drawing(p, f"{what}-{i}", f"{what}: {CAPTIONS[what]}") for i, p in enumerate(panels(c, what))] for what in PICTURES}
    scenario = c.settings[0].result.scenario
    numbers = c.table()
    found: list[Difference] = c._differences
    return render(
        "comparison/page.html.j2", title=scenario.get("name") or f"{what(c)} compared", link=c.link, what=what(c),
        scenario=scenario, runs=len(c.seeds), factors=[f for f in c.factors if len(f.levels) > 1],
        names=[q.label for q in c.settings], drawn=drawn, captions=CAPTIONS, table=link_table(c), version=_core.version(),
        groups=[(g, c.settings[0].flows(g)["flow"].n_unique(), group_table(c, g)) for g in c.groups()], warnings=c.warnings,
        seeds=_seeds(c.seeds), command=c.command, sentences=c.sentences(), about=about(c), topology=_topology(scenario),
        exact=lambda group: numbers.filter(numbers["group"] == group),
        saved={name: svg_link(theme.svg(picture(c, name)), name) for name in PICTURES},
        differences=table(found[:MOST_ROWS]), cut=max(0, len(found) - MOST_ROWS),
    )  # fmt: skip


def _topology(scenario: dict[str, Any]) -> Any:
    """The network of the first setting, if it is small enough to be drawn."""
    from ..look.drawings import Topology

    if len(scenario["expanded"]["nodes"]) > MOST_NODES:
        return None
    tree = {k: v for k, v in scenario.items() if k not in ("expanded", "warnings")}
    return drawing(Topology(tree), "topology", "The network of the first setting")


def _seeds(seeds: Sequence[int]) -> str:
    whole = len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds)))
    return f"{seeds[0]} to {seeds[-1]}" if whole else ", ".join(map(str, seeds))
