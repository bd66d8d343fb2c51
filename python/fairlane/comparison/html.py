"""HTML of a comparison in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..look.notebook import card, drawings, muted, notices
from .plots import CAPTIONS, panels
from .terminal import head, sheets

if TYPE_CHECKING:
    from .data import ComparisonData


def comparison_html(c: ComparisonData) -> str:
    """Returns head line, differences, the plot of delay and throughput, tables and warnings."""
    drawn = drawings(panels(c, "ellipses"), CAPTIONS["ellipses"])
    hint = muted('Plots: .plot("ellipses"), .plot("queue"), .plot("jain"); all numbers: .table(); HTML report: .page().')
    return card(head(c), *c.sentences(), drawn, muted(CAPTIONS["ellipses"]), *sheets(c), notices(c.warnings), hint)
