"""What a comparison shows of itself in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..look.notebook import card, drawings, muted, notices
from .plots import CAPTIONS, panels
from .terminal import head, sheets

if TYPE_CHECKING:
    from .result import Comparison


def comparison_html(c: Comparison) -> str:
    """Head line, what differs, delay and throughput drawn, the tables, warnings."""
    drawn = drawings(panels(c, "ellipses"), CAPTIONS["ellipses"])
    hint = muted('Pictures: .plot("ellipses"), .plot("queue"), .plot("jain"); all numbers: .table(); one page: .page().')
    return card(head(c), *c.sentences(), drawn, muted(CAPTIONS["ellipses"]), *sheets(c), notices(c.warnings), hint)
