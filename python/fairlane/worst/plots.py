"""The picture of a worst path: both windows over one another, above the rate of the link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..look import theme
from .model import Finding, WorstSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .outcome import WorstOutcome

_SHARE = 0.3
"""Share of the height that the rate has."""


def stairs(spec: WorstSpec, f: Finding) -> tuple[list[float], list[float | None]]:
    """Returns the rate of the link as corners: seconds, Mbit/s."""
    times: list[float] = []
    rates: list[float | None] = []
    profile = spec.capacity.profile(f.shrunk.candidate)
    ends = [t for t, _ in profile[1:]] + [spec.capacity.end]
    for (begin, rate), end in zip(profile, ends, strict=True):
        times += [begin / 1e6, end / 1e6]
        rates += [rate / 1e6, rate / 1e6]
    return times, rates


@dataclass(frozen=True)
class Windows:
    """Windows and rate of one path."""

    spec: WorstSpec
    finding: Finding
    size = (7.2, 4.0)
    margins = (0.7, 0.5, 0.2, 0.35)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws both axes into the place of one."""
        box = ax.get_position()
        low = box.height * _SHARE
        upper = figure.add_axes((box.x0, box.y0 + low + 0.04, box.width, box.height - low - 0.04))
        ax.set_position((box.x0, box.y0, box.width, low - 0.02))
        for i, (name, times, values) in enumerate(self.finding.curves):
            upper.plot(times, [float("nan") if v is None else v for v in values], lw=1.2, color=theme.colour(i), label=name)
        upper.set_ylabel("window (kB)")
        upper.set_ylim(bottom=0)
        upper.tick_params(labelbottom=False)
        if self.finding.curves:
            upper.legend(fontsize=8, frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.1)
        times, rates = stairs(self.spec, self.finding)
        ax.plot(times, [r or 0.0 for r in rates], lw=1.2, color=theme.colour(2))
        ax.set_ylim(bottom=0)
        ax.set_xlabel("time (s)")
        ax.set_ylabel("Mbit/s")
        for each in (ax, upper):
            each.set_xlim(0, self.spec.capacity.end / 1e6)


def picture(r: WorstOutcome, f: Finding) -> Figure:
    """Returns the figure of a path."""
    return theme.figure_of([Windows(r.spec, f)])
