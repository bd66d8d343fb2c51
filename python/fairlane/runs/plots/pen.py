"""`Pen`: draws into axes with inks that remain distinct for colour-blind readers and in grey, and records the drawn numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.format import seconds as as_seconds
from ...look import theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .view import View

DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.6)),
    (0, (1, 1.2)),
    (0, (6, 1.6, 1, 1.6)),
    (0, (3, 1.2, 1, 1.2, 1, 1.2)),
    (0, (9, 3)),
    (0, (2.5, 2.5)),
)
MARKERS = "os^Dv<>phX"
HATCHES = ("", "////", "\\\\", "xxxx", "----", "||||", "++++", "//", "\\", "xx")
"""Lines without markers: dots make an SVG many times as large."""
THEORY = "#404a58"
"""Ink of theory, with a colour and a dash that measurements do not have."""
WRAP = 26
"""Most characters of a name per line."""
LONGEST = 78
"""Most characters of a name."""
MOST_DOTS = 2000
"""Most points drawn as shapes in an SVG or PDF; above that, they are rasterised."""
MOST = 30
"""Most names in a legend."""


@dataclass(frozen=True)
class Ink:
    """Colour, dash and marker of a curve."""

    colour: str
    dash: Any
    marker: str


def ink(number: int) -> Ink:
    """Returns the ink of a curve by its number: neighbours differ in colour, dash and marker.

    >>> ink(0).colour == ink(8).colour, ink(0).dash == ink(8).dash
    (True, False)
    """
    n = len(theme.HUES)
    return Ink(theme.HUES[number % n], DASHES[(number + number // (n * len(DASHES))) % len(DASHES)], MARKERS[number % len(MARKERS)])


def named(text: str, wrap: int = WRAP) -> str:
    """Wraps and shortens a name for a legend or a title."""
    short = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    lines = textwrap.fill(short, wrap) or short
    # matplotlib omits labels that begin with an underscore.
    return f"\u200b{lines}" if lines.startswith("_") else lines


@dataclass
class Pen:
    """Drawing tool of a kind of plot: an `Axes`, and a list of the drawn numbers."""

    ax: Axes
    wide: float = 1.0
    """Factor of line widths and markers."""
    title: str = ""
    drawn: list[dict[str, Any]] = field(default_factory=list)
    """Drawn items with name, role and numbers, in the units of the axes."""
    notes: list[str] = field(default_factory=list)
    """Notes on data that could not be drawn, with a remedy."""
    keys: list[tuple[Any, str]] = field(default_factory=list)
    """Handles and names for the legend."""
    axes: dict[str, dict[str, str]] = field(default_factory=dict)
    lifted: bool = False
    """True if a label stands between the axes and the title."""
    inks: dict[str, int] = field(default_factory=dict)
    """Number of the ink by name, in all panels of a figure."""
    known: Mapping[str, int] = field(default_factory=dict)
    """Numbers of the flows or links of the result."""

    def next(self, name: str) -> Ink:
        """Returns the ink of a name, equal in all panels."""
        return ink(self.number(name))

    def number(self, name: str) -> int:
        """Returns the number of the ink of a name."""
        if name not in self.inks:
            taken = {*self.inks.values()}
            free = next(k for k in range(len(taken) + 1) if k not in taken)
            self.inks[name] = self.known.get(name, self.known.get(name.partition(" (")[0], free))
        return self.inks[name]

    def label(self, x: tuple[str, str], y: tuple[str, str], more: str = "") -> None:
        """Sets names and units of the axes: `("time", "s")`."""
        self.axes = {"x": {"label": x[0], "unit": x[1]}, "y": {"label": y[0], "unit": y[1]}}
        self.ax.set_xlabel(_axis(*x))
        self.ax.set_ylabel(_axis(*y) + more)

    def note(self, text: str) -> None:
        """Adds a note once."""
        if text not in self.notes:
            self.notes.append(text)

    def key(self, handle: Any, name: str) -> None:
        """Adds an entry to the legend, once per name."""
        if name and name not in {n for _, n in self.keys}:
            self.keys.append((handle, name))

    def sample(self, name: str, dash: Any, colour: str = theme.MUTED) -> None:
        """Adds a legend entry for a dash that several curves share."""
        from matplotlib.lines import Line2D

        self.key(Line2D([], [], color=colour, linestyle=dash, linewidth=0.9 * self.wide), name)

    def line(
        self,
        name: str,
        x: Any,
        y: Any,
        own: Ink,
        *,
        width: float = 1.1,
        steps: bool = False,
        role: str = "line",
        key: bool = True,
        **more: Any,
    ) -> None:
        """Draws a curve."""
        xs, ys = _floats(x), _floats(y)
        look = {"drawstyle": "steps-post"} if steps else {}
        (handle,) = self.ax.plot(xs, ys, linestyle=own.dash, color=own.colour, linewidth=width * self.wide, zorder=3, **{**look, **more})
        handle.set_gid(role)
        if len(xs) == 1 or not np.isfinite(ys[:-1] + ys[1:]).any():  # a single sample has no line
            handle.set_marker(own.marker)
            handle.set_markersize(4 * self.wide)
        self.drawn.append({"name": name, "role": role, "x": xs, "y": ys})
        if key:
            self.key(handle, name)

    def dots(
        self,
        name: str,
        x: Any,
        y: Any,
        own: Ink,
        *,
        size: float = 3.0,
        role: str = "points",
        marker: str = "",
        hollow: bool = False,
        key: bool = True,
        alpha: float | None = None,
        zorder: float = 3,
    ) -> None:
        """Draws points."""
        xs, ys = _floats(x), _floats(y)
        form = marker or own.marker
        look: dict[str, Any] = {"markeredgewidth": 0.9 * self.wide} if hollow or form in "x+|_" else {"markeredgewidth": 0}
        if hollow:
            look["markerfacecolor"] = "none"
        (handle,) = self.ax.plot(
            xs,
            ys,
            form,
            color=own.colour,
            markersize=size * self.wide,
            linestyle="none",
            alpha=alpha,
            zorder=zorder,
            rasterized=len(xs) > MOST_DOTS,
            **look,
        )
        handle.set_gid(role)
        self.drawn.append({"name": name, "role": role, "x": xs, "y": ys})
        if key:
            self.key(handle, name)

    def band(self, name: str, x: Any, low: Any, high: Any, own: Ink, *, across: bool = False) -> None:
        """Draws an interval around a curve; `across`: horizontal instead of vertical."""
        fill = self.ax.fill_betweenx if across else self.ax.fill_between
        fill(_floats(x), _floats(low), _floats(high), color=own.colour, alpha=0.2, linewidth=0, zorder=2).set_gid("band")
        self.drawn.append({"name": name, "role": "band", "y" if across else "x": _floats(x), "low": _floats(low), "high": _floats(high)})

    def bars(
        self, name: str, x: Any, low: Any, high: Any, colour: str, *, role: str, width: float = 0.8, key: bool = True, zorder: float = 3
    ) -> None:
        """Draws vertical strokes from `low` to `high`."""
        xs, a, b = _floats(x), _floats(low), _floats(high)
        handle = self.ax.vlines(xs, a, b, color=colour, linewidth=width * self.wide, zorder=zorder, label="_nolegend_")
        handle.set_gid(role)
        handle.set_rasterized(len(xs) > 20_000)
        self.drawn.append({"name": name, "role": role, "x": xs, "low": a, "high": b})
        if key and len(xs):
            self.key(handle, name)

    def layer(self, name: str, edges: Any, low: Any, high: Any) -> None:
        """Draws a hatched area between two step curves, so that layers remain distinct in grey."""
        own, a, b = self.next(name), _floats(low), _floats(high)
        hatch = HATCHES[self.number(name) % len(HATCHES)]
        xs = _floats(edges)
        handle = self.ax.fill_between(
            xs,
            np.r_[a, a[-1:]],
            np.r_[b, b[-1:]],
            step="post",
            facecolor=own.colour,
            alpha=0.75,
            linewidth=0.4 * self.wide,
            edgecolor="white",
            hatch=hatch,
            zorder=2,
        )
        handle.set_gid("layer")
        self.drawn.append({"name": name, "role": "layer", "x": xs, "low": a, "high": b})
        self.key(handle, name)

    def level(
        self, name: str, value: float, *, dash: Any = (0, (4, 2)), colour: str = THEORY, role: str = "theory", upright: bool = False
    ) -> None:
        """Draws a labelled straight line across the axes."""
        draw = self.ax.axvline if upright else self.ax.axhline
        draw(value, color=colour, linestyle=dash, linewidth=0.9 * self.wide, zorder=2.5).set_gid(role)
        self.drawn.append({"name": name, "role": role, "x" if upright else "y": [float(value)]})
        at, offset = ((value, 1), (2, -2)) if upright else ((1, value), (-2, 2))
        where = ("data", "axes fraction") if upright else ("axes fraction", "data")
        own: dict[str, Any] = {"ha": "left", "va": "top", "rotation": 90} if upright else {"ha": "right", "va": "bottom"}
        self.ax.annotate(
            named(name, 60), at, offset, where, "offset points", fontsize="small", color=colour, zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.8}, **own,
        )  # fmt: skip

    def curve(self, name: str, x: Any, y: Any, dash: Any = (0, (4, 2))) -> None:
        """Draws a theoretical curve."""
        self.line(name, x, y, Ink(THEORY, dash, ""), width=1.0, role="theory")

    def plain(self, axis: str, *, decades: bool = False) -> None:
        """Formats a logarithmic axis with plain numbers."""
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        own = self.ax.xaxis if axis == "x" else self.ax.yaxis
        own.set_major_locator(LogLocator(10, subs=(1,) if decades else (1, 2, 5)))
        own.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
        own.set_minor_formatter(NullFormatter())

    def nothing(self, text: str) -> None:
        """Writes a text into empty axes."""
        self.ax.text(0.5, 0.5, text, ha="center", va="center", transform=self.ax.transAxes, color=theme.MUTED)

    def warmup(self, views: Iterable[View]) -> None:
        """Shades the warm-up if all views have the same one."""
        spans = {as_seconds(v.result.description.get("warmup") or "0s") for v in views}
        if len(spans) == 1 and max(0.0, self.ax.get_xlim()[0]) < (until := spans.pop()) < self.ax.get_xlim()[1]:
            limits, self.lifted = self.ax.get_xlim(), True
            self.ax.axvspan(0, until, color=theme.GRID, alpha=0.6, linewidth=0, zorder=0)
            self.ax.set_xlim(limits)
            self.ax.annotate(
                "warm-up",
                (max(0.0, limits[0]), 1),
                (2, 2),
                ("data", "axes fraction"),
                "offset points",
                fontsize="small",
                color=theme.MUTED,
                va="bottom",
                zorder=1,
            )

    def over_time(self, views: Sequence[View]) -> None:
        """Sets the time axis and shades the warm-up."""
        self.ax.margins(x=0.01)
        self.ax.grid(axis="x", visible=False)
        start, end = views[0].time
        if start is not None or end is not None:
            last = max(as_seconds(v.result.description["duration"]) for v in views)
            self.ax.set_xlim(start, None if end is None else min(end, last))
        self.warmup(views)


def _axis(name: str, unit: str) -> str:
    unit = {"p": "packets", "1": ""}.get(unit, unit)
    return f"{name} ({unit})" if unit else name


def _floats(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=float)
