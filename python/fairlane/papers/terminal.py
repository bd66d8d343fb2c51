"""A reproduction on a terminal: side-by-side tables and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .numbers import difference, pm, printed, value

if TYPE_CHECKING:
    from rich.console import Console

    from .reproduction import Reproduction

STYLES = {"holds": "green", "fails": "red", "undecided": "yellow"}
"""Colours of verdicts on a terminal, in the order in which they are counted."""


def show(r: Reproduction, console: Console) -> None:
    """Prints the tables that the paper prints, the verdict on each claim, and where the page is."""
    from rich.table import Table
    from rich.text import Text

    console.print(f"\n[bold]{r.paper.words['title']}[/bold]  ({r.paper.key}, {len(r.seeds)} replications)")
    for e, b in r.experiments:
        if not b.show_table or not b.comparison.rows:
            continue
        rho = b.comparison.rank_correlations()
        peer = any(row.peer is not None for row in b.comparison.rows)
        table = Table(title=f"{e.id}: {e.title}", title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
        names = list(dict.fromkeys(k for row in b.comparison.rows for k, _ in row.factors))
        metrics = len({row.metric for row in b.comparison.rows}) > 1
        for n in names:
            table.add_column(n)
        if metrics:
            table.add_column("what")
        for n in ("published", "fairlane", *([b.peer_name] if peer else []), "difference"):
            table.add_column(n, justify="right")
        table.add_column("unit", style="dim")
        for row in b.comparison.rows:
            cells = [dict(row.factors).get(n, "") for n in names] + ([row.metric] if metrics else [])
            mark = f" [{row.impossible}]" if row.impossible else ""
            numbers = [Text(printed(row) + mark), Text(pm(row))] + ([Text(value(row.peer))] if peer else []) + [Text(difference(row))]
            table.add_row(*cells, *numbers, row.unit)
        console.print()
        console.print(table)
        if rho:
            told = ", ".join(f"{m} {x:.3f}" if len(rho) > 1 else f"{x:.3f}" for m, x in rho.items())
            console.print(f"  rank correlation of published and ours: {told}", style="dim")
    console.print()
    marks = Table(title="Claims", title_justify="left", title_style="bold", box=None, pad_edge=False, show_header=False)
    for width in (5, 10):
        marks.add_column(min_width=width, no_wrap=True)
    marks.add_column(ratio=1)
    for j in r.claims:
        why = j.cause if j.verdict != "holds" else ""
        text = Text(j.claim.statement)
        if why:
            text.append("  " + why, style="dim")
        marks.add_row(j.claim.id, Text(j.verdict, style=STYLES[j.verdict]), text)
    console.print(marks)
    counts = ", ".join(f"{sum(j.verdict == v for j in r.claims)} {v}" for v in STYLES)
    console.print(f"\n{counts}.  {r.runs} runs ({r.reused} kept from before) in {r.seconds:.1f} s.")
    if any(row.impossible for _, b in r.experiments for row in b.comparison.rows):
        console.print("\\[n]: the printed value contradicts another one, see the list on the page.", style="dim")
    console.print(f"Page: {r.page}", soft_wrap=True)
