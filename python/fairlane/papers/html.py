"""A reproduction in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..look.notebook import card, muted, notices
from ..look.sheet import Sheet
from .outcome import results_of
from .score import scores
from .terminal import score_told, sheets
from .verdicts import WORDS, counts, name, share_of, told

if TYPE_CHECKING:
    from .outcome import ReproductionOutcome


def reproduction_html(r: ReproductionOutcome) -> str:
    """Returns the findings, the verdicts on the claims, the published tables with ours, and the path of the page."""
    rows = [[j.claim.id, f"{WORDS[j.verdict].sign} {name(j.verdict)}", share_of(j), j.claim.statement] for j in r.claims]
    claims = Sheet(["claim", "verdict", "share", ""], rows, title="Claims", words=(1, 3))
    n = told(counts(j.verdict for j in r.claims))
    how = muted(f"{r.paper.key}, {len(r.seeds)} replications: {n}. {r.runs} runs, {r.reused} of them from an earlier call.")
    lead = r.findings[0] if r.findings else ""
    near = score_told(scores(results_of(r)))
    return card(r.paper.words["title"], lead, how, near, claims, *sheets(r), notices(r.warnings), muted(f"Page: {r.page}"))
