"""What a study shows of itself in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..look.notebook import card, drawings, muted, notices
from . import claim_views, plots
from .terminal import head, reasons, sheet

if TYPE_CHECKING:
    from .result import StudyResult


def study_html(result: StudyResult) -> str:
    """Head line, the first picture, the means, failures, warnings."""
    parts: list[object] = []
    if result._done.height:
        first = next(iter(plots.specs(result)), None)
        if first is not None:
            parts.append(drawings(plots.panels(result, first), first.name))
        for claim in result.claims:
            parts += [f"{claim.id}: {claim.statement}", muted(claim_views.verdict_text(claim))]
            parts.append(drawings(claim_views.panels(result, claim).values(), f"claim-{claim.id}"))
        parts.append(sheet(result) if result.spec.worlds is None else claim_views.matters_sheet(result))
    failed = [
        f"{len(where)} x {kind + ': ' if kind else ''}{error.splitlines()[0] if error else ''}" for kind, error, where in reasons(result)
    ]
    hint = "Pictures: .plots(), .plot(metric, factor); tables: .summary(), .cells(), .best(metric); what matters: .anova(metric)."
    return card(head(result), *parts, notices(failed), notices(result.warnings), muted(hint))
