"""Two pictures of a claim over settings: the specification curve, and the map of where it changes.

The curve (Simonsohn, Simmons and Nelson, Nature Human Behaviour 4, 2020) has the settings in the order of the claim's margin, and below
them the value of each parameter: a parameter that matters is sorted, one that does not is scattered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.format import scale
from ..base.literals import kind
from ..look.theme import HUES, INK, MUTED
from ..multiverse import Levels, Open, Value
from ..multiverse.charts import Outcomes
from ..multiverse.model import text_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HOLDS, FAILS = HUES[0], HUES[1]
MOST_MARKS = 200
"""Settings that have marks below the curve; of more, every so many-th in order."""
MOST_ROWS = 5
"""Parameters shown below the curve, largest effect first."""
_HIGH = 0.42
"""Height of such a row, inches."""
_CURVE = 1.5
_LONGEST = 16
_Numbers = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Curve:
    """The specification curve."""

    of: Outcomes

    @property
    def _rows(self) -> list[Open]:
        return self.of.ranked()[:MOST_ROWS]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, inches."""
        left, bottom, right, top = self.margins
        return (left + 4.6 + right, bottom + _CURVE + top)

    @property
    def margins(self) -> tuple[float, float, float, float]:
        """Left, bottom, right, top, inches: the rows of choices stand below the curve."""
        ends = [len(_short(text)) for o in self._rows for text in _ends(o)]
        names = [len(_short(o.name)) for o in self._rows]
        return (0.55 + 0.07 * max(names, default=0), 0.34 + _HIGH * len(names), 0.2 + 0.07 * max(ends, default=0), 0.12)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the curve, and the choices below it."""
        order = self.of.known()
        x: _Numbers = np.arange(1, len(order) + 1, dtype=np.float64)
        y = np.array([self.of.margins[i] for i in order], dtype=float)
        true = np.array([bool(self.of.holds[i]) for i in order], dtype=bool)
        for side, colour in ((true, HOLDS), (~true, FAILS)):
            ax.fill_between(x, 0, np.where(side, y, np.nan), color=colour, alpha=0.25, lw=0, step="mid")
            ax.plot(x, np.where(side, y, np.nan), color=colour, lw=1.8, drawstyle="steps-mid", solid_capstyle="butt")
        ax.axhline(0, color=INK, lw=0.8)
        ax.set_xlim(0.5, max(len(order), 1) + 0.5)
        ax.set_ylabel("margin")
        ax.grid(axis="x", visible=False)
        ax.tick_params(length=3)
        ax.tick_params(axis="x", labelbottom=False, length=0)
        beside = ax.get_yaxis_transform()  # x as a share of the width, y as a margin
        for text, colour, at, align, up in (("fails", FAILS, 0.01, "left", "bottom"), ("holds", HOLDS, 0.99, "right", "bottom")):
            if (text == "holds") in true.tolist():
                ax.text(at, 0, f" {text} ", transform=beside, color=colour, weight="bold", ha=align, va=up)
        every = -(-len(order) // MOST_MARKS) or 1
        for k, o in enumerate(self._rows):
            self._row(ax, o, k, order[::every], x[::every], true[::every])
        below = -(0.06 + _HIGH * len(self._rows) + 0.1) / _CURVE
        shown = f"{len(order)} settings in the order of the margin" + (f"; marks for one in {every}" if every > 1 else "")
        ax.text(0.5, below, shown, transform=ax.transAxes, ha="center", va="top", color=MUTED)

    def _row(self, ax: Axes, o: Open, k: int, order: Sequence[int], x: _Numbers, true: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        """One parameter: a mark for each setting, high where its value is high."""
        places = np.array([o.over.place(self.of.settings[i][o.name]) for i in order])
        bottom = -(0.06 + _HIGH * (k + 1)) / _CURVE
        row = ax.inset_axes((0, bottom, 1, (_HIGH - 0.08) / _CURVE))
        for side, colour in ((true, HOLDS), (~true, FAILS)):
            row.plot(x[side], places[side], ".", color=colour, ms=3.2, mew=0)
        row.set_xlim(ax.get_xlim())
        row.set_ylim(-0.1, 1.1)
        row.grid(visible=False)
        row.tick_params(length=0, labelbottom=False)
        row.set_xticks([])
        row.spines["bottom"].set_visible(False)
        row.spines["left"].set_visible(False)
        row.set_yticks([0.5], [_short(o.name)])
        low, high = (_short(text) for text in _ends(o))
        for text, at in ((low, 0.1), (high, 0.9)):
            row.text(1.01, at, text, transform=row.transAxes, color=MUTED, fontsize=7.5, va="center")


@dataclass(frozen=True)
class Map:
    """Where a claim holds, over the two parameters with the largest effect; with one parameter, over it and the margin."""

    of: Outcomes

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, inches."""
        left, bottom, right, top = self.margins
        return (left + 3.0 + right, bottom + 2.3 + top)

    @property
    def margins(self) -> tuple[float, float, float, float]:
        """Left, bottom, right, top, inches."""
        second = self.of.ranked()[1:2]
        ticks = max((len(_short(text_of(v))) for o in second if isinstance(o.over, Levels) for v in o.over.values), default=0)
        return (0.72 + max(0.0, 0.07 * (ticks - 4)), 0.46, 0.2, 0.36)

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws a mark for each setting, and a line where the claim changes."""
        order = self.of.known()
        axes = self.of.ranked()[:2]
        x = _Axis(axes[0], [self.of.settings[i][axes[0].name] for i in order])
        y = _Axis(axes[1], [self.of.settings[i][axes[1].name] for i in order]) if len(axes) > 1 else None
        ys = y.numbers if y is not None else np.array([self.of.margins[i] for i in order], dtype=float)
        true = np.array([bool(self.of.holds[i]) for i in order], dtype=bool)
        ax.plot(x.numbers[true], ys[true], "o", color=HOLDS, ms=3.6, mew=0, alpha=0.85)
        ax.plot(x.numbers[~true], ys[~true], "x", color=FAILS, ms=4.2, mew=1.2)
        x.label(ax, "x")
        if y is not None:
            y.label(ax, "y")
        else:
            ax.set_ylabel("margin")
        for boundary in self.of.boundaries:
            if boundary.where or boundary.side == "with" or not isinstance(boundary.value, str):
                continue
            for axis, line in ((x, ax.axvline), (y, ax.axhline)):
                if axis is not None and axis.open.name == boundary.name:
                    line(axis.open.number(boundary.value) * axis.factor, color=INK, lw=1, ls="--")
        ax.tick_params(length=3)
        for text, colour, at, align in (("● holds", HOLDS, 0.0, "left"), ("× fails", FAILS, 1.0, "right")):
            if (colour == HOLDS) in true.tolist():
                ax.text(at, 1.03, text, transform=ax.transAxes, color=colour, weight="bold", ha=align, va="bottom")


class _Axis:
    """A parameter as an axis."""

    def __init__(self, o: Open, values: Sequence[Value]) -> None:
        self.open = o
        self.numbers: _Numbers = np.array([o.number(v) for v in values], dtype=float)
        self.factor, self.unit = 1.0, ""
        if isinstance(o.over, Levels):
            # Side by side within a level, in the order of the sample.
            spread = np.linspace(-0.3, 0.3, 13)
            self.numbers = self.numbers + spread[(5 * np.arange(len(values))) % len(spread)]
        else:
            unit = {"byte": "byte", "packets": "packets", "1": ""}.get(kind(o.over.unit), kind(o.over.unit))
            self.factor, self.unit = scale(unit, float(np.median(np.abs(self.numbers)))) if len(values) and unit else (1.0, unit)
            self.numbers = self.numbers * self.factor

    def label(self, ax: Axes, axis: str) -> None:
        """Name, unit, scale and ticks."""
        name = f"{self.open.name} ({self.unit})" if self.unit else self.open.name
        ax.set(**{f"{axis}label": name})
        if isinstance(self.open.over, Levels):
            texts = [_short(text_of(v)) for v in self.open.over.values]
            ax.set(**{f"{axis}ticks": range(len(texts)), f"{axis}ticklabels": texts, f"{axis}lim": (-0.5, len(texts) - 0.5)})
        elif self.open.over.scale == "log":
            from matplotlib.ticker import FuncFormatter, LogLocator

            ax.set(**{f"{axis}scale": "log"})
            own = ax.xaxis if axis == "x" else ax.yaxis
            own.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
            own.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
            ax.minorticks_off()


def _ends(o: Open) -> tuple[str, str]:
    """The least and the greatest value, as written; of choices the first and the last."""
    if isinstance(o.over, Levels):
        return text_of(o.over.values[0]), text_of(o.over.values[-1])
    return text_of(o.over.low), text_of(o.over.high)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
