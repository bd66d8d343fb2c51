"""HTML of a report in a notebook."""

from __future__ import annotations

from collections.abc import Sequence

from ..look.notebook import card, muted, notices
from ..look.sheet import Sheet
from .differences import SourceComparison


def report_html(comparison: SourceComparison, sentences: Sequence[str], warnings: Sequence[str]) -> str:
    """Returns sentences, differences and warnings; for a single result its own HTML."""
    sources = comparison.sources
    if len(sources) == 1:
        return sources[0].result._repr_html_()
    rows = [[r["of"], r["this"], r["value"], r["base"], r["text"], r["span"], r["words"]] for r in comparison.rows()[:40]]
    table = Sheet(["measure", "result", "value", "baseline", "difference", "95 % interval", "conclusion"], rows, labels=2, words=(6,))
    title = f"{sources[0].label} and {', '.join(s.label for s in sources[1:])}"
    return card(title, *sentences, table, notices(warnings), muted("HTML report: .save(path); all numbers: .document()."))
