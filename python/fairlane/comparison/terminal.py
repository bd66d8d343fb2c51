"""A comparison on a terminal."""

from __future__ import annotations

from typing import Any

from .result import Comparison
from .tables import group_table, link_table


def report(c: Comparison) -> list[Any]:
    """What to print: the link, then each group of flows, then warnings."""
    from rich.table import Table
    from rich.text import Text

    def table(title: str, heads: list[str], rows: list[list[str]]) -> Table:
        out = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="bold")
        for i, head in enumerate(heads):
            out.add_column(head, justify="right" if i else "left", no_wrap=not i)
        for row in rows:
            out.add_row(*(Text(x) for x in row))
        return out

    scenario = c.queues[0].result.scenario
    runs = f"{len(c.seeds)} runs each, means with 95 % intervals" if len(c.seeds) > 1 else f"seed {c.seeds[0]}"
    parts: list[Any] = [Text(f"{scenario.get('name') or 'comparison'}: {scenario['duration']}, {runs}"), Text("")]
    parts += [table(f"link {c.link}, all flows", *link_table(c)), Text("")]
    for group in c.groups():
        count = c.queues[0].flows(group)["flow"].n_unique()
        title = f"{group}: {count} flows, sum of the goodputs, mean of the rest" if count > 1 else group
        parts += [table(title, *group_table(c, group)), Text("")]
    parts += [Text(f"warning: {w}") for w in c.warnings]
    return parts
