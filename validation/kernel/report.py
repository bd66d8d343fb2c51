"""The table: the kernel and the simulation, and the verdict on each difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from fairlane.stats import welch

from .cases import Case
from .measures import Found


@dataclass(frozen=True)
class Measure:
    """A quantity of a run, and how far the means of the two sides may differ."""

    name: str
    unit: str
    relative: float = 0.0
    absolute: float = 0.0
    """the wider of the two counts"""
    judged: Callable[[Case], bool] = lambda _: True

    def bound(self, kernel: float) -> float:
        """Around the kernel's mean."""
        return max(self.relative * abs(kernel), self.absolute)


#: A value that is only shown.
SHOWN: Callable[[Case], bool] = lambda _: False  # noqa: E731

MEASURES = [
    Measure("goodput", "Mbit/s", relative=0.03),
    Measure("rtt", "ms", relative=0.05),
    Measure("retransmits", "segments", relative=0.15, absolute=5.0),
    Measure("exit", "segments", absolute=2.0, judged=lambda case: case.cc[0] == "cubic" and not case.chaotic),
    Measure("cwnd", "segments", judged=SHOWN),
    Measure("queue", "packets", judged=SHOWN),
]
#: Measure for each flow, if there are several.
SHARE = Measure("goodput", "Mbit/s", relative=0.03)


@dataclass(frozen=True)
class Compared:
    """One quantity on both sides."""

    measure: Measure
    name: str
    kernel: list[float]
    ours: list[float]
    case: Case

    @property
    def means(self) -> tuple[float, float]:
        """Kernel, ours."""
        return fmean(self.kernel), fmean(self.ours)

    @property
    def off(self) -> float:
        """Relative difference of the means."""
        kernel, ours = self.means
        return (ours - kernel) / kernel if kernel else 0.0

    @property
    def judged(self) -> bool:
        """True if the measure has a bound in this case."""
        return self.measure.judged(self.case)

    @property
    def failed(self) -> bool:
        """True if judged and out of bounds. Values that microseconds decide may also differ by the random variation of these runs."""
        kernel, ours = self.means
        if not self.judged or abs(ours - kernel) <= self.measure.bound(kernel):
            return False
        if not self.case.chaotic:
            return True
        return welch(self.ours, self.kernel).differs() is not False


@dataclass(frozen=True)
class Row:
    """One case: several runs of the kernel, several of the simulation."""

    case: Case
    kernel: list[Found]
    ours: list[Found]

    @property
    def compared(self) -> list[Compared]:
        """All quantities; with several flows the goodput of each, in the order of their starts."""

        def both(measure: Measure, name: str, value: Callable[[Found], float]) -> Compared:
            return Compared(measure, name, [value(f) for f in self.kernel], [value(f) for f in self.ours], self.case)

        rows = [both(m, m.name, lambda f, m=m: getattr(f, m.name)) for m in MEASURES]  # type: ignore[misc]
        if self.case.flows > 1:
            rows += [both(SHARE, f"flow {i + 1}", lambda f, i=i: f.flows[i]) for i in range(self.case.flows)]  # type: ignore[misc]
        return rows

    @property
    def failed(self) -> list[str]:
        """Names of the judged quantities that are outside."""
        return [c.name for c in self.compared if c.failed]

    @property
    def judged(self) -> int:
        """How many quantities are judged."""
        return sum(c.judged for c in self.compared)

    @property
    def late_us(self) -> float:
        """The largest 99th percentile of the relay's lateness."""
        return max(f.late_p99_us for f in self.kernel)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        values = {c.name: {"kernel": c.kernel, "ours": c.ours, "judged": c.judged, "failed": c.failed} for c in self.compared}
        return {"case": self.case.name, "failed": self.failed, "late_p99_us": self.late_us, **values}


def _shown(row: Row) -> list[Compared]:
    return [c for c in row.compared if c.name in {m.name for m in MEASURES}]


def head() -> str:
    """The first line."""
    return f"{'case':<30}" + "".join(f"{m.name + ' ' + m.unit:>27}" for m in MEASURES) + "  late p99   kernel / ours"


def line(row: Row) -> str:
    """A line of the table, and one more for the flows' shares."""
    cells = []
    for c in _shown(row):
        kernel, ours = c.means
        cells.append(f"{kernel:9.4g} / {ours:7.4g} {100 * c.off:+5.1f}%{'!' if c.failed else ' '}")
    text = f"{row.case.name:<30}" + "".join(f"{c:>27}" for c in cells) + f"{row.late_us:7.0f} us"
    shares = [c for c in row.compared if c.measure is SHARE]
    if shares:
        parts = ["{:.3f} / {:.3f}{}".format(*c.means, "!" if c.failed else "") for c in shares]
        text += f"\n{'':<30}   each flow: " + ", ".join(parts)
    return text


def markdown(rows: list[Row]) -> str:
    """The table as Markdown."""
    lines = ["| case | " + " | ".join(f"{m.name}, {m.unit}" for m in MEASURES) + " |", "|---" * (len(MEASURES) + 1) + "|"]
    for row in rows:
        cells = []
        for c in _shown(row):
            kernel, ours = c.means
            bold = "**" if c.failed else ""
            cells.append(f"{bold}{kernel:.4g} / {ours:.4g}{bold}")
        lines.append(f"| {row.case.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
