"""The table as text."""

from __future__ import annotations

from .judge import Row, Simulator

_WIDTHS = (12, 9, 22, 22, 11, 10)
MARKS = {"ok (interval)": " i", "ok (spread)": " s", "explained": " e"}
"""Marks after Markdown cells that are not within their bound alone."""


def _laid(side: Simulator, words: tuple[str, ...]) -> str:
    return " ".join(f"{w:<{n}}" for w, n in zip(words, (side.width, *_WIDTHS, 0), strict=True))


def head(side: Simulator) -> str:
    """The two lines above the table."""
    words = ("case", "metric", "unit", f"{side.name} (95 % interval)", "fairlane (95 %)", "difference", "bound", "verdict")
    return _laid(side, words) + "\n" + "-" * (side.width + sum(_WIDTHS) + 12)


def difference(row: Row) -> str:
    """Relative where the bound is, else in the unit."""
    digits = row.side.digits - 3
    if row.peer.mean and row.measure.relative is not None:
        return f"{100 * row.difference / row.peer.mean:+.{digits}f} %"
    # A difference in the last digits shown says no more than that there is none.
    return f"{row.difference:+.{5 - digits}g}" if abs(row.difference) >= 5e-5 else "+0"


def line(row: Row) -> str:
    """One line of the table."""
    bound = f"{row.measure.bound(row.peer.mean or 0.0):.4g}" if row.measure.judged else ""
    digits = row.side.digits
    values = f"{row.peer:.{digits}g}", f"{row.ours:.{digits}g}"
    return _laid(row.side, (row.case, row.measure.name, row.measure.unit, *values, difference(row), bound, row.verdict))


def summary(side: Simulator, rows: list[Row]) -> str:
    """The line below the table."""
    judged = sum(row.measure.judged for row in rows)
    failed = sum(row.failed for row in rows)
    explained = sum(row.verdict == "explained" for row in rows)
    return (
        f"{judged - failed - explained} of {judged} judged values within bounds or intervals, {explained} differ as explained in "
        f"docs/validation/{side.key}.md, {failed} differ; {len({row.case for row in rows})} cases"
    )
