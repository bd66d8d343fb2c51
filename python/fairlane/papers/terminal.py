"""A reproduction on a terminal: side-by-side tables and verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..look.sheet import Sheet, Words
from .numbers import difference, pm, printed, value

if TYPE_CHECKING:
    from rich.console import Console

    from .definition import Built, Experiment
    from .reproduction import Reproduction

STYLES = {"holds": "green", "fails": "red", "undecided": "yellow"}
"""Colours of verdicts on a terminal, in the order in which they are counted."""


def so_far(leanings: Iterable[str | None]) -> str:
    """How claims look without all of their runs.

    >>> so_far(["holds", None, "fails", "holds"])
    '2 hold, 1 fails'
    """
    told = list(leanings)
    words = (("holds", "holds", "hold"), ("fails", "fails", "fail"), ("undecided", "is open", "are open"))
    counts = [(told.count(v), one, many) for v, one, many in words]
    return ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts if n) or "nothing is to be seen"


def show(r: Reproduction, console: Console) -> None:
    """Prints the tables that the paper prints, the verdict on each claim, and where the page is."""
    console.print(Words(f"\n{r.paper.words['title']}  ({r.paper.key}, {len(r.seeds)} replications)", "bold"))
    for e, b in r.experiments:
        if not b.show_table or not b.comparison.rows:
            continue
        console.print()
        console.print(side_by_side(e, b))
    console.print()
    console.print(Words("Claims", "bold"))
    for j in r.claims:
        word = f"{j.so_far} so far" if j.so_far in ("holds", "fails") else j.verdict
        told = f"{j.claim.id:<5}{word:<14}"
        console.print(Words(told + j.claim.statement, STYLES[j.verdict], len(told)))
        if j.leaning != "holds" and j.cause:
            console.print(Words(" " * len(told) + j.cause, "dim", len(told)))
    counts = ", ".join(f"{sum(j.verdict == v for j in r.claims)} {v}" for v in STYLES)
    console.print(Words(f"\n{counts}.  {r.runs} runs ({r.reused} kept from before) in {r.seconds:.1f} s."))
    if r.missing:
        console.print(Words(f"No verdict with {r.missing}: so far {so_far(j.so_far for j in r.claims)}."))
    if any(row.impossible for _, b in r.experiments for row in b.comparison.rows):
        console.print(Words("[n]: the printed value contradicts another one, see the list on the page.", "dim"))
    console.print(f"Page: {r.page}", soft_wrap=True, markup=False)


def side_by_side(e: Experiment, b: Built) -> Sheet:
    """What the paper prints beside what we find."""
    rows = b.comparison.rows
    rho = b.comparison.rank_correlations()
    peer = any(row.peer is not None for row in rows)
    metrics = len({row.metric for row in rows}) > 1
    names = list(dict.fromkeys(k for row in rows for k, _ in row.factors))
    heads = [*names, *(["what"] if metrics else []), "published", "fairlane", *([b.peer_name] if peer else []), "difference", "unit"]
    body = []
    for row in rows:
        labels = [dict(row.factors).get(n, "") for n in names] + ([row.metric] if metrics else [])
        mark = f" [{row.impossible}]" if row.impossible else ""
        numbers = [printed(row) + mark, pm(row), *([value(row.peer)] if peer else []), difference(row)]
        body.append([*labels, *numbers, row.unit])
    told = ", ".join(f"{m} {x:.3f}" if len(rho) > 1 else f"{x:.3f}" for m, x in rho.items())
    note = f"  rank correlation of published and ours: {told}" if rho else ""
    return Sheet(
        heads, body, title=f"{e.id}: {e.title}", note=note, labels=len(names) + metrics, styles={len(heads) - 1: "dim"}, header="dim"
    )
