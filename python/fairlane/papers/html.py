"""A reproduction in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..look.notebook import card, muted, notices
from ..look.sheet import Sheet
from .outcome import results_of
from .score import scores
from .terminal import score_sentence, sheets
from .verdicts import WORDS, elsewhere_text, here_text, label

if TYPE_CHECKING:
    from .outcome import ReproductionOutcome


def reproduction_html(r: ReproductionOutcome) -> str:
    """Returns the findings, the verdicts on the claims, the published tables with ours, and the path of the page."""
    rows = []
    for j in r.claims:
        entry = j.to_json()
        rows.append([j.claim.id, f"{WORDS[j.verdict].sign} {label(entry)}", here_text(entry), elsewhere_text(entry), j.claim.statement])
    heads = ["claim", "verdict", "in the paper's setup", "in other plausible setups", ""]
    claims = Sheet(heads, rows, title="Claims", words=(1, 3, 4))
    how = muted(f"{r.paper.key}, {len(r.seeds)} replications. {r.runs} runs, {r.reused} of them from an earlier call.")
    lead = r.answer
    near = score_sentence(scores(results_of(r)))
    return card(r.paper.words["title"], lead, how, near, claims, *sheets(r), notices(r.warnings), muted(f"Page: {r.page}"))
