"""The table: the kernel beside the simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .cases import Case
from .measures import MEASURES, Found


@dataclass(frozen=True)
class Row:
    """One case: several runs of the kernel, several seeds of the simulation, by their means."""

    case: Case
    kernel: list[Found]
    ours: list[Found]

    def pair(self, name: str) -> tuple[float, float]:
        """Means of a measure: kernel, ours."""
        return _mean(self.kernel, name), _mean(self.ours, name)

    def off(self, name: str) -> float:
        """Relative difference."""
        kernel, ours = self.pair(name)
        return (ours - kernel) / kernel if kernel else 0.0

    @property
    def failed(self) -> list[str]:
        """Names of the judged measures that differ by more than their bounds."""
        return [m.name for m in MEASURES if m.bound is not None and abs(self.off(m.name)) > m.bound * self._allowance(m.name)]

    def _allowance(self, name: str) -> float:
        return 2.0 if name in self.case.explained else 1.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        values = {m.name: dict(zip(("kernel", "ours"), self.pair(m.name), strict=True)) for m in MEASURES}
        return {"case": self.case.name, "failed": self.failed, **values}


def _mean(found: list[Found], name: str) -> float:
    return sum(getattr(f, name) for f in found) / len(found)


def head() -> str:
    """The first line."""
    return f"{'case':<14}" + "".join(f"{m.name + ' ' + m.unit:>27}" for m in MEASURES) + "   kernel / ours"


def line(row: Row) -> str:
    """A line of the table."""
    cells = []
    for m in MEASURES:
        kernel, ours = row.pair(m.name)
        mark = "!" if m.name in row.failed else " "
        cells.append(f"{kernel:9.4g} / {ours:7.4g} {100 * row.off(m.name):+5.1f}%{mark}")
    return f"{row.case.name:<14}" + "".join(f"{c:>27}" for c in cells)


def markdown(rows: list[Row]) -> str:
    """The table as Markdown."""
    lines = ["| case | " + " | ".join(f"{m.name}, {m.unit}" for m in MEASURES) + " |", "|---" * (len(MEASURES) + 1) + "|"]
    for row in rows:
        cells = []
        for m in MEASURES:
            kernel, ours = row.pair(m.name)
            bold = "**" if m.name in row.failed else ""
            cells.append(f"{bold}{kernel:.4g} / {ours:.4g} ({100 * row.off(m.name):+.1f} %){bold}")
        lines.append(f"| {row.case.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
