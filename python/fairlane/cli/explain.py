"""How `fairlane explain` looks on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..base.reference import Entry


def show(entry: Entry) -> list[Any]:
    """The parts to print for one entry."""
    from rich.table import Table
    from rich.text import Text

    parts: list[Any] = [Text(f"{entry.title} ({entry.kind})", style="bold"), Text(entry.doc.strip())]
    if entry.facts:
        facts = Table(box=None, pad_edge=False, show_header=False)
        facts.add_column(no_wrap=True)
        facts.add_column()
        for name, value in entry.facts.items():
            facts.add_row(Text(f"  {name}"), Text(value))
        parts.append(facts)
    if entry.parameters:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in ("parameter", "type", "default", "range", "meaning and source"):
            table.add_column(name, no_wrap=name in ("parameter", "default"), ratio=3 if name.startswith("meaning") else None)
        for p in entry.parameters:
            table.add_row(*(Text(x) for x in (p.name, p.kind, p.default, p.limits, p.doc)))
        parts.append(table)
    parts.append(Text(""))
    return parts
