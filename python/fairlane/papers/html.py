"""What reproductions show of themselves in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..look.notebook import card, muted, notices
from ..look.sheet import Sheet
from .overview import sheet
from .terminal import STYLES, side_by_side

if TYPE_CHECKING:
    from .reproduction import Reproduction
    from .together import Reproductions


def reproduction_html(r: Reproduction) -> str:
    """Verdicts on the claims, the tables side by side, where the page is."""
    counts = ", ".join(f"{sum(j.verdict == v for j in r.claims)} {v}" for v in STYLES)
    claims = Sheet(["claim", "", ""], [[j.claim.id, j.verdict, j.claim.statement] for j in r.claims], title="Claims", words=(1, 2))
    tables = [side_by_side(e, b) for e, b in r.experiments if b.show_table and b.comparison.rows]
    told = muted(f"{r.paper.key}, {len(r.seeds)} replications: {counts}. {r.runs} runs, {r.reused} of them kept from before.")
    return card(r.paper.words["title"], told, claims, *tables, notices(r.warnings), muted(f"Page: {r.page}"))


def reproductions_html(r: Reproductions) -> str:
    """One row a study, and where the page is."""
    return card("Published studies, run again", sheet(r), muted(f"Page: {r.page}"))
