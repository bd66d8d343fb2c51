"""Drawer of the figures of the model pages: panels of curves, each from runs or from a formula."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

Law = Callable[[float], float]
Points = tuple[Sequence[float], Sequence[float]]
Measured = Callable[[Any], "float | tuple[float, float]"]
"""A value for each x, or its mean and the half width of its interval."""
Item = Callable[[Axes], None]
"""Draws one curve, bar or band."""

THIN = {"color": "0.4", "lw": 1}
"""Style of formulas that belong to several curves."""
DASHED = {**THIN, "ls": "--"}
HOLLOW = {"ms": 5, "mfc": "none"}


@dataclass
class Panel:
    """Axes with their curves, labels and legend."""

    items: tuple[Item, ...]
    settings: Mapping[str, Any]
    legend: Mapping[str, Any] | None
    ticks: tuple[Sequence[float], Sequence[str]] | None

    def draw(self, axes: Axes) -> None:
        """Draws all curves, then the labels and the legend."""
        for item in self.items:
            item(axes)
        axes.set(**{k: v for k, v in self.settings.items() if k != "title"})
        if "title" in self.settings:
            axes.set_title(self.settings["title"], fontsize="medium")
        if self.ticks is not None:
            axes.set_xticks(*self.ticks)
            axes.minorticks_off()
        if self.legend is not None:
            axes.legend(**{"fontsize": "small", **self.legend})


@dataclass
class Drawing:
    """Panels side by side, or in `rows`."""

    panels: Sequence[Panel]
    size: tuple[float, float] = (7, 3.4)
    rows: int = 1
    share: Mapping[str, bool] = field(default_factory=dict)
    common: tuple[str, str] | None = None
    """Labels of the x and y axes of all panels."""

    def draw(self) -> Figure:
        """Runs what the curves need and returns the figure."""
        figure = Figure(figsize=self.size, layout="constrained")
        grid = figure.subplots(self.rows, len(self.panels) // self.rows, squeeze=False, **self.share)
        for panel, axes in zip(self.panels, grid.flat, strict=True):
            panel.draw(axes)
        if self.common is not None:
            figure.supxlabel(self.common[0], fontsize="medium")
            figure.supylabel(self.common[1], fontsize="medium")
        return figure


def panel(
    xlabel: str,
    ylabel: str,
    *items: Item,
    legend: Mapping[str, Any] | None = {},
    ticks: tuple[Sequence[float], Sequence[str]] | None = None,
    **settings: Any,
) -> Panel:
    """Returns axes with labels; `settings` are those of `Axes.set`."""
    return Panel(items, {"xlabel": xlabel, "ylabel": ylabel, **settings}, legend, ticks)


def one(xlabel: str, ylabel: str, *items: Item, size: tuple[float, float] = (7, 3.4), **settings: Any) -> Drawing:
    """Returns a drawing with one panel."""
    return Drawing([panel(xlabel, ylabel, *items, **settings)], size)


def two(left: Panel, right: Panel, size: tuple[float, float] = (7, 3.4), **share: bool) -> Drawing:
    """Returns a drawing with two panels side by side."""
    return Drawing([left, right], size, share=share)


def curve(
    label: str,
    xs: Sequence[float],
    measured: Measured,
    law: Law | None = None,
    *,
    formula: str | None = None,
    fine: Sequence[float] | None = None,
    line: Mapping[str, Any] | None = None,
    level: float | None = None,
    width: float | None = None,
    fmt: str = "o",
    color: str | None = None,
    **style: Any,
) -> Item:
    """Draws measured values as marks, with error bars if they are intervals.

    `law`: a formula in the same colour, drawn first; with `line` (its style) after the marks.
    `level`: a horizontal line in that colour. `width`: that of the first line.
    """

    def draw(axes: Axes) -> None:
        shade, at = color, fine or xs
        if law is not None and line is None:
            (drawn,) = axes.plot(at, [law(x) for x in at], color=shade, label=f"{label}, formula" if formula is None else formula, lw=width)
            shade = drawn.get_color()
        name = f"{label}, measured" if law is not None and formula is None and line is None else label
        values = [measured(x) for x in xs]
        pairs = [v for v in values if isinstance(v, tuple)]
        if pairs:
            means, half = zip(*pairs, strict=True)
            bars = axes.errorbar(xs, means, half, fmt=fmt, color=shade, label=name, **{"ms": 4, "capsize": 3, **style})
            shade = bars.lines[0].get_color()
        else:
            (marks,) = axes.plot(xs, values, fmt, color=shade, label=name, **{"ms": 4, **style})
            shade = marks.get_color()
        if law is not None and line is not None:
            axes.plot(at, [law(x) for x in at], **{"color": shade, "lw": 1, "label": formula or None, **line})
        if level is not None:
            axes.axhline(level, color=shade, lw=1)

    return draw


def law(label: str | None, xs: Iterable[float], formula: Law, *fmt: str, **style: Any) -> Item:
    """Draws a formula as a line."""
    at = list(xs)
    return lambda axes: axes.plot(at, [formula(x) for x in at], *fmt, label=label, **style) and None


def plot(label: str | None, points: Callable[[], Points], *fmt: str, every: int = 1, **style: Any) -> Item:
    """Draws points that a run gives, such as a series over time."""

    def draw(axes: Axes) -> None:
        xs, ys = points()
        axes.plot(xs[::every], ys[::every], *fmt, label=label, **style)

    return draw


def steps(label: str | None, points: Callable[[], Points], *fmt: str, where: str = "post", **style: Any) -> Item:
    """Draws points as steps."""
    return plot(label, points, *fmt, drawstyle=f"steps-{where}", **style)


def level(y: float, label: str | None = None, **style: Any) -> Item:
    """Draws a horizontal line."""
    return lambda axes: axes.axhline(y, label=label, **{**DASHED, **style}) and None


def mark_at(x: float, label: str | None = None, **style: Any) -> Item:
    """Draws a vertical line."""
    return lambda axes: axes.axvline(x, label=label, **style) and None


def written(x: float, y: float, text: str) -> Item:
    """Writes a small text that ends above a point."""
    return lambda axes: axes.annotate(text, (x, y), fontsize="x-small", ha="right", va="bottom", color="0.4") and None


def note(label: str, **style: Any) -> Item:
    """Adds a line to the legend only."""
    return lambda axes: axes.plot([], [], label=label, **style) and None


def spread(low: float, high: float, steps_: float) -> list[float]:
    """Returns evenly spaced values, both ends included."""
    return [low + k * steps_ for k in range(round((high - low) / steps_) + 1)]
