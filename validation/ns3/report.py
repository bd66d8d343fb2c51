"""The table as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from .compare import Row

_WIDTHS = (24, 12, 9, 22, 22, 11, 10)


def head() -> str:
    """The two lines above the table."""
    words = ("case", "metric", "unit", "ns-3 (95 % interval)", "fairlane (95 %)", "difference", "bound", "verdict")
    return " ".join(f"{w:<{n}}" for w, n in zip(words, (*_WIDTHS, 0), strict=True)) + "\n" + "-" * 124


def difference(row: Row) -> str:
    """Relative where the bound is, else in the unit."""
    if row.peer.mean and row.measure.relative is not None:
        return f"{100 * row.difference / row.peer.mean:+.1f} %"
    return f"{row.difference:+.3g}"


def line(row: Row) -> str:
    """One line of the table."""
    bound = f"{row.measure.bound(row.peer.mean or 0.0):.4g}" if row.measure.judged else ""
    words = (row.case, row.measure.name, row.measure.unit, f"{row.peer:.4g}", f"{row.ours:.4g}", difference(row), bound, row.verdict)
    return " ".join(f"{w:<{n}}" for w, n in zip(words, (*_WIDTHS, 0), strict=True))


def summary(rows: list[Row]) -> str:
    """The line below the table."""
    judged = sum(row.measure.judged for row in rows)
    failed = sum(row.failed for row in rows)
    explained = sum(row.verdict == "explained" for row in rows)
    return (
        f"{judged - failed - explained} of {judged} judged values within bounds or intervals, {explained} differ as explained in "
        f"docs/validation/ns3.md, {failed} differ; {len({row.case for row in rows})} cases"
    )


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
    marks = {"ok (interval)": " i", "ok (spread)": " s", "explained": " e"}
    return f"**{text}**" if row.failed else text + marks.get(row.verdict, "")
