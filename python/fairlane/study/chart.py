"""One panel of a study's picture: lines, bars, a scatter, a heatmap, boxes or distribution functions, with the intervals that tables have.

What is neither on an axis nor a colour nor a panel is averaged over within each seed, so that every interval is one over
independent replications.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from ..base.format import scale
from ..look import theme
from ..look.charts import end_labels
from ..runs.selection import within_of
from ..stats import ANY, Interval, Range, interval
from . import frames, labels
from .model import Factor, Label, PlotSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .tables import StudyTables

_MOST_BARS = 14
"""Levels with an error bar each; more get a band."""
_LOG_RATIO = 4.0
"""Levels in a geometric series that span more than this stand on a logarithmic axis."""
_MOST_NUMBERS = 150
"""Fields of a heatmap that have their number in them."""
_MARKS = ("o", "s", "D", "^", "v")
_LONGEST = 26
"""Letters of a label next to a picture."""


def numeric(factor: Factor) -> bool:
    """Returns true if the labels of a factor are numbers."""
    return frames.levels_dtype(factor).is_numeric()


@dataclass(frozen=True)
class _Scale:
    """A metric on an axis: its factor and its unit."""

    factor: float
    label: str


def _metric_scale(result: StudyTables, metric: str) -> _Scale:
    s = result.metric(metric)
    if s.metric in labels.PERCENT and s.aggregate != "sum":
        return _Scale(100.0, f"{labels.metric(s)} (%)")
    # One prefix for all panels: that of the typical value of the whole study.
    typical = result._runs[s.label].abs().quantile(0.9)
    factor, name = scale(result.unit(s.label), float(typical or 0.0))
    name = "packets" if name == "p" else name
    return _Scale(factor, f"{labels.metric(s)} ({name})" if name else labels.metric(s))


def _within(result: StudyTables, name: str) -> Range:
    """The possible values of a metric or of a factor's levels."""
    return ANY if name in result.factors else within_of(result.metric(name))


def _errors(ivs: Sequence[Interval], factor: float) -> list[list[float]]:
    """How far intervals reach below and above their means, in the unit of an axis."""
    return [[factor * iv.errors[side] for iv in ivs] for side in (0, 1)]


def _factor_scale(factor: Factor) -> _Scale:
    labels = [abs(float(x.label)) for x in factor.levels]
    factor_, name = scale(factor.unit, sorted(labels)[len(labels) // 2] or max(labels)) if factor.unit else (1.0, "")
    return _Scale(factor_, f"{factor.name} ({name})" if name else factor.name)


def _geometric(xs: Sequence[float]) -> bool:
    """Returns true if levels are spaced by factors rather than by steps.

    >>> _geometric([1, 10, 100]), _geometric([1, 2, 5, 10, 20]), _geometric([10, 20, 30, 40, 50]), _geometric([1, 5])
    (True, True, False, False)
    """
    own = sorted(set(xs))
    if len(own) < 3 or own[0] <= 0 or own[-1] < _LOG_RATIO * own[0]:
        return False
    steps = [b - a for a, b in itertools.pairwise(own)]
    ratios = [math.log(b / a) for a, b in itertools.pairwise(own)]
    return max(ratios) / min(ratios) < max(steps) / min(steps)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


@dataclass(frozen=True)
class Chart:
    """One panel of a picture."""

    result: StudyTables
    plot: PlotSpec
    """With full names, see `panels`."""
    only: Label | None = None
    """The level of the panel's factor."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, inches."""
        left, bottom, right, top = self.margins
        high = 2.1
        if self.plot.kind == "heatmap":
            high = max(0.8, min(0.34 * len(self._levels(self.plot.by)), 4.0))
        return (left + self._width() + right, bottom + high + top)

    def _width(self) -> float:
        """Width of the axes: names of levels stand side by side while there is room."""
        if not self._categories():
            return 3.2
        names, colours = 0.075 * self._longest_tick() + 0.12, 0.2 * len(self._by_levels())
        least = 0.62 if self.plot.kind == "heatmap" else max(0.42, 0.12 + colours if self.plot.kind in ("bar", "box") else 0.0)
        return max(1.6 if self.plot.kind == "heatmap" else 2.6, min(max(least, names) * len(self._x_levels()), 6.0))

    @property
    def margins(self) -> tuple[float, float, float, float]:
        """Left, bottom, right, top, inches: names of curves stand on the right, names of levels that are too long aslant at the bottom."""
        right, left = 0.25, 0.72
        names = self._names() if self.plot.kind != "heatmap" else []
        if names:
            longest = max(len(_short(n)) for n in names)
            # A legend has marks before its names, and a title.
            right = 0.3 + 0.078 * longest if self.plot.kind == "line" else 0.55 + 0.078 * max(longest, len(self.plot.by) - 5)
        if self.plot.kind == "heatmap":
            left = 0.6 + 0.075 * max(len(_short(labels.level(self.result.factor(self.plot.by), x))) for x in self._levels(self.plot.by))
            right = 0.2 if self._numbers() else 0.75
        titled = self.plot.title or self.plot.panel or self.plot.kind == "heatmap"
        return (left, 0.46 + (0.045 * self._longest_tick() if self._aslant() else 0.0), right, 0.3 if titled else 0.12)

    def _numbers(self) -> bool:
        """True if each field of a heatmap shows its number; otherwise a colour bar explains the colours."""
        return len(self._levels(self.plot.x)) * len(self._levels(self.plot.by)) <= _MOST_NUMBERS

    def _categories(self) -> bool:
        return self.plot.kind in ("bar", "box", "heatmap") or (self.plot.kind == "line" and not numeric(self.result.factor(self.plot.x)))

    def _longest_tick(self) -> int:
        return max((len(_short(labels.level(self.result.factor(self.plot.x), x))) for x in self._x_levels()), default=0)

    def _aslant(self) -> bool:
        return self._categories() and (0.075 * self._longest_tick() + 0.08) * len(self._x_levels()) > self._width()

    # --- data -------------------------------------------------------------------------------------------

    def _levels(self, name: str) -> list[Label]:
        f = self.result.factor(name)
        dtype = frames.levels_dtype(f)
        return [frames.label_value(level.label, dtype) for level in f.levels]

    def _x_levels(self) -> list[Label]:
        return self._levels(self.plot.x) if self.plot.x and self.plot.kind != "scatter" else []

    def _by_levels(self) -> list[Label | None]:
        return list(self._levels(self.plot.by)) if self.plot.by else [None]

    def _names(self) -> list[str]:
        """Names in the colour legend."""
        if not self.plot.by:
            return []
        f = self.result.factor(self.plot.by)
        return [labels.level(f, x) for x in self._levels(self.plot.by)]

    def _runs(self) -> pl.DataFrame:
        frame = self.result._runs
        if self.plot.panel and self.only is not None:
            f = self.result.factor(self.plot.panel)
            frame = frame.filter(pl.col(f.name) == frames.label_value(self.only, frames.levels_dtype(f)))
        return frame

    def _intervals(self, keys: Sequence[str], metric: str) -> dict[tuple[Any, ...], Interval]:
        """The mean and interval at each combination of levels, over the seeds."""
        per_seed = (
            self._runs()
            .drop_nulls(metric)
            .group_by([*keys, "seed"], maintain_order=True)
            .agg(pl.col(metric).mean(), pl.len().alias("_combinations"))
        )
        # A seed that lacks one of the combinations would be an average of something else.
        per_seed = per_seed.filter(
            pl.col("_combinations") == (pl.col("_combinations").max().over(keys) if keys else pl.col("_combinations").max())
        )
        out: dict[tuple[Any, ...], Interval] = {}
        of = _within(self.result, metric)
        for key, part in per_seed.group_by(list(keys), maintain_order=True) if keys else [((), per_seed)]:
            out[tuple(key)] = interval(part[metric].to_list(), self.result.spec.confidence, of)
        return out

    def _keys(self) -> list[str]:
        return [n for n in (self.plot.x if self.plot.kind != "scatter" else "", self.plot.by) if n]

    # --- drawing ----------------------------------------------------------------------------------------

    def draw(self, figure: Figure, ax: Axes) -> None:
        """Draws the panel."""
        title = self.plot.title
        if self.only is not None:
            f = self.result.factor(self.plot.panel)
            title = f"{f.name} {labels.level(f, self.only)}"
        ax.set_title(title)
        getattr(self, f"_{self.plot.kind}")(figure, ax)
        ax.minorticks_off()
        ax.tick_params(length=3)

    def _y_axis(self, ax: Axes, values: Sequence[float], *, zero: bool = False) -> None:
        if "y" in self.plot.log and all(v > 0 for v in values):
            ax.set_yscale("log")
            _plain(ax.yaxis)
            return
        low, high = min(values, default=0.0), max(values, default=1.0)
        if low < 0:
            ax.margins(y=0.08)
        elif zero or low <= 0.45 * high:
            ax.set_ylim(0, high * 1.06 or 1.0)
        else:
            room = (high - low) or 0.1 * high
            ax.set_ylim(low - 0.1 * room, high + 0.1 * room)

    def _of_all_panels(self) -> list[Interval]:
        """Returns the intervals shown in all panels, which share their scales."""
        keys = [*self._keys(), *([self.plot.panel] if self.plot.panel else [])]
        return list(Chart(self.result, self.plot)._intervals(keys, self.plot.y).values())

    def _all_values(self, s: _Scale) -> list[float]:
        """Returns all values that the shared y axis has to cover."""
        return [v * s.factor for iv in self._of_all_panels() for v in (iv.low, iv.mean, iv.high) if v is not None]

    def _category_ticks(self, ax: Axes, positions: Sequence[float]) -> None:
        f = self.result.factor(self.plot.x)
        names = [_short(labels.level(f, x)) for x in self._x_levels()]
        aslant = self._aslant()
        # Aslant, each name takes the height of its letters.
        every = max(1, math.ceil(0.3 * len(names) / self._width())) if aslant else 1
        positions, names = list(positions)[::every], names[::every]
        ax.set_xticks(positions, names, rotation=30 if aslant else 0, ha="right" if aslant else "center", rotation_mode="anchor")
        ax.set_xlabel("" if aslant else f.name)
        ax.grid(axis="x", visible=False)

    def _line(self, figure: Figure, ax: Axes) -> None:
        f, s = self.result.factor(self.plot.x), _metric_scale(self.result, self.plot.y)
        found = self._intervals(self._keys(), self.plot.y)
        levels = self._x_levels()
        numbers = numeric(f)
        across = _factor_scale(f) if numbers else _Scale(1.0, f.name)
        xs = [float(x) * across.factor for x in levels] if numbers else [float(i) for i in range(len(levels))]
        ends = []
        for i, (by, name) in enumerate(zip(self._by_levels(), self._names() or [""], strict=True)):
            rows = []
            for x, level in zip(xs, levels, strict=True):
                iv = found.get((level,) if by is None else (level, by))
                if iv is not None and iv.mean is not None:
                    rows.append((x, iv))
            rows.sort(key=lambda r: r[0])
            if not rows:
                continue
            at = [x for x, _ in rows]
            means = [(iv.mean or 0.0) * s.factor for _, iv in rows]
            lows = [(iv.low if iv.low is not None else iv.mean or 0.0) * s.factor for _, iv in rows]
            highs = [(iv.high if iv.high is not None else iv.mean or 0.0) * s.factor for _, iv in rows]
            ax.plot(at, means, theme.dash(i), color=theme.colour(i), lw=1.6, zorder=3)
            if len(levels) <= _MOST_BARS:
                below = [max(0.0, m - low) for m, low in zip(means, lows, strict=True)]
                above = [max(0.0, high - m) for m, high in zip(means, highs, strict=True)]
                mark = _MARKS[i % len(_MARKS)]
                ax.errorbar(at, means, [below, above], fmt=mark, ms=4.2, capsize=2.4, lw=1.1, color=theme.colour(i), zorder=4)
            else:
                ax.fill_between(at, lows, highs, color=theme.colour(i), alpha=0.2, lw=0, zorder=2)
            if name:
                ends.append(((at[-1], means[-1]), _short(name), theme.colour(i)))
        if numbers and min(xs) > 0 and ("x" in self.plot.log or _geometric(xs)):
            ax.set_xscale("log")
            _plain(ax.xaxis)
        if not numbers:
            self._category_ticks(ax, xs)
            ax.set_xlim(-0.4, len(xs) - 0.6)
        else:
            if len(xs) <= 7:
                ax.set_xticks(xs, [f"{x:.4g}" for x in xs])
            ax.set_xlabel(across.label)
            ax.margins(x=0.04)
        ax.set_ylabel(s.label)
        self._y_axis(ax, self._all_values(s))
        end_labels(figure, ax, ends)

    def _bar(self, figure: Figure, ax: Axes) -> None:
        s = _metric_scale(self.result, self.plot.y)
        found = self._intervals(self._keys(), self.plot.y)
        levels, by = self._x_levels(), self._by_levels()
        width = 0.8 / len(by)
        for k, (colour, name) in enumerate(zip(by, self._names() or [""], strict=True)):
            rows = [(i, iv) for i, x in enumerate(levels) if (iv := found.get((x,) if colour is None else (x, colour))) is not None]
            rows = [(i, iv) for i, iv in rows if iv.mean is not None]
            at = [i - 0.4 + (k + 0.5) * width for i, _ in rows]
            means = [(iv.mean or 0.0) * s.factor for _, iv in rows]
            half = _errors([iv for _, iv in rows], s.factor)
            alpha = 0.85 if k < len(theme.HUES) else 0.5
            ax.bar(at, means, width * 0.92, color=theme.colour(k), alpha=alpha, label=_short(name), zorder=2)
            ax.errorbar(at, means, half, fmt="none", ecolor=theme.INK, capsize=2.4, lw=1.1, zorder=3)
        self._category_ticks(ax, range(len(levels)))
        ax.set_xlim(-0.6, len(levels) - 0.4)
        ax.set_ylabel(s.label)
        self._y_axis(ax, self._all_values(s), zero=True)
        self._legend(ax)

    def _legend(self, ax: Axes) -> None:
        if self.plot.by:
            ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), frameon=False, title=self.plot.by, alignment="left", handlelength=1.2)

    def _scatter(self, figure: Figure, ax: Axes) -> None:
        r, x, y = self.result, self.plot.x, self.plot.y
        sx = _factor_scale(r.factor(x)) if x in r.factors else _metric_scale(r, x)
        sy = _metric_scale(r, y)
        frame = self._runs().drop_nulls([x, y])
        for i, (by, name) in enumerate(zip(self._by_levels(), self._names() or [""], strict=True)):
            own = frame if by is None else frame.filter(pl.col(self.plot.by) == by)
            if own.is_empty():
                continue
            mark, colour = _MARKS[i % len(_MARKS)], theme.colour(i)
            ax.plot(own[x] * sx.factor, own[y] * sy.factor, ".", ms=3, color=colour, alpha=0.35, mew=0, zorder=2)
            parts = [part for _, part in own.group_by(["combination"], maintain_order=True)]
            across, up = ([interval(p[m].to_list(), r.spec.confidence, _within(r, m)) for p in parts] for m in (x, y))
            at = [(iv.mean or 0.0) * sx.factor for iv in across], [(iv.mean or 0.0) * sy.factor for iv in up]
            half = _errors(up, sy.factor), _errors(across, sx.factor)
            ax.errorbar(*at, *half, fmt=mark, ms=4.6, capsize=2, lw=1.0, color=colour, label=_short(name), zorder=3)
        for axis, letter, column in ((ax.xaxis, "x", x), (ax.yaxis, "y", y)):
            if letter in self.plot.log and frame.height and float(frame[column].min() or 0) > 0:  # type: ignore[arg-type]
                (ax.set_xscale if letter == "x" else ax.set_yscale)("log")
                _plain(axis)
        ax.set_xlabel(sx.label)
        ax.set_ylabel(sy.label)
        ax.margins(0.06)
        self._legend(ax)

    def _heatmap(self, figure: Figure, ax: Axes) -> None:
        s = _metric_scale(self.result, self.plot.y)
        found = self._intervals(self._keys(), self.plot.y)
        across, down = self._x_levels(), self._levels(self.plot.by)
        grid = [[math.nan if (iv := found.get((x, y))) is None or iv.mean is None else iv.mean * s.factor for x in across] for y in down]
        ends = [iv.mean * s.factor for iv in self._of_all_panels() if iv.mean is not None]
        low, high = min(ends, default=0.0), max(ends, default=1.0)
        mesh = ax.pcolormesh(grid, cmap="viridis", vmin=low, vmax=high if high > low else low + 1, edgecolors="face", linewidth=0.4)
        if self._numbers():
            share: Any = mesh.norm  # of a number; the stubs know arrays alone
            for j, row in enumerate(grid):
                for i, v in enumerate(row):
                    if math.isfinite(v):
                        red, green, blue, _ = mesh.cmap(share(v))
                        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
                        ax.text(i + 0.5, j + 0.5, _digits(v), ha="center", va="center", fontsize=8, color="#ffffff" if dark else "#000000")
        else:
            bar = figure.colorbar(mesh, cax=ax.inset_axes((1.02, 0.0, 0.1 / self._width(), 1.0)))
            bar.outline.set_visible(False)
            bar.ax.tick_params(length=3)
        f = self.result.factor(self.plot.by)
        ax.set_yticks([j + 0.5 for j in range(len(down))], [_short(labels.level(f, y)) for y in down])
        self._category_ticks(ax, [i + 0.5 for i in range(len(across))])
        if not numeric(f):
            ax.invert_yaxis()  # words read from the top
        ax.set_ylabel(f.name)
        ax.grid(visible=False)
        for side in ("left", "bottom"):
            ax.spines[side].set_visible(False)
        words_ = ", ".join(x for x in (ax.get_title(loc="left"), s.label) if x)
        ax.set_title(words_)

    def _box(self, figure: Figure, ax: Axes) -> None:
        s = _metric_scale(self.result, self.plot.y)
        frame = self._runs().drop_nulls(self.plot.y)
        levels, by = self._x_levels(), self._by_levels()
        width = 0.8 / len(by)
        for k, colour in enumerate(by):
            own = frame if colour is None else frame.filter(pl.col(self.plot.by) == colour)
            data = [(own.filter(pl.col(self.plot.x) == x)[self.plot.y] * s.factor).to_list() for x in levels]
            ink = {"color": theme.colour(k), "lw": 1.1}
            at = [i - 0.4 + (k + 0.5) * width for i in range(len(levels))]
            dots = {"marker": ".", "ms": 4, "mfc": theme.colour(k), "mec": "none"}
            look: dict[str, Any] = {name: ink for name in ("boxprops", "whiskerprops", "capprops")}
            look |= {"medianprops": {**ink, "lw": 2}, "flierprops": dots}
            ax.boxplot(data, positions=at, widths=width * 0.8, manage_ticks=False, **look)
            if colour is not None:
                ax.plot([], [], color=theme.colour(k), lw=2, label=_short(self._names()[k]))
        self._category_ticks(ax, range(len(levels)))
        ax.set_xlim(-0.6, len(levels) - 0.4)
        ax.set_ylabel(s.label)
        self._y_axis(ax, (self.result._runs[self.plot.y].drop_nulls() * s.factor).to_list())
        self._legend(ax)

    def _ecdf(self, figure: Figure, ax: Axes) -> None:
        s = _metric_scale(self.result, self.plot.y)
        frame = self._runs().drop_nulls(self.plot.y)
        for i, (by, name) in enumerate(zip(self._by_levels(), self._names() or [""], strict=True)):
            own = frame if by is None else frame.filter(pl.col(self.plot.by) == by)
            if own.is_empty():
                continue
            ax.ecdf((own[self.plot.y] * s.factor).to_numpy(), color=theme.colour(i), ls=theme.dash(i), lw=1.5, label=_short(name))
        values = (self.result._runs[self.plot.y].drop_nulls() * s.factor).to_list()
        if "x" in self.plot.log and values and min(values) > 0:
            ax.set_xscale("log")
            _plain(ax.xaxis)
        ax.set_xlabel(s.label)
        ax.set_ylabel("share of runs")
        ax.set_ylim(0, 1.02)
        ax.margins(x=0.04)
        self._legend(ax)


def _digits(v: float) -> str:
    """Three significant digits, without exponents where people would not use them."""
    return f"{v:.0f}" if 100 <= abs(v) < 1e6 else f"{v:.3g}"


def _plain(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    axis.set_minor_formatter(NullFormatter())
