"""Block diagrams and flow charts: boxes at given positions, and arrows between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .theme import GRID, HUES, INK, MUTED, TINTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Box:
    """Box with a text, its centre at `x` inches from the left and `y` from the top."""

    text: str
    x: float
    y: float
    width: float = 1.2
    height: float = 0.5
    kind: Literal["block", "choice", "end", "many"] = "block"
    """Shape: block, decision (slanted sides), end of a flow chart (round), or a stack of blocks."""


@dataclass(frozen=True)
class Arrow:
    """Arrow between two boxes, by their numbers; `corner`: one bend, first horizontal ("along") or first vertical ("down")."""

    begin: int
    end: int
    text: str = ""
    corner: Literal["", "along", "down"] = ""
    aside: float = 0.0
    """Offset in inches of a straight arrow from the centres of its boxes, to the right or downwards."""
    feedback: bool = False
    """True for feedback, drawn in another colour."""


@dataclass(frozen=True)
class Blocks:
    """Diagram of boxes and arrows."""

    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    size: tuple[float, float] = (4.4, 2.6)

    margins = (0.0, 0.0, 0.0, 0.0)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the arrows, then the boxes."""
        wide, high = self.size
        ax.set_xlim(0, wide)
        ax.set_ylim(high, 0)
        ax.axis("off")
        for arrow in self.arrows:
            self._arrow(ax, arrow)
        for box in self.boxes:
            _box(ax, box)

    def _arrow(self, ax: Axes, arrow: Arrow) -> None:
        a, b = self.boxes[arrow.begin], self.boxes[arrow.end]
        if arrow.corner == "along":
            points = [_edge(a, b.x, a.y), (b.x, a.y), _edge(b, b.x, a.y)]
        elif arrow.corner == "down":
            points = [_edge(a, a.x, b.y), (a.x, b.y), _edge(b, a.x, b.y)]
        else:
            upright = abs(a.y - b.y) > abs(a.x - b.x)
            x, y = (arrow.aside, 0.0) if upright else (0.0, arrow.aside)
            points = [(u + x, v + y) for u, v in (_edge(a, b.x, b.y), _edge(b, a.x, a.y))]
        colour = HUES[1] if arrow.feedback else MUTED
        ax.plot([x for x, _ in points], [y for _, y in points], color=colour, lw=1.3, zorder=1)
        ax.annotate("", points[-1], points[-2], arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.3, "shrinkA": 0, "shrinkB": 0})
        if arrow.text:
            (x, y), (u, v) = points[-2:] if arrow.corner == "down" else points[:2]
            level = abs(y - v) < abs(x - u)
            at = ((x + u) / 2, y - 0.05) if level else (x + 0.07, (y + v) / 2)
            ax.text(*at, arrow.text, fontsize=8, color=INK, ha="center" if level else "left", va="bottom" if level else "center")


def _box(ax: Axes, box: Box) -> None:
    from matplotlib.patches import FancyBboxPatch, Polygon

    w, h = box.width, box.height
    left, top = box.x - w / 2, box.y - h / 2
    look: dict[str, Any] = {"edgecolor": INK, "facecolor": TINTS[0] if box.kind == "end" else GRID, "linewidth": 1.1, "zorder": 2}
    if box.kind == "choice":
        corners = [
            (left, box.y),
            (left + 0.16, top),
            (left + w - 0.16, top),
            (left + w, box.y),
            (left + w - 0.16, top + h),
            (left + 0.16, top + h),
        ]
        ax.add_patch(Polygon(corners, **look))
    else:
        style = f"round,pad=0,rounding_size={h / 2 if box.kind == 'end' else 0.06}"
        for k in (2, 1, 0) if box.kind == "many" else (0,):
            ax.add_patch(FancyBboxPatch((left - 0.06 * k, top - 0.06 * k), w, h, boxstyle=style, **look))
    ax.text(box.x, box.y, box.text, fontsize=8.5, color=INK, ha="center", va="center", zorder=3)


def _edge(box: Box, x: float, y: float) -> tuple[float, float]:
    """Returns the point at which the line from the centre of a box to a point leaves the box."""
    dx, dy = x - box.x, y - box.y
    scale = min(box.width / 2 / abs(dx) if dx else float("inf"), box.height / 2 / abs(dy) if dy else float("inf"))
    return box.x + dx * scale, box.y + dy * scale
