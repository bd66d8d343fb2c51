"""The table as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from validation.sides.judge import Row
from validation.sides.table import MARKS, difference


def markdown(rows: Iterable[Row]) -> str:
    """One row a case: ns-2 / fairlane (difference) of each judged measure; bold where it differs."""
    cases: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row.measure.judged:
            cases.setdefault(row.case, {})[row.measure.name] = row
    names: list[str] = []
    for found in cases.values():
        names += [name for name in found if name not in names]
    out = ["| case | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for case, found in cases.items():
        cells = [_cell(found[name]) if name in found else "" for name in names]
        out.append(f"| {case} | " + " | ".join(cells) + " |")
    return "\n".join(out)


def _cell(row: Row) -> str:
    peer, mine = row.peer.mean, row.ours.mean
    text = f"{'-' if peer is None else format(peer, '.5g')} / {'-' if mine is None else format(mine, '.5g')} ({difference(row)})"
    return f"**{text}**" if row.failed else text + MARKS.get(row.verdict, "")
