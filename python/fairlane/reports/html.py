"""What a report shows of itself in a notebook."""

from __future__ import annotations

from collections.abc import Sequence

from ..look.notebook import card, muted, notices
from ..look.sheet import Sheet
from .differences import SourceComparison


def report_html(told: SourceComparison, sentences: Sequence[str], warnings: Sequence[str]) -> str:
    """The sentences, the differences or what one result shows, warnings."""
    sides = told.sides
    if len(sides) == 1:
        return sides[0].result._repr_html_()
    rows = [[r["of"], r["this"], r["text"], r["span"], r["words"]] for r in told.rows()[:40]]
    table = Sheet(["of", "result", "difference", "95 % interval", "what may be said"], rows, labels=2, words=(4,))
    title = f"{sides[0].label} and {', '.join(s.label for s in sides[1:])}"
    return card(title, *sentences, table, notices(warnings), muted("One page: .save(path); all numbers: .document()."))
