"""Time series: one thin line per flow with its name at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .charts import end_labels
from .theme import MUTED, dash, hue, hue_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes as MplAxes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Trace:
    """Quantity over time; None for missing values."""

    name: str
    times: Sequence[float]
    values: Sequence[float | None]


@dataclass(frozen=True)
class Series:
    """Panel of series over equal times."""

    traces: Sequence[Trace]
    title: str
    x: str
    y: str
    level: float | None = None
    """Height of a dashed line, such as a limit."""
    spans: Sequence[tuple[float, float, str]] = ()
    """Named time spans."""
    size: tuple[float, float] = (4.4, 2.5)
    bottom: float | None = 0.0
    """Start of the y axis; None: the smallest value."""

    margins = (0.72, 0.46, 0.9, 0.3)
    """Left, bottom, right and top margins in inches, with the names at the right."""

    def draw(self, figure: Figure, ax: MplAxes) -> None:
        """Draws the panel."""
        for i, t in enumerate(self.traces):
            values = [float("nan") if v is None else v for v in t.values]
            ax.plot(t.times, values, color=hue(t.name, i), ls=dash(hue_number(t.name, i)), lw=1.0, zorder=3)
        if self.level is not None:
            ax.axhline(self.level, color=MUTED, lw=0.9, ls="--", zorder=2)
        if self.bottom is not None:
            ax.set_ylim(bottom=self.bottom)
        for a, b, name in self.spans:
            ax.axvline(a, color=MUTED, lw=0.7, ls=":", zorder=1)
            ax.annotate(
                name,
                ((a + b) / 2, 1.0),
                (0, 2),
                ("data", "axes fraction"),
                "offset points",
                ha="center",
                va="bottom",
                fontsize=8,
                color=MUTED,
            )
        ax.margins(x=0.01)
        ax.grid(axis="x", visible=False)
        ax.tick_params(length=3)
        ax.set_title(self.title, pad=14 if self.spans else None)
        ax.set_xlabel(self.x)
        ax.set_ylabel(self.y)
        ends = []
        for i, t in enumerate(self.traces):
            points = [(x, v) for x, v in zip(t.times, t.values, strict=True) if v is not None]
            if points:
                ends.append((points[-1], t.name, hue(t.name, i)))
        end_labels(figure, ax, ends)
