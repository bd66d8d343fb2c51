"""One page, and one table on a terminal, over the reproductions of all papers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..base.format import duration
from ..look import templates
from ..look.sheet import Sheet, Words
from .terminal import STYLES, so_far

if TYPE_CHECKING:
    from rich.console import Console

    from .together import Outline, Reproductions


def render(r: Reproductions) -> str:
    """The page as text."""
    from .. import _core
    from .tables import NEAR

    claims = [c for o in r for c in o.claims]
    studies = [[o.key, *o.counts.values(), o.near, o.compared, o.apart, o.document["runs"]] for o in r]
    return templates.render(
        "papers/overview.html.j2", {"percent": _percent}, r=r, near=_percent(NEAR), version=_core.version(),
        so_far=so_far(c["so_far"] for c in claims), here={o.key: os.path.relpath(o.page, r.folder).replace(os.sep, "/") for o in r},
        studies=(["study", *STYLES, "values near", "values compared", "median difference", "runs"], studies),
        claims=(["study", "claim", "verdict", "in the printed tables", "statement"],
                [[o.key, c["id"], c["verdict"], c["published_verdict"], c["statement"]] for o in r for c in o.claims]),
        crossed={
            printed: {v: sum(c["published_verdict"] == printed and c["verdict"] == v for c in claims) for v in STYLES}
            for printed in ("holds", "fails", "no-data")
        },
    )  # fmt: skip


def _percent(x: float | None) -> str:
    return "" if x is None else f"{100 * x:.0f} %" if x >= 0.0995 or x == 0 else f"{100 * x:.1f} %"


def show(r: Reproductions, console: Console) -> None:
    """Prints one line a paper, the claims that do not hold, and where the page is."""
    console.print(sheet(r))
    for o in r:
        told = {f"{v} so far" if r.quick else v: _ids(o, v) for v in ("fails", "undecided")}
        console.print(Words(f"\n{o.key}  " + "; ".join(f"{v}: {ids}" for v, ids in told.items() if ids), "bold"))
        for f in o.findings[:3]:
            console.print(Words(f"  {f}", indent=2))
    told_all = ", ".join(f"{n} {v}" for v, n in r.counts.items())
    if r.quick:
        told_all += f" (no verdicts in a quick look: so far {so_far(c['so_far'] for o in r for c in o.claims)})"
    console.print(Words(f"\n{told_all}.  The reasons are on the pages."))
    console.print(f"Page: {r.page}", soft_wrap=True, markup=False)


def sheet(r: Reproductions) -> Sheet:
    """One row a study."""
    heads = ["study", *STYLES, "values near", "median difference", "runs", "time"]
    rows = [
        [o.key, *map(str, o.counts.values()), f"{o.near} of {o.compared}", _percent(o.apart), str(o.document["runs"]), duration(o.seconds)]
        for o in r
    ]
    return Sheet(heads, rows, styles=dict(enumerate(STYLES.values(), 1)), header="dim")


def _ids(o: Outline, verdict: str) -> str:
    return ", ".join(c["id"] for c in o.claims if (c["so_far"] or c["verdict"]) == verdict)
