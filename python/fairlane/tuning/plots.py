"""The picture of a search: what each setting reaches, the front, what people chose, what was chosen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.format import scale
from ..look import theme
from ..runs.selection import within_of
from ..stats import interval
from .model import Objective, Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .outcome import TuneOutcome

WIDE = 8.0
"""Values farther apart than this stand on a logarithmic axis."""
MOST_PANELS = 3


@dataclass(frozen=True)
class Front:
    """Two objectives of all settings, or one against the number of the trial."""

    result: TuneOutcome
    x: Objective | None
    y: Objective
    legend: bool = False
    size = (5.2, 4.1)
    margins = (0.8, 0.52, 0.2, 0.34)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the panel."""
        r = self.result
        on_front = {t.number for t in r.front}
        tried = [t for t in r.trials if not t.error]
        plain = [t for t in tried if t.kind != "baseline" and t.number not in on_front]
        kept, broken = [t for t in plain if t.feasible], [t for t in plain if not t.feasible]
        fx, fy = self.factor(self.x), self.factor(self.y)
        ax.plot(
            self.values(self.x, broken, fx),
            self.values(self.y, broken, fy),
            "x",
            ms=3.2,
            color=theme.MUTED,
            alpha=0.4,
            label="breaks a constraint",
        )
        ax.plot(
            self.values(self.x, kept, fx), self.values(self.y, kept, fy), "o", ms=3, mew=0, color=theme.MUTED, alpha=0.55, label="tried"
        )
        self._bars(ax, [t for t in r.front if t.kind != "baseline"], fx, fy, "o", 4.2, theme.HUES[0], "front")
        hand = [t for t in tried if t.kind == "baseline"]
        self._bars(ax, [t for t in hand if t.feasible], fx, fy, "s", 5, theme.HUES[1], "baseline")
        out = [t for t in hand if not t.feasible]
        ax.plot(
            self.values(self.x, out, fx),
            self.values(self.y, out, fy),
            "s",
            ms=5,
            mfc="none",
            mec=theme.HUES[1],
            label="baseline, breaks one",
        )
        ax.plot(
            self.values(self.x, [r.chosen], fx),
            self.values(self.y, [r.chosen], fy),
            "*",
            ms=14,
            color=theme.HUES[2],
            mec=theme.FACE,
            mew=0.6,
            label="chosen",
            zorder=6,
        )
        seen = [t for t in tried if t.feasible or t.kind == "baseline"] or tried
        self._axis(ax, "y", self.y, fy, seen)
        if self.x is None:
            ax.set_xlabel("trial")
        else:
            self._axis(ax, "x", self.x, fx, seen)
        for t in hand:
            at = (self.values(self.x, [t], fx)[0], self.values(self.y, [t], fy)[0])
            ax.annotate(_short(t.label), at, (5, 5), textcoords="offset points", fontsize=7.5, color=theme.HUES[1], zorder=7,
                        bbox={"boxstyle": "square,pad=0.1", "fc": theme.FACE, "ec": "none", "alpha": 0.85})  # fmt: skip
        if self.legend:
            import numpy as np

            # Empty series need no entry.
            handles = [h for h in ax.get_lines() if np.size(h.get_xdata()) and not str(h.get_label()).startswith("_")]
            ax.legend(handles=handles, fontsize=7.5, frameon=False, loc="best")

    def factor(self, o: Objective | None) -> tuple[float, str]:
        """Returns the factor of an objective on its axis, and the unit there."""
        if o is None:
            return 1.0, ""
        if o.selector.metric == "loss":
            return 100.0, "%"
        values = [abs(t.values[o.label]) for t in (self.result.front or [self.result.chosen])]
        return scale(o.unit, max(values))

    def values(self, o: Objective | None, trials: Sequence[Trial], f: tuple[float, str]) -> list[float]:
        """Returns the values of some trials in that unit; without an objective their numbers."""
        return [float(t.number) if o is None else t.values[o.label] * f[0] for t in trials]

    def _bars(
        self,
        ax: Axes,
        trials: Sequence[Trial],
        fx: tuple[float, str],
        fy: tuple[float, str],
        mark: str,
        size: float,
        colour: str,
        label: str,
    ) -> None:
        if not trials:
            return

        def errors(o: Objective | None, f: tuple[float, str]) -> list[list[float]] | None:
            if o is None:
                return None
            found = [interval(t.per_seed[o.label], within=within_of(o.selector)).errors for t in trials]
            return [[ends[side] * f[0] for ends in found] for side in (0, 1)]

        ax.errorbar(self.values(self.x, trials, fx), self.values(self.y, trials, fy), xerr=errors(self.x, fx), yerr=errors(self.y, fy),
                    fmt=mark, ms=size, lw=0, elinewidth=0.8, capsize=1.5, color=colour, zorder=4)  # fmt: skip
        ax.plot([math.nan], [math.nan], mark, ms=size, color=colour, label=label)

    def _axis(self, ax: Axes, which: str, o: Objective, f: tuple[float, str], tried: Sequence[Trial]) -> None:
        values = [t.values[o.label] * f[0] for t in tried]
        name = f"{o.label} ({f[1]})" if f[1] else o.label
        better = {"x": ("←", "→"), "y": ("↓", "↑")}[which][o.goal == "max"]
        getattr(ax, f"set_{which}label")(f"{name}, better {better}")
        if min(values) > 0 and max(values) > WIDE * min(values):
            from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

            getattr(ax, f"set_{which}scale")("log")
            axis: Any = getattr(ax, f"{which}axis")
            axis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if max(values) < 1e3 * min(values) else (1,)))
            axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
            axis.set_minor_formatter(NullFormatter())
            getattr(ax, f"set_{which}lim")(min(values) / 1.25, max(values) * 1.35)
        elif max(values) > min(values):
            room = 0.1 * (max(values) - min(values))
            getattr(ax, f"set_{which}lim")(min(values) - room, max(values) + room)


def _short(text: str) -> str:
    return text if len(text) <= 18 else text.split(" ")[0][:18]


def panels(r: TuneOutcome) -> list[Front]:
    """One panel for each pair of objectives; more than three pairs: the first objective against the others."""
    objectives = r.spec.objectives
    if len(objectives) == 1:
        return [Front(r, None, objectives[0], True)]
    pairs = list(itertools.combinations(objectives, 2))
    if len(pairs) > MOST_PANELS:
        pairs = [(objectives[0], o) for o in objectives[1 : MOST_PANELS + 1]]
    return [Front(r, x, y, i == 0) for i, (x, y) in enumerate(pairs)]


def picture(r: TuneOutcome) -> Figure:
    """All panels side by side."""
    return theme.figure_of(panels(r))
