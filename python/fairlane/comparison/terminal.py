"""A comparison on a terminal."""

from __future__ import annotations

from typing import Any

from ..base.printable import one_line
from ..look.sheet import Sheet, Words
from .differences import about
from .result import Comparison
from .tables import group_table, link_table


def head(c: Comparison) -> str:
    """What was compared, and how often it was run."""
    scenario = c.settings[0].result.scenario
    runs = f"{len(c.seeds)} runs each, means with 95 % intervals" if len(c.seeds) > 1 else f"seed {c.seeds[0]}"
    return f"{one_line(scenario.get('name') or 'comparison')}: {scenario['duration']}, {runs}"


def sheets(c: Comparison) -> list[Sheet]:
    """The link, then each group of flows."""
    out = [Sheet(*link_table(c), title=f"link {c.link}, all flows")]
    for group in c.groups():
        count = c.settings[0].flows(group)["flow"].n_unique()
        title = f"{group}: {count} flows, sum of the goodputs, mean of the rest" if count > 1 else group
        out.append(Sheet(*group_table(c, group), title=title))
    return out


def report(c: Comparison) -> list[Any]:
    """What to print: the link, then each group of flows, then warnings."""
    tables = [part for sheet in sheets(c) for part in (sheet, "")]
    parts: list[Any] = [Words(head(c)), "", *tables]
    if told := c.sentences():
        parts += [Words("what differs", "bold"), *(Words(x) for x in told)]
        parts += [*([Words(about(c), "dim")] if about(c) else []), ""]
    for q in c.settings:
        if all(q.result._why):
            parts += [Words(f"why, {q.label}", "bold"), *(Words(x) for x in q.result.why().sentences()), ""]
    return parts + [Words(f"warning: {w}") for w in c.warnings]
