"""Line charts of our values with intervals and of published values, with labels at the curves instead of a legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .theme import FACE, INK, hue

if TYPE_CHECKING:
    from matplotlib.axes import Axes as MplAxes
    from matplotlib.figure import Figure

MARKS = ("o", "s", "D", "^", "v")


@dataclass(frozen=True)
class Curve:
    """Curve of our values with their intervals, and of published values; None if missing."""

    name: str
    x: Sequence[float]
    ours: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    published: Sequence[float | None] = ()
    crossed: Sequence[bool] = ()
    """True for published points with errors, which are crossed out."""


@dataclass(frozen=True)
class Axes:
    """Axes of a chart; labels include units."""

    title: str
    x: str
    y: str
    log_x: bool = False
    log_y: bool = False
    ticks: Sequence[float] = field(default_factory=tuple)
    names: Sequence[str] = ()
    """Names of the positions 0, 1, 2... of the x axis, where it has no numbers."""
    size: tuple[float, float] = (3.9, 2.85)


@dataclass(frozen=True)
class Lines:
    """Panel of curves."""

    curves: Sequence[Curve]
    axes: Axes

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return self.axes.size

    @property
    def margins(self) -> tuple[float, float, float, float]:
        """Left, bottom, right and top margins in inches, with the labels of the curves at the right."""
        return (0.72, 0.46, max(0.72, 0.2 + 0.085 * max((len(c.name) for c in self.curves), default=0)), 0.3)

    def draw(self, figure: Figure, ax: MplAxes) -> None:
        """Draws the panel."""
        for i, c in enumerate(self.curves):
            _curve(ax, c, i)
        if self.axes.log_x:
            ax.set_xscale("log")
        if self.axes.log_y:
            ax.set_yscale("log")
            _plain_ticks(ax)
        else:
            ax.set_ylim(*span(self.curves))
        if self.axes.names:
            ax.set_xticks(range(len(self.axes.names)), list(self.axes.names))
            ax.set_xlim(-0.3, len(self.axes.names) - 0.7)
        elif self.axes.ticks:
            ax.set_xticks(list(self.axes.ticks), [f"{t:g}" for t in self.axes.ticks])
        ax.minorticks_off()
        ax.grid(axis="x", visible=False)
        ax.tick_params(length=3)
        ax.set_title(self.axes.title)
        ax.set_xlabel(self.axes.x)
        ax.set_ylabel(self.axes.y)
        _labels(figure, ax, self.curves)


def span(curves: Sequence[Curve]) -> tuple[float, float]:
    """Returns the y range: from zero, unless all values are far above it."""
    values = [y for c in curves for y in (*c.ours, *c.published, *c.high, *c.low) if y is not None]
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low > 0.45 * high:
        margin = (high - low) or 0.1 * high
        return low - 0.1 * margin, high + 0.1 * margin
    return -0.03 * high if low < 0.02 * high else 0.0, high * 1.06 or 1.0


def _curve(ax: MplAxes, c: Curve, i: int) -> None:
    colour, mark = hue(c.name, i), MARKS[i % len(MARKS)]
    published = [(x, y) for x, y in zip(c.x, c.published, strict=False) if y is not None]
    if published:
        xs, ys = [x for x, _ in published], [y for _, y in published]
        ax.plot(xs, ys, ":", color=colour, lw=1.1, zorder=2)
        ax.plot(xs, ys, mark, mfc=FACE, mec=colour, mew=1.1, ms=6.2, ls="none", zorder=3)
    bad = [(x, y) for x, y, b in zip(c.x, c.published, c.crossed, strict=False) if b and y is not None]
    for x, y in bad:
        ax.plot([x], [y], "x", color=INK, ms=9, mew=1.3, zorder=5)
    own = [(x, y, j) for j, (x, y) in enumerate(zip(c.x, c.ours, strict=False)) if y is not None]
    if own:
        xs, ys = [x for x, _, _ in own], [y for _, y, _ in own]
        ax.plot(xs, ys, "-", color=colour, lw=1.6, zorder=4)
        ax.plot(xs, ys, mark, color=colour, ms=4.2, ls="none", zorder=4)
        spread = [(x, y, c.low[j], c.high[j]) for x, y, j in own if c.low and c.high]
        bars = [(x, y, y - low, high - y) for x, y, low, high in spread if low is not None and high is not None and high > low]
        if bars:
            reach = [[max(0.0, b) for _, _, b, _ in bars], [max(0.0, a) for _, _, _, a in bars]]
            ax.errorbar(
                [x for x, _, _, _ in bars], [y for _, y, _, _ in bars], reach, ls="none", color=colour, capsize=2.4, lw=1.1, zorder=4
            )


def _plain_ticks(ax: MplAxes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator

    ax.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))


def _labels(figure: Figure, ax: MplAxes, curves: Sequence[Curve]) -> None:
    """Draws names at the right end of the curves."""
    ends = []
    for i, c in enumerate(curves):
        points = [(x, y) for x, y in zip(c.x, c.ours, strict=False) if y is not None]
        points = points or [(x, y) for x, y in zip(c.x, c.published, strict=False) if y is not None]
        if points:
            ends.append((points[-1], c.name, hue(c.name, i)))
    end_labels(figure, ax, ends)


def end_labels(figure: Figure, ax: MplAxes, ends: Sequence[tuple[tuple[float, float], str, str]]) -> None:
    """Draws names (point, text, colour) right of the ends of curves without overlaps."""
    per_point = figure.dpi / 72
    at = [ax.transData.transform(point) / per_point for point, _, _ in ends]
    spans = [(x - 5, x + 9 + 6.2 * len(name)) for (x, _), (_, name, _) in zip(at, ends, strict=True)]
    for members in _overlapping(spans):  # a name must clear the marks of others, too
        members.sort(key=lambda i: at[i][1])
        heights = _apart([at[i][1] for i in members], 12)
        for i, height in zip(members, heights, strict=True):
            point, name, colour = ends[i]
            ax.annotate(
                name, point, (9, height - at[i][1]), textcoords="offset points", color=colour, va="center", weight="bold", fontsize=9,
                annotation_clip=False,
            )  # fmt: skip


def _overlapping(spans: Sequence[tuple[float, float]]) -> list[list[int]]:
    """Groups spans that overlap, directly or through others.

    >>> _overlapping([(0, 2), (5, 6), (1, 3)])
    [[0, 2], [1]]
    """
    groups: list[list[int]] = []
    right = float("-inf")
    for i in sorted(range(len(spans)), key=lambda i: spans[i]):
        if not groups or spans[i][0] > right:
            groups.append([])
        groups[-1].append(i)
        right = max(right, spans[i][1])
    return groups


def _apart(wanted: Sequence[float], gap: float) -> list[float]:
    """Returns heights near the wanted ones (in rising order) with distances of at least `gap`; overlapping ones are centred.

    >>> _apart([0.0, 30.0, 34.0], 12)
    [0.0, 26.0, 38.0]
    """
    stacks: list[list[float]] = []

    def lowest(stack: list[float]) -> float:
        return sum(stack) / len(stack) - gap * (len(stack) - 1) / 2

    for height in wanted:
        stacks.append([height])
        while len(stacks) > 1 and lowest(stacks[-1]) < lowest(stacks[-2]) + gap * len(stacks[-2]):
            top = stacks.pop()
            stacks[-1] += top
    return [lowest(stack) + gap * k for stack in stacks for k in range(len(stack))]
