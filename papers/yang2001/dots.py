"""A picture of Table 4 or 6: for every class a mark a queue, ours filled and the published one hollow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairlane.papers import charts, theme

from .net import CLASSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fairlane.papers import Row

Place = tuple[str, str]
"""Source ("1" or "2") and class."""
_QUEUES = ("FCFS", "RED", "DRR", "SFQ")
_STEP = 0.21
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


@dataclass(frozen=True)
class Dots:
    """One environment: the classes of both sources along the axis, queues next to one another."""

    title: str
    ours: Mapping[str, Mapping[Place, Row]]
    """By queue."""
    published: Mapping[str, Mapping[Place, float]]

    size = (4.0, 2.8)
    margins = (0.6, 0.48, 0.55, 0.3)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the panel."""
        at = {(s, c): i + (len(CLASSES) + 0.6) * (s == "2") for s in "12" for i, c in enumerate(CLASSES)}
        values = [r.value for rows in self.ours.values() for r in rows.values()] + [
            x for xs in self.published.values() for x in xs.values()
        ]
        ax.set_yscale("log")
        for k, queue in enumerate(_QUEUES):
            colour, mark, shift = theme.hue(queue, k), charts.MARKS[k], (k - 1.5) * _STEP
            published, ours = self.published.get(queue, {}), self.ours.get(queue, {})
            ax.plot(
                [at[p] + shift for p in published],
                list(published.values()),
                mark,
                mfc=theme.FACE,
                mec=colour,
                mew=1.0,
                ms=5.6,
                ls="none",
                zorder=3,
            )
            xs, ys = [at[p] + shift for p in ours], [r.value for r in ours.values()]
            bars = [(x, r.low, r.high) for x, r in zip(xs, ours.values(), strict=True) if r.low is not None and r.high is not None]
            for x, low, high in bars:
                ax.plot([x, x], [max(low, 0.5 * min(values)), high], "-", color=colour, lw=1.1, zorder=4)
            ax.plot(xs, ys, mark, color=colour, ms=3.6, ls="none", zorder=5)
            ax.annotate(
                queue, (1, 0.93 - 0.11 * k), (8, 0), xycoords="axes fraction", textcoords="offset points", color=colour, va="center",
                weight="bold", fontsize=9, annotation_clip=False,
            )  # fmt: skip
        ax.set_xticks(list(at.values()), [c[0] + c[-1] for _, c in at])
        low, high = 0.75 * min(values), 1.3 * max(values)
        ax.set_yticks([t for t in _TICKS if low <= t <= high], [f"{t:g}" for t in _TICKS if low <= t <= high])
        ax.set_ylim(low, high)
        ax.set_xlim(-0.7, max(at.values()) + 0.7)
        ax.axvline(len(CLASSES) - 0.2, color=ax.spines["left"].get_edgecolor(), lw=0.8)
        ax.minorticks_off()
        ax.grid(axis="x", visible=False)
        ax.tick_params(length=3)
        ax.set_title(self.title)
        ax.set_xlabel("left of the line S1, right S2")
        ax.set_ylabel("time, s")


def dots(envs: Sequence[str], rows: Sequence[Row], published: Sequence[Mapping[str, str]]) -> list[Dots]:
    """A panel an environment."""
    ours: dict[str, dict[str, dict[Place, Row]]] = {}
    theirs: dict[str, dict[str, dict[Place, float]]] = {}
    for r in rows:
        f = dict(r.factors)
        ours.setdefault(f["env"], {}).setdefault(f["queue"], {})[f["traffic"], f["flow"]] = r
    for p in published:
        theirs.setdefault(p["env"], {}).setdefault(p["queue"], {})[p["traffic"], p["flow"]] = float(p["value"])
    return [Dots(e, ours[e], theirs.get(e, {})) for e in envs if e in ours]
