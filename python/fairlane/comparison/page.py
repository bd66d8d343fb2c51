"""The page of a comparison: one HTML file without any link to the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..look.templates import drawing, render

if TYPE_CHECKING:
    from .result import Comparison

from .plots import CAPTIONS, PICTURES, panels
from .tables import group_table, link_table


def page(c: Comparison) -> str:
    """The page as text."""
    from .. import _core

    drawn = {what: [drawing(p, f"{what}-{i}", f"{what}: {CAPTIONS[what]}") for i, p in enumerate(panels(c, what))] for what in PICTURES}
    scenario = c.queues[0].result.scenario
    return render(
        "comparison/page.html.j2", title=scenario.get("name") or "Queues compared", link=c.link,
        scenario=scenario, runs=len(c.seeds),
        names=[q.label for q in c.queues], drawn=drawn, captions=CAPTIONS, table=link_table(c), version=_core.version(),
        groups=[(g, c.queues[0].flows(g)["flow"].n_unique(), group_table(c, g)) for g in c.groups()], warnings=c.warnings,
        seeds=_seeds(c.seeds),
    )  # fmt: skip


def _seeds(seeds: Sequence[int]) -> str:
    whole = len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds)))
    return f"{seeds[0]} to {seeds[-1]}" if whole else ", ".join(map(str, seeds))
