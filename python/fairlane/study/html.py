"""A study in a notebook."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ..look.notebook import card, drawings, muted, notices
from ..look.sheet import Sheet
from . import claim_views, plots
from .labels import label
from .terminal import head, reasons, sheet

if TYPE_CHECKING:
    from .analysis import StudyAnalysis
    from .model import StudySpec

MOST_LEVELS = 12
"""Levels of a factor that are named."""


def study_html(result: StudyAnalysis) -> str:
    """Head line, the first picture, the means, failures, warnings."""
    parts: list[object] = []
    if result._done.height:
        first = next(iter(plots.specs(result)), None)
        if first is not None:
            parts.append(drawings(plots.panels(result, first), first.name))
        for claim in result.claims:
            parts += [f"{claim.id}: {claim.statement}", muted(claim_views.verdict_text(claim))]
            parts.append(drawings(claim_views.panels(result, claim).values(), f"claim-{claim.id}"))
        parts.append(sheet(result) if result.spec.settings is None else claim_views.matters_sheet(result))
    failed = [
        f"{len(where)} x {kind + ': ' if kind else ''}{error.splitlines()[0] if error else ''}" for kind, error, where in reasons(result)
    ]
    hint = "Figures: .plots(), .plot(metric, factor); tables: .summary(), .runs(), .best(metric); factor effects: .anova(metric)."
    return card(head(result), *parts, notices(failed), notices(result.warnings), muted(hint))


def planned_html(spec: StudySpec) -> str:
    """Returns the design of a study that has not run: factors with their levels, seeds, metrics."""
    rows = []
    for f in spec.factors:
        levels = [label(level.label, f.unit) for level in f.levels[:MOST_LEVELS]]
        rows.append([f.name, str(len(f.levels)), ", ".join([*levels, "..."] if len(f.levels) > MOST_LEVELS else levels)])
    count = prod(len(f.levels) for f in spec.factors)
    seeds = len(spec.seeds)
    summary = f"{count} combination{'s' * (count != 1)} on {seeds} seed{'s' * (seeds != 1)}: {count * seeds} runs."
    looked = "Metrics: " + ", ".join(m.label for m in spec.metrics) + "." if spec.metrics else ""
    table = Sheet(["factor", "levels", ""], rows, words=(2,)) if rows else None
    return card(
        spec.name,
        spec.description,
        table,
        summary,
        looked,
        muted("run() executes it; run(out=FOLDER) keeps its runs and resumes a study that was stopped."),
    )
