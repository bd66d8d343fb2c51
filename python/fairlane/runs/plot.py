"""Figures of a result: time series as lines, metrics as bars with intervals."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ..base.format import scale
from ..base.format import seconds as as_seconds
from ..base.metrics import series_of, unit
from ..errors import FairlaneError, UnknownNameError, suggest
from ..look import theme
from .colours import colours
from .curves import AGGREGATES, Curve, curves
from .groups import flows_of, groups_of, members
from .headings import heading
from .tables import SERIES, metric_tables, numeric_columns, series, series_names, series_tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .data import ResultData

MAX_LINES = 12
"""Most links or flows that are drawn by default; above that, flows are drawn as means of their groups."""
KINDS = ("lines", "bars")
_SIZE = (7.0, 3.6)
_LOWER = 2.5
"""Height of each of several panels, inches."""
_WRAP = 26
"""Width of names in a legend or on an axis in characters."""
_TABLES = {
    "flow_series": "over time, of flows",
    "link_series": "over time, of links",
    "flows": "one number per run, of flows",
    "groups": "one number per run, of groups of flows",
    "links": "one number per run, of links",
    "network": "one number per run, of the network",
}


@dataclass(frozen=True)
class PlotRequest:
    """Selection of flows, links and runs for a plot."""

    flow: str | Iterable[str] | None = None
    link: str | Iterable[str] | None = None
    group: str | Iterable[str] | bool | None = None
    aggregate: str = "mean"
    seed: int | str | None = None
    kind: str = ""


def draw(
    result: ResultData,
    what: str | Iterable[str],
    *,
    ax: Axes | Iterable[Axes] | None = None,
    flow: str | Iterable[str] | None = None,
    link: str | Iterable[str] | None = None,
    group: str | Iterable[str] | bool | None = None,
    aggregate: str = "mean",
    seed: int | str | None = None,
    kind: str = "",
    size: tuple[float, float] | None = None,
) -> Figure:
    """Draws the quantities `what`; see `Result.plot`."""
    import matplotlib as mpl

    from ..look.picture import Picture, on_white

    quantities = [what] if isinstance(what, str) else list(what)
    if not quantities:
        raise FairlaneError('name what to draw, such as "queue"')
    request = PlotRequest(flow, link, group, aggregate, seed, kind)
    panels = [_panel(result, q, request) for q in quantities]
    for option, given_it, first in (("flow", flow is not None, "f"), ("group", bool(group), "f"), ("link", link is not None, "l")):
        if given_it and not any(p.table.startswith(first) for p in panels):
            raise FairlaneError(f"{' and '.join(quantities)}: not a quantity of a {option}; leave out {option}=")
    with mpl.rc_context(on_white()):
        if ax is None:
            both = size or (_SIZE if len(panels) == 1 else (_SIZE[0], _LOWER * len(panels)))
            figure: Figure = Picture(figsize=both, layout="constrained")
            shared = all(p.over_time for p in panels)
            given = list(np.ravel(figure.subplots(len(panels), 1, sharex=shared)))
        else:
            given = list(ax) if isinstance(ax, Iterable) else [ax]
            if len(given) != len(panels):
                raise FairlaneError(f"{len(panels)} quantities need {len(panels)} axes, not {len(given)}: give ax a list of them")
            figure = given[0].figure
        for i, (panel, axes) in enumerate(zip(panels, given, strict=True)):
            panel.draw(axes, titled=ax is None and (i == 0 or panel.differs), own=ax is None)
            if ax is None and i < len(panels) - 1 and panels[i + 1].over_time and panel.over_time:
                axes.set_xlabel("")
    return figure


def _what(result: ResultData, what: str, request: PlotRequest) -> tuple[bool, str]:
    """Returns True for a time series, and the table of the quantity."""
    own: set[str] = set()
    if request.flow is not None or request.group:
        own = {"flow_series", "flows"}
    elif request.link is not None:
        own = {"link_series", "links"}
    if request.flow is not None:
        result._having("flows")
    own |= {"groups"} if request.group else set()
    series = sorted(series_tables(result), key=lambda t: t not in own)
    metrics = sorted(metric_tables(result), key=lambda t: t not in own)
    if request.kind and request.kind not in KINDS:
        raise suggest(request.kind, list(KINDS), "kind of picture")
    for table in {"": [*series, *metrics], "lines": series, "bars": metrics}[request.kind]:
        if what in _names(result, table):
            return table in series, table
    if series_of(what) and result.rows_of == "groups" and any(s.table == "flow_series" for s in series_of(what)):
        result._having("flow_series")
    if request.kind != "bars" and series_of(what) and not any(series_names(result, t) for t in series):
        raise FairlaneError(f'no time series of {what}: set sample = "100ms" in the scenario to record one')
    known = {c for t in result._tables for c in _names(result, t)}
    near = str(suggest(what, sorted(known), "quantity to plot")).partition(": ")[2]
    hint = f": {near}" if near.startswith("did you mean") else ""
    raise UnknownNameError(f"unknown quantity to plot {what!r}{hint}\n{_known(result)}")


def _names(result: ResultData, table: str) -> list[str]:
    return numeric_columns(table, series_names(result, table) if table in SERIES else result.table(table).columns)


def _with(result: ResultData, table: str, what: str) -> pl.DataFrame:
    """Returns the table with a quantity; of a series only that column."""
    return series(result, table, what) if table in SERIES else result.table(table)


def _known(result: ResultData) -> str:
    """Lists the quantities by table."""
    lines = []
    for table, words in ((t, words) for t, words in _TABLES.items() if t in result._tables):
        listed = ", ".join(_names(result, table)) or 'none: set sample = "100ms" in the scenario'
        lines.append(textwrap.fill(f"{words}: {listed}", 100, initial_indent="  ", subsequent_indent="    "))
    return "\n".join(lines)


def _panel(result: ResultData, what: str, request: PlotRequest) -> Lines | Bars:
    if request.aggregate not in AGGREGATES:
        raise suggest(request.aggregate, list(AGGREGATES), "aggregate over the flows of a group")
    if request.seed is not None and request.seed != "all" and request.seed not in result.seeds:
        raise suggest(str(request.seed), [*map(str, result.seeds), "all"], "seed")
    over_time, table = _what(result, what, request)
    key = {"f": "flow", "g": "group", "l": "link"}.get(table[0])
    if over_time and not series_names(result, table):
        raise FairlaneError(f"no {key} of this network has a time series of {what}: name the {key} under `{key}s`")
    of = {"network": [""]} if key is None else _members(result, table, what, key, request)
    aggregate = request.aggregate if any(len(names) > 1 for names in of.values()) else ""
    return (Lines if over_time else Bars)(result, what, table, of, aggregate, request.seed)


def _members(result: ResultData, table: str, what: str, key: str, request: PlotRequest) -> dict[str, list[str]]:
    """Returns the name of each curve or bar with its flows or links."""
    if key == "link":
        return {name: [name] for name in _links(_with(result, table, what), what, request.link)}
    if key == "group":
        return groups_of(result, what, None if isinstance(request.group, bool) else request.group)
    groups = members(result)
    if request.group:
        names = list(groups) if request.group is True else [request.group] if isinstance(request.group, str) else list(request.group)
        for name in names:
            if name not in groups:
                raise suggest(name, list(groups), "group of flows")
        return {_counted(name, groups[name], request.aggregate): groups[name] for name in names}
    if request.flow is not None:
        return {name: [name] for name in flows_of(result, request.flow)}
    having = _having(_with(result, table, what), what)
    if len(having) <= MAX_LINES:
        return {name: [name] for name in having}
    kept = {g: [f for f in own if f in set(having)] for g, own in groups.items()}
    return {_counted(g, own, request.aggregate): own for g, own in kept.items() if own}


def _counted(name: str, flows: Sequence[str], aggregate: str) -> str:
    return name if len(flows) == 1 else f"{name} ({aggregate} of {len(flows)} flows)"


def _having(frame: pl.DataFrame, what: str) -> list[str]:
    """Returns the flows that have the quantity: UDP has no window (0 in the table), a bulk flow never completes."""
    present = frame["flow"].unique(maintain_order=True).to_list()
    some = set(frame.filter(pl.col(what).is_finite() & (pl.col(what) != 0))["flow"].unique().to_list())
    return [name for name in present if name in some] or present[:MAX_LINES]


def _links(frame: pl.DataFrame, what: str, names: str | Iterable[str] | None) -> list[str]:
    """Returns the requested links, else those with the largest values."""
    present = frame["link"].unique(maintain_order=True).to_list()
    if names is not None:
        chosen = [names] if isinstance(names, str) else list(names)
        for name in chosen:
            if name not in present:
                raise suggest(name, present, "link")
        return chosen
    top = frame.group_by("link").agg(pl.col(what).cast(pl.Float64).fill_nan(0).mean()).sort(what, "link", descending=[True, False])
    most = max(top[what].drop_nulls(), default=0.0)
    return (top.filter(pl.col(what) > 0.05 * most)["link"].to_list() or top["link"].to_list()[:1])[:MAX_LINES]


@dataclass(frozen=True)
class _Part:
    """Quantity in its axes."""

    result: ResultData
    what: str
    table: str
    of: Mapping[str, Sequence[str]]
    aggregate: str
    seed: int | str | None

    def _named(self, label: str) -> str:
        """Returns the label of an axis, such as "queue (packets)"."""
        name = "packets" if label == "p" else label
        words = heading(self.what)
        return f"{words} ({name})" if name else words


class Lines(_Part):
    """Quantity over time."""

    over_time = True
    differs = False

    def draw(self, axes: Axes, *, titled: bool, own: bool) -> None:
        """Draws the lines, their bands and the warm-up."""
        seeds = self.result.seeds
        shown = seeds if self.seed == "all" else [seeds[0] if self.seed is None else int(self.seed)]
        found = curves(self.result, self.table, self.what, self.of, self.aggregate or "mean", shown)
        factor, label = scale(unit(self.what), _typical(found))
        handles = []
        own_colours = colours(self.result, self.table.partition("_")[0])
        for i, c in enumerate(found):
            number = own_colours.number(c.name, self.of[c.name], i)
            colour, dash = theme.colour(number), theme.dash(number)
            handles += axes.plot(c.times, c.values * factor, dash, color=colour, linewidth=1.1, zorder=3)
            if c.low is not None and c.high is not None:
                axes.fill_between(c.times, c.low * factor, c.high * factor, color=colour, alpha=0.2, linewidth=0, zorder=2)
        span = max((c.span for c in found), default=0.0)
        axes.set_xlabel("time (s)")
        axes.set_ylabel(self._named(label) + (f",\nmeans of {span:.3g} s" if span else ""))
        axes.set_ylim(bottom=0)
        axes.margins(x=0.01)
        axes.grid(axis="x", visible=False)
        warm = self._warmup(axes)
        if titled:
            many = len(seeds)
            runs = "" if many < 2 else f"mean of {many} runs, 95 % interval" if self.seed == "all" else f"seed {shown[0]} of {many}"
            axes.set_title(_title(self.result, runs), pad=16 if warm else None)
        if len(found) > 1 or self.table == "link_series" or self.aggregate:
            _legend(axes, handles, [c.name for c in found], own)

    def _warmup(self, axes: Axes) -> bool:
        """Shades the time that no metric counts."""
        until = as_seconds(self.result.description.get("warmup") or "0s")
        if not until:
            return False
        axes.axvspan(0, until, color=theme.GRID, alpha=0.6, linewidth=0, zorder=0)
        axes.annotate("warm-up", (0, 1), (2, 2), ("data", "axes fraction"), "offset points", fontsize=8, color=theme.MUTED, va="bottom")
        return True


class Bars(_Part):
    """Metric as bars: means with their intervals."""

    over_time = False
    differs = True

    def draw(self, axes: Axes, *, titled: bool, own: bool) -> None:
        """Draws the bars."""
        from .sheets import Groups
        from .tables import intervals

        key = {"flows": "flow", "groups": "group", "links": "link"}.get(self.table, "")
        single = {labels.get(key, ""): per[self.what] for labels, per in intervals(self.result, self.table)}
        rows = [
            (name, single[names[0]] if len(names) == 1 else Groups(self.result).value(names, self.what, self.aggregate))
            for name, names in self.of.items()
        ]
        means = [iv.mean if iv.mean is not None else 0.0 for _, iv in rows]
        factor, label = scale(unit(self.what), max(map(abs, means), default=0.0))
        several = len(self.result.seeds) > 1
        errors = [[iv.errors[side] * factor for _, iv in rows] for side in (0, 1)] if several else None
        heights, names = [m * factor for m in means], [textwrap.fill(name, _WRAP) for name, _ in rows]
        own_colours = colours(self.result, key)
        shades = [theme.colour(own_colours.number(name, self.of[name])) for name, _ in rows]
        look: dict[str, Any] = {"ecolor": theme.INK, "color": shades, "capsize": 3}
        if len(rows) > 6 or max(map(len, names), default=0) > 12:  # names side by side would touch
            axes.barh(range(len(rows)), heights, xerr=errors, height=0.7, **look)
            axes.set_yticks(range(len(rows)), names)
            axes.set_ylim(len(rows) - 0.4, -0.6)
            axes.grid(axis="y", visible=False)
            axes.set_xlabel(self._named(label))
        else:
            axes.bar(range(len(rows)), heights, yerr=errors, width=0.7 if len(rows) > 2 else 0.3 * len(rows), **look)
            axes.set_xlim(-0.7, len(rows) - 0.3)
            axes.set_xticks(range(len(rows)), names)
            axes.grid(axis="x", visible=False)
            axes.set_ylabel(self._named(label))
        if titled:
            runs = f"mean of {len(self.result.seeds)} runs, 95 % interval" if several else ""
            axes.set_title(_title(self.result, runs))


def _legend(axes: Axes, handles: Sequence[Any], names: Sequence[str], own: bool) -> None:
    """Draws the legend next to our own axes, or inside axes of the caller."""
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
    if not own:
        place = {"loc": "best", "framealpha": 0.8}
    # matplotlib omits labels that begin with an underscore.
    labels = [textwrap.fill(f"\u200b{n}" if n.startswith("_") else n, _WRAP) for n in names]
    axes.legend(handles, labels, fontsize="small", frameon=not own, ncols=1 + len(names) // 16, **place)


def _typical(found: Sequence[Curve]) -> float:
    values = np.abs(np.concatenate([c.values for c in found])) if found else np.array([])
    values = values[np.isfinite(values)]
    return float(np.quantile(values, 0.9)) if len(values) else 0.0


def _title(result: ResultData, extra: str) -> str:
    name = textwrap.shorten(result.description.get("name") or "", 60, placeholder="…")
    return f"{name} ({extra})" if name and extra else name or extra
