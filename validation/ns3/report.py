"""The table as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from validation.sides.judge import Row
from validation.sides.table import MARKS, difference


def markdown(rows: Iterable[Row]) -> str:
    """One row a case: ns-3 / fairlane (difference) of each judged measure; bold where it differs."""
    cases: dict[str, list[Row]] = {}
    for row in rows:
        if row.measure.judged:
            cases.setdefault(row.case, []).append(row)
    out = []
    for case, found in cases.items():
        if not out:
            names = [row.measure.name for row in found[:-1]] + ["worst flow"]
            out = ["| case | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
        out.append(f"| {case} | " + " | ".join(_cell(row) for row in found) + " |")
    return "\n".join(out)


def _cell(row: Row) -> str:
    name = row.measure.name
    text = (f"{name[5:]}: " if name.startswith("flow.") else "") + f"{row.peer.mean:.4g} / {row.ours.mean:.4g} ({difference(row)})"
    return f"**{text}**" if row.failed else text + MARKS.get(row.verdict, "")
