"""The table as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from .compare import Row

_WIDTHS = (34, 12, 9, 22, 22, 11, 10)


def head() -> str:
    """The two lines above the table."""
    words = ("case", "metric", "unit", "ns-2 (95 % interval)", "fairlane (95 %)", "difference", "bound", "verdict")
    return " ".join(f"{w:<{n}}" for w, n in zip(words, (*_WIDTHS, 0), strict=True)) + "\n" + "-" * 132


def difference(row: Row) -> str:
    """Relative where the bound is, else in the unit."""
    if row.peer.mean and row.measure.relative is not None:
        return f"{100 * row.difference / row.peer.mean:+.2f} %"
    # A difference in the last digits shown says no more than that there is none.
    return f"{row.difference:+.2g}" if abs(row.difference) >= 5e-5 else "+0"


def line(row: Row) -> str:
    """One line of the table."""
    bound = f"{row.measure.bound(row.peer.mean or 0.0):.4g}" if row.measure.judged else ""
    words = (row.case, row.measure.name, row.measure.unit, f"{row.peer:.5g}", f"{row.ours:.5g}", difference(row), bound, row.verdict)
    return " ".join(f"{w:<{n}}" for w, n in zip(words, (*_WIDTHS, 0), strict=True))


def summary(rows: list[Row]) -> str:
    """The line below the table."""
    judged = sum(row.measure.judged for row in rows)
    failed = sum(row.failed for row in rows)
    explained = sum(row.verdict == "explained" for row in rows)
    return (
        f"{judged - failed - explained} of {judged} judged values within bounds or intervals, {explained} differ as explained in "
        f"docs/validation/ns2.md, {failed} differ; {len({row.case for row in rows})} cases"
    )


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
    return {"DIFFERS": f"**{text}**", "ok": text}.get(
        row.verdict, text + {"ok (interval)": " i", "ok (spread)": " s", "explained": " e"}.get(row.verdict, "")
    )
