"""One page, and one table on a terminal, over the reproductions of all papers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..base.format import duration
from ..look import templates
from ..look.notebook import card, muted
from ..look.sheet import Sheet, Words
from .page import percent, tally
from .verdicts import WORDS, badge, name, so_far, told

if TYPE_CHECKING:
    from rich.console import Console

    from .all_papers import Outline, Reproductions


def render(r: Reproductions) -> str:
    """The page as text."""
    from .. import _core
    from .score import COLUMNS
    from .tables import NEAR

    claims = [c for o in r for c in o.claims]
    here = list(r.counts)
    studies = [[o.key, *(o.counts.get(v, 0) for v in here), *o.score.columns, o.document["runs"]] for o in r]
    return templates.render(
        "papers/overview.html.j2", {"percent": percent, "badge": badge}, r=r, near=percent(NEAR), version=_core.version(),
        so_far=so_far(c["so_far"] for c in claims), tally=tally(r.counts), words=WORDS,
        pages={o.key: os.path.relpath(o.page, r.folder).replace(os.sep, "/") for o in r},
        studies=(["study", *here, *COLUMNS, "runs"], studies),
        claims=(["study", "claim", "verdict", "in the published tables", "statement"],
                [[o.key, c["id"], c["verdict"], c["published_verdict"], c["statement"]] for o in r for c in o.claims]),
        crossed={
            published: {v: sum(c["published_verdict"] == published and c["verdict"] == v for c in claims) for v in here}
            for published in ("holds", "fails", "no-data")
        },
    )  # fmt: skip


def show(r: Reproductions, console: Console) -> None:
    """Prints one line per paper, the claims that do not hold, and where the page is."""
    console.print(sheet(r))
    for o in r:
        listed = {f"{name(v)} so far" if r.quick else name(v): _ids(o, v) for v in WORDS if v != "holds"}
        console.print(Words(f"\n{o.key}  " + "; ".join(f"{v}: {ids}" for v, ids in listed.items() if ids), "bold"))
        for f in o.findings[:3]:
            console.print(Words(f"  {f}", indent=2))
    every = told(r.counts)
    if r.quick:
        every += f" (quick run, preliminary: so far {so_far(c['so_far'] for o in r for c in o.claims)})"
    console.print(Words(f"\n{every}.  The pages give the reasons."))
    console.print(f"Page: {r.page}", soft_wrap=True, markup=False)


def sheet(r: Reproductions) -> Sheet:
    """one row per study."""
    here = list(r.counts)
    heads = ["study", *here, "values that agree", "median deviation", "runs", "time"]
    rows = []
    for o in r:
        near = f"{o.score.every.near} of {o.score.every.compared}"
        each = [str(o.counts.get(v, 0)) for v in here]
        rows.append([o.key, *each, near, percent(o.score.every.median), str(o.document["runs"]), duration(o.seconds)])
    return Sheet(heads, rows, styles={i: WORDS[v].style for i, v in enumerate(here, 1)}, header="dim")


def _ids(o: Outline, verdict: str) -> str:
    return ", ".join(c["id"] for c in o.claims if (c["so_far"] or c["verdict"]) == verdict)


def reproductions_html(r: Reproductions) -> str:
    """one row per study, and where the page is."""
    return card("Published studies, reproduced", sheet(r), muted(f"Page: {r.page}"))
