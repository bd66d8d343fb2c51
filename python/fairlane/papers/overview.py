"""One page, and one table on a terminal, over the reproductions of all papers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..base.format import duration
from ..look import templates
from .terminal import STYLES

if TYPE_CHECKING:
    from rich.console import Console

    from .together import Outline, Reproductions


def render(r: Reproductions) -> str:
    """The page as text."""
    from .. import _core
    from .tables import NEAR

    claims = [c for o in r for c in o.claims]
    return templates.render(
        "papers/overview.html.j2", {"percent": _percent}, r=r, near=_percent(NEAR), version=_core.version(),
        here={o.key: os.path.relpath(o.page, r.folder).replace(os.sep, "/") for o in r},
        crossed={
            printed: {v: sum(c["published_verdict"] == printed and c["verdict"] == v for c in claims) for v in STYLES}
            for printed in ("holds", "fails", "no-data")
        },
    )  # fmt: skip


def _percent(x: float | None) -> str:
    return "" if x is None else f"{100 * x:.0f} %" if x >= 0.0995 or x == 0 else f"{100 * x:.1f} %"


def show(r: Reproductions, console: Console) -> None:
    """Prints one line a paper, the claims that do not hold, and where the page is."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("study")
    for name in (*STYLES, "values near", "median difference", "runs", "time"):
        table.add_column(name, justify="right")
    for o in r:
        counts = [Text(str(n), style=STYLES[v] if n else "dim") for v, n in o.counts.items()]
        table.add_row(o.key, *counts, f"{o.near} of {o.compared}", _percent(o.apart), str(o.document["runs"]), duration(o.seconds))
    console.print(table)
    for o in r:
        told = {v: _ids(o, v) for v in ("fails", "undecided")}
        console.print(f"\n[bold]{o.key}[/bold]  " + "; ".join(f"{v}: {ids}" for v, ids in told.items() if ids), highlight=False)
        for f in o.findings[:3]:
            console.print(f"  {f}", highlight=False, markup=False)
    told_all = ", ".join(f"{n} {v}" for v, n in r.counts.items())
    console.print(f"\n{told_all}.  The reasons are on the pages.")
    console.print(f"Page: {r.page}", soft_wrap=True)


def _ids(o: Outline, verdict: str) -> str:
    return ", ".join(c["id"] for c in o.claims if c["verdict"] == verdict)
