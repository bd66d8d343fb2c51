"""One page, and one table on a terminal, over the reproductions of all papers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..base.format import duration
from ..look import templates
from ..look.notebook import card, muted
from ..look.sheet import Sheet, Words
from .answer import answer
from .answer import tally as in_words
from .page import percent, tally
from .verdicts import WORDS, badge, elsewhere_text, here_text, label

if TYPE_CHECKING:
    from rich.console import Console

    from .all_papers import Reproductions


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
        answer=in_words(claims, several=True), answers={o.key: answer(o.claims) for o in r}, tally=tally(r.counts), words=WORDS,
        label=label, here=here_text, elsewhere=elsewhere_text,
        pages={o.key: os.path.relpath(o.page, r.folder).replace(os.sep, "/") for o in r},
        studies=(["study", *here, *COLUMNS, "runs"], studies),
        claims=(["study", "claim", "verdict", "in the paper's setup", "in other plausible setups", "in the published tables", "statement"],
                [[o.key, c["id"], label(c), here_text(c), elsewhere_text(c), c["published"], c["statement"]] for o in r for c in o.claims]),
        crossed={
            published: {v: sum(c["published"] == published and c["verdict"] == v for c in claims) for v in here}
            for published in ("holds", "fails", "no-data")
        },
    )  # fmt: skip


def show(r: Reproductions, console: Console) -> None:
    """Prints the result of all papers, one line and the result of each, and where the page is."""
    claims = [c for o in r for c in o.claims]
    console.print(Words(in_words(claims, several=True), "bold"))
    console.print(sheet(r))
    for o in r:
        console.print(Words(f"\n{o.key}  {answer(o.claims)}", indent=len(o.key) + 2))
    if r.quick:
        console.print(
            Words("\nThe papers' setups were run with few replications; the shares of other plausible setups are those on record.")
        )
    console.print(f"Page: {r.page}", soft_wrap=True, markup=False)


def sheet(r: Reproductions) -> Sheet:
    """one row per study."""
    here = list(r.counts)
    heads = ["study", *(WORDS[v].name for v in here), "values that agree", "median deviation", "runs", "time"]
    rows = []
    for o in r:
        near = f"{o.score.every.near} of {o.score.every.compared}"
        each = [str(o.counts.get(v, 0)) for v in here]
        rows.append([o.key, *each, near, percent(o.score.every.median), str(o.document["runs"]), duration(o.seconds)])
    return Sheet(heads, rows, styles={i: WORDS[v].style for i, v in enumerate(here, 1)}, header="dim")


def reproductions_html(r: Reproductions) -> str:
    """one row per study, and where the page is."""
    claims = [c for o in r for c in o.claims]
    return card("Published studies, reproduced", in_words(claims, several=True), sheet(r), muted(f"Page: {r.page}"))
