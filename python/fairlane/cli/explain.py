"""The output of `fairlane explain` on a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..look.sheet import Sheet, Words

if TYPE_CHECKING:
    from ..base.reference import Entry

_LINE = re.compile(r"(?<!\n)\n(?=\w|\()")
"""A line that ends within a paragraph."""


def show(entry: Entry) -> list[Any]:
    """Returns the parts to print for one entry."""
    parts: list[Any] = [Words(f"{entry.title} ({entry.kind})", "bold"), Words(_LINE.sub(" ", entry.doc.strip()))]
    if entry.facts:
        parts.append(Sheet(["", ""], [[f"  {name}", value] for name, value in entry.facts.items()], words=(1,)))
    if entry.parameters:
        heads = ["parameter", "type", "default", "range", "meaning and source"]
        parts.append(Sheet(heads, [[p.name, p.kind, p.default, p.limits, p.doc] for p in entry.parameters], words=(1, 2, 3, 4)))
    parts.append("")
    return parts
