"""Figures of a comparison: ellipses of delay and throughput, queue length over time, fairness."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.format import scale
from ..errors import suggest
from ..look import theme
from ..runs.plots.styles import style_of
from ..stats import Interval, interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .data import Compared, ComparisonData
    from .differences import Measure

PICTURES = ("ellipses", "queue", "jain", "points", "bars")
MOST_NAMES = 8
"""Most groups of flows or links along an axis."""
MOST_GROUPS = 6
"""Most groups of flows with their own panels."""
_WRAP = 24
"""Width of a name in characters."""
_WIDE_RATIO = 6.0
"""Ratio of delays from which the axis is logarithmic."""
CAPTIONS = {
    "ellipses": "Upper right is better: high throughput, low delay (the delay axis is reversed). A point is one flow of one run, the cross "
    "is the mean, the ellipse one standard deviation of the fitted normal distribution. A small ellipse means similar flows in all runs.",
    "points": "One mark per setting, means with 95 % intervals over the runs.",
    "bars": "One bar per setting, means with 95 % intervals over the runs.",
    "queue": "Queue length at the link, first seed. Each panel has its own scale.",
    "jain": "Jain's fairness index of flows that compete (1: equal goodputs) and link utilisation; 95 % intervals over the runs.",
}


def _ink(i: int) -> tuple[str, str]:
    return theme.colour(i), theme.dash(i)


@dataclass(frozen=True)
class Ellipses:
    """Delay against throughput of one group of flows in each setting."""

    queues: Sequence[Compared]
    group: str
    size = (4.4, 3.4)
    margins = (0.72, 0.5, 0.25, 0.3)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the panel."""
        shapes = [(i, q, e) for i, q in enumerate(self.queues) if (e := q.ellipse(self.group)) is not None]
        ax.set_title(self.group)
        ax.set_xlabel("one-way delay (ms), reversed")
        if not shapes:
            ax.text(0.5, 0.5, "no data delivered", ha="center", transform=ax.transAxes)
            return
        factor, name = scale("bit/s", max(e.throughput for _, _, e in shapes))
        ax.set_ylabel(f"throughput per flow ({name})")
        least = min(min(d for d in q.flows(self.group)["delay_mean"].to_list() if math.isfinite(d)) for _, q, _ in shapes)
        delays = [e.delay for _, _, e in shapes]
        if max(delays) > _WIDE_RATIO * min(delays):
            ax.set_xscale("log")
            _plain(ax)
        lines = []
        for i, q, e in shapes:
            colour, dash = _ink(i)
            points = q.flows(self.group)
            ax.plot(points["delay_mean"] * 1e3, points["throughput"] * factor, ".", ms=2.6, color=colour, alpha=0.45, mew=0, zorder=2)
            # An ellipse has no meaning below the shortest measured delay or a throughput of zero.
            xs, ys = zip(*((max(d, 0.5 * least) * 1e3, max(t, 0.0) * factor) for d, t in e.contour(48)), strict=True)
            lines.append(list(zip(xs, ys, strict=True)))
            ax.fill(xs, ys, color=colour, alpha=0.13, lw=0, zorder=1)
            ax.plot(xs, ys, dash, color=colour, lw=1.4, zorder=3)
            ax.plot([e.delay * 1e3], [e.throughput * factor], "+", color=colour, ms=8, mew=1.6, zorder=4)
        ax.invert_xaxis()
        ax.margins(0.08)
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]) if ax.get_ylim()[0] < 0.3 * ax.get_ylim()[1] else None)
        ax.autoscale_view()
        short = short_names([q.label for q in self.queues])
        _names(figure, ax, [(short[q.label], (e.delay * 1e3, e.throughput * factor), _ink(i)[0]) for i, q, e in shapes], lines)


@dataclass(frozen=True)
class Backlog:
    """Queue length over time."""

    queue: Compared
    number: int
    name: str

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches: a name may need several lines."""
        return (3.25, 1.6 + 0.15 * len(self.name.splitlines()))

    @property
    def margins(self) -> tuple[float, float, float, float]:
        """Left, bottom, right and top margins in inches."""
        return (0.72, 0.42, 0.12, 0.15 + 0.15 * len(self.name.splitlines()))

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the panel."""
        times, lengths = self.queue.series()
        ax.plot(times, lengths, color=_ink(self.number)[0], lw=0.8)
        ax.set_title(self.name, fontsize=9)
        ax.set_ylim(0, max([*lengths, 1.0]) * 1.05)
        ax.margins(x=0.01)
        ax.set_xlabel("time (s)")
        ax.set_ylabel("packets")


@dataclass(frozen=True)
class Dots:
    """One number per setting with its interval."""

    title: str
    rows: Sequence[tuple[str, Interval]]
    low: float = 0.0

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return (4.1, 0.75 + sum(0.1 + 0.14 * len(label.splitlines()) for label, _ in self.rows))

    @property
    def margins(self) -> tuple[float, float, float, float]:
        """Left, bottom, right and top margins in inches, with names at the left."""
        longest = max(len(line) for label, _ in self.rows for line in label.splitlines())
        return (0.25 + 0.075 * longest, 0.36, 0.2, 0.3)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the panel."""
        for i, (_, iv) in enumerate(self.rows):
            if iv.mean is not None:
                below, above = iv.errors
                ax.errorbar([iv.mean], [i], xerr=[[below], [above]], fmt="o", ms=4.5, capsize=2.5, lw=1.2, color=_ink(i)[0])
        ax.set_yticks(range(len(self.rows)), [label for label, _ in self.rows])
        ax.set_ylim(len(self.rows) - 0.4, -0.6)
        ax.set_xlim(self.low, 1.02)
        ax.grid(axis="y", visible=False)
        ax.set_title(self.title)


@dataclass(frozen=True)
class Grouped:
    """A metric of several groups of flows or links: a group of points or bars for each, a colour for each setting."""

    title: str
    unit: str
    names: Sequence[str]
    settings: Sequence[str]
    rows: Sequence[Sequence[Interval]]
    """Interval of each name in each setting."""
    bars: bool
    size = (4.4, 2.9)

    @property
    def margins(self) -> tuple[float, float, float, float]:
        """Left, bottom, right and top margins in inches, with the settings below."""
        return (0.75, 0.4 + 0.16 * -(-len(self.settings) // 2), 0.12, 0.3)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the panel."""
        means = [iv.mean for row in self.rows for iv in row if iv.mean is not None]
        factor, unit = (100.0, "%") if self.unit == "%" else scale(self.unit, max(means, default=0.0))
        wide = 0.8 / max(1, len(self.settings))
        for i, setting in enumerate(self.settings):
            shown = [(k + (i - (len(self.settings) - 1) / 2) * wide, row[i]) for k, row in enumerate(self.rows) if row[i].mean is not None]
            at, values = [x for x, _ in shown], [factor * (iv.mean or 0.0) for _, iv in shown]
            errors = [[factor * iv.errors[side] for _, iv in shown] for side in (0, 1)]
            colour = _ink(i)[0]
            if self.bars:
                ax.bar(at, values, 0.92 * wide, yerr=errors, color=colour, ecolor=theme.INK, capsize=2, label=setting, error_kw={"lw": 0.9})
            else:
                marker = "osD^vP*X"[i % 8]
                ax.errorbar(at, values, yerr=errors, fmt=marker, ms=4.5, capsize=2.5, lw=1.2, color=colour, label=setting)
        ax.set_xticks(range(len(self.names)), self.names)
        ax.set_xlim(-0.6, len(self.names) - 0.4)
        ax.set_ylim(bottom=0.0)
        ax.grid(axis="x", visible=False)
        ax.set_title(self.title)
        ax.set_ylabel({"1": "", "p": "packets"}.get(unit, unit))
        ax.legend(loc="upper left", bbox_to_anchor=(-0.12, -0.12), ncols=2, frameon=False, fontsize="small", borderaxespad=0.0)


def grouped(c: ComparisonData, bars: bool) -> list[Grouped]:
    """Returns a panel for each compared metric: its groups of flows or links along the axis."""
    from .differences import measures

    kinds: dict[tuple[str, str], list[Measure]] = {}
    for m in measures(c):
        kinds.setdefault((m.words, m.unit), []).append(m)
    settings = [q.label for q in c.settings]
    out = []
    for (words, unit), own in list(kinds.items())[:MOST_GROUPS]:
        rows = [[interval(m.values(q), within=m.within) for q in c.settings] for m in own[:MOST_NAMES]]
        names = [{"": "network", "*": "all"}.get(m.group, m.group) for m in own[:MOST_NAMES]]
        out.append(Grouped(words, "%" if own[0].percent else unit, names, settings, rows, bars))
    return out


def short_names(labels: Sequence[str]) -> dict[str, str]:
    """Returns short labels: the names of algorithms if unique, else the wrapped full labels.

    >>> short_names(["red", "codel{target=10ms}", "red:ns2"])
    {'red': 'red', 'codel{target=10ms}': 'codel', 'red:ns2': 'red:ns2'}
    """
    names = [re.split("[{:]", label)[0] for label in labels]
    out = {}
    for label, name in zip(labels, names, strict=True):
        whole = textwrap.wrap(re.sub(r",(?=\S)", ", ", label), _WRAP)
        out[label] = name if names.count(name) == 1 else "\n".join(line.replace(", ", ",") for line in whole)
    return out


def _plain(ax: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.xaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _names(
    figure: Figure, ax: Axes, entries: list[tuple[str, tuple[float, float], str]], lines: Sequence[Sequence[tuple[float, float]]]
) -> None:
    """Places names near the crosses without covering other names or crosses, and covering little of the ellipses."""
    point = figure.dpi / 72
    crosses = [tuple(ax.transData.transform(at)) for _, at, _ in entries]
    dots = [xy for line in lines for xy in ax.transData.transform(line)]
    taken: list[tuple[float, float, float, float]] = []
    for label, at, colour in sorted(entries, key=lambda e: -e[1][1]):
        x, y = ax.transData.transform(at)
        rows = label.splitlines()
        width, height = 5.9 * max(map(len, rows)) * point, 10.5 * len(rows) * point

        def place(side: int, k: int, x: float = x, y: float = y, w: float = width, h: float = height) -> tuple[float, float, float, float]:
            left = x + 6 * point if side > 0 else x - 6 * point - w
            return left, y + k * 5 * point - h / 2, left + w, y + k * 5 * point + h / 2

        def cost(choice: tuple[int, int]) -> tuple[bool, int, int, int]:
            box = place(*choice)
            outside = box[0] < ax.bbox.x0 or box[2] > ax.bbox.x1 or box[1] < ax.bbox.y0 or box[3] > ax.bbox.y1
            covered = sum(_touch(box, t) for t in taken) + sum(_inside(c, box, 4 * point) for c in crosses)
            return outside, covered, sum(_inside(d, box, 0.0) for d in dots) + abs(choice[1]) // 2, abs(choice[1])

        side, k = min(((s, k) for k in range(-30, 31) for s in (1, -1)), key=cost)
        taken.append(place(side, k))
        ax.annotate(
            label, at, (6 * side, 5 * k), textcoords="offset points", ha="left" if side > 0 else "right", va="center",
            fontsize=8.5, color=colour, weight="bold", annotation_clip=False, zorder=6,
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.6} if abs(k) > 2 + len(rows) else None,
        )  # fmt: skip


def _touch(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _inside(at: Sequence[float], box: tuple[float, float, float, float], margin: float) -> bool:
    return box[0] - margin < at[0] < box[2] + margin and box[1] - margin < at[1] < box[3] + margin


def panels(c: ComparisonData, what: str) -> list[Any]:
    """Returns the panels of a figure."""
    short = short_names([q.label for q in c.settings])
    if what == "ellipses":
        return [Ellipses(c.settings, g) for g in c.groups()[:MOST_GROUPS]]
    if what == "queue":
        return [Backlog(q, i, short[q.label]) for i, q in enumerate(c.settings)]
    if what == "jain":
        used = [(short[q.label], q.of_link("utilisation")) for q in c.settings]
        fair = [(s, [(short[q.label], q.of_group(s.groups, "jain")) for q in c.settings]) for s in c.competing[:MOST_GROUPS]]
        return [*(Dots(f"Jain's fairness index of {s.label}", rows) for s, rows in fair), Dots("link utilisation", used, _floor(used))]
    if what in ("points", "bars"):
        return list(grouped(c, what == "bars"))
    raise suggest(what, list(PICTURES), "figure of a comparison")


def _floor(rows: Sequence[tuple[str, Interval]]) -> float:
    """Returns the start of an axis of shares: zero, unless all are near one."""
    least = min((iv.low if iv.low is not None else iv.mean or 0.0 for _, iv in rows), default=0.0)
    return 0.0 if least < 0.55 else math.floor(10 * least - 0.5) / 10


def picture(c: ComparisonData, what: str, style: str = "screen") -> Figure:
    """Draws all panels on white in rows of at most three; `style`: width and fonts of a paper, as in `fairlane plot --style`."""
    import matplotlib as mpl

    from ..look.picture import Picture, on_white

    parts = panels(c, what)
    form = None if style == "screen" else style_of(style)
    columns = min(len(parts), 1 if form is not None and form.narrow else 3 if what == "queue" else 2)
    rows = [parts[i : i + columns] for i in range(0, len(parts), columns)]
    wide, high = max(p.size[0] for p in parts), max(p.size[1] for p in parts)
    if form is not None:
        wide = form.width / columns
    with mpl.rc_context(on_white() | ({} if form is None else form.rc())):
        figure = Picture(figsize=(wide * columns, high * len(rows)))
        whole = figure.get_size_inches()
        for r, row in enumerate(rows):
            for k, p in enumerate(row):
                left, bottom, right, top = p.margins
                x, y = k * wide + left, (len(rows) - 1 - r) * high + bottom
                box = (x / whole[0], y / whole[1], (wide - left - right) / whole[0], (high - bottom - top) / whole[1])
                p.draw(figure, figure.add_axes(box))
    return figure
