"""Plot of a time series or metric for several results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ...base.format import scale
from ...base.metrics import metrics, series_of, unit, within
from ...errors import FairlaneError, UnknownNameError
from ...stats import interval
from ..curves import Curve, curves
from ..groups import groups_of
from ..headings import heading
from ..tables import SERIES, missing_table, numeric_columns, series_names
from . import KINDS, SAMPLE, Kind
from .formula_curves import levels
from .pen import Pen, named
from .view import View

if TYPE_CHECKING:
    from ..data import ResultData

_THEORY = {
    "cwnd": ("bdp", "fair"),
    "in_flight": ("bdp", "fair"),
    "srtt": ("rtt", "full"),
    "rtt_mean": ("rtt", "full"),
    "throughput": ("capacity", "fair"),
    "goodput": ("capacity", "fair"),
    "queue_bytes": ("bdp",),
    "delay_mean": ("delay",),
}
MOST_ROWS = 40


def kind_of(results: Sequence[ResultData], name: str, *, link: bool) -> Kind:
    """Returns the kind of plot for a quantity; an error with a suggestion if no result has it."""
    order = ["link_series", "flow_series", "links", "flows"] if link else ["flow_series", "link_series", "flows", "links"]
    order.insert(order.index("flows") + 1, "groups")
    found: set[str] = set()
    for table in [*order, "network"]:
        for r in (r for r in results if not missing_table(table, r.rows_of)):
            columns = numeric_columns(table, series_names(r, table) if table in SERIES else r.table(table).columns)
            found.update(columns)
            if name in columns:
                over = table.endswith("_series")
                theory = () if table == "groups" else _THEORY.get(name, ())
                return Kind(name, f"{name} {'over time' if over else 'of each'}", f"quantity:{table}", theory, sample=over)
    if lacking := next((why for r in results for t in order if (why := missing_table(t, r.rows_of)) and _is_of_flows(name)), ""):
        raise UnknownNameError(lacking)
    if series_of(name):
        raise FairlaneError(f"no time series of {name}: set {SAMPLE}")
    from difflib import get_close_matches

    # In groups.tcp.goodput, as studies write it, the quantity is the last word.
    near = get_close_matches(name.rpartition(".")[2], [*KINDS, *sorted(found)], 1, 0.6)
    hint = f": did you mean {near[0]!r}?" if near else ""
    raise UnknownNameError(f"{name!r} is not a kind of plot or a quantity of these results{hint} (see fairlane plot --list)")


def _is_of_flows(name: str) -> bool:
    return any(m.name == name and m.table == "flows" for m in metrics()) or any(s.table == "flow_series" for s in series_of(name))


def flow_series(pen: Pen, views: Sequence[View]) -> None:
    """Draws a time series of flows."""
    _series(pen, views, "flow_series")


def link_series(pen: Pen, views: Sequence[View]) -> None:
    """Draws a time series of links."""
    _series(pen, views, "link_series")


def _series(pen: Pen, views: Sequence[View], table: str) -> None:
    what = views[0].wish.kind.name
    found: list[tuple[str, Curve]] = []
    for v in views:
        frame = v.series(table, what)
        if what not in frame.columns:
            raise FairlaneError(f"{v.label or 'this result'} has no time series of {what}")
        of = v.curves(what) if table == "flow_series" else {n: [n] for n in v.links(what)}
        drawn = curves(v.result, table, what, of, "mean", v.seeds, frame)
        found += [(v.called(c.name, len(of)), c) for c in drawn]
    values = np.abs(np.concatenate([c.values for _, c in found])) if found else np.zeros(0)
    values = values[np.isfinite(values)]
    factor, shown = scale(unit(what), float(np.quantile(values, 0.9)) if len(values) else 0.0)
    for name, c in found:
        own = pen.next(name)
        pen.line(name, c.times, c.values * factor, own)
        if c.low is not None and c.high is not None:
            pen.band(name, c.times, c.low * factor, c.high * factor, own)
    span = max((c.span for _, c in found), default=0.0)
    pen.label(("time", "s"), (heading(what), "packets" if shown == "p" else shown), f",\nmeans of {span:.3g} s" if span else "")
    pen.ax.set_ylim(bottom=0)
    pen.over_time(views)
    units = {n: (unit(what) if n in ("fair", "bdp") else _unit(n), factor) for n in views[0].wish.kind.theory}
    levels(pen, views, units)


def _unit(theory: str) -> str:
    return {"rtt": "s", "full": "s", "delay": "s", "bdp": "byte"}.get(theory, "bit/s")


def flows(pen: Pen, views: Sequence[View]) -> None:
    """Draws a metric of flows."""
    _numbers(pen, views, "flows")


def groups(pen: Pen, views: Sequence[View]) -> None:
    """Draws a metric of groups of flows."""
    _numbers(pen, views, "groups")


def links(pen: Pen, views: Sequence[View]) -> None:
    """Draws a metric of links."""
    _numbers(pen, views, "links")


def network(pen: Pen, views: Sequence[View]) -> None:
    """Draws a metric of the whole network."""
    _numbers(pen, views, "network")


def _rows(v: View, table: str, what: str) -> dict[str, list[str]]:
    """Returns the names of rows with their flows, groups or links."""
    if table == "flows":
        return v.curves()
    if table == "groups":
        return groups_of(v.result, what, v.wish.flow)
    return {n: [n] for n in (v.links(what) if table == "links" else [""])}


def _numbers(pen: Pen, views: Sequence[View], table: str) -> None:
    """Draws a row per result and flow, link or group: the mean over all runs with its interval."""
    what = views[0].wish.kind.name
    rows = []
    for v in views:
        seeds = v.result.seeds if v.wish.seed in (None, "all") else v.seeds
        frame = v.result.table(table).filter(pl.col("seed").is_in(seeds))
        of = _rows(v, table, what)
        for name, own in of.items():
            kept = frame if table == "network" else frame.filter(pl.col(table[:-1]).is_in(own))
            per_run = kept.group_by("seed", maintain_order=True).agg(pl.col(what).cast(pl.Float64).fill_nan(None).mean())
            rows.append(
                (
                    v.called(name, len(of)) or v.result.description.get("name") or what,
                    interval(per_run[what].to_list(), within=within(what)),
                )
            )
    if len(rows) > MOST_ROWS:
        raise FairlaneError(f"{what} has {len(rows)} rows, more than {MOST_ROWS}: select some with --flow or --link")
    factor, shown = scale(unit(what), max((abs(iv.mean) for _, iv in rows if iv.mean is not None), default=0.0))
    for i, (name, iv) in enumerate(rows):
        look = pen.next(name)
        if iv.mean is None:
            continue
        if iv.low is not None and iv.high is not None:
            pen.ax.hlines(i, iv.low * factor, iv.high * factor, color=look.colour, linewidth=1.4 * pen.wide, zorder=2).set_gid("interval")
            pen.drawn.append({"name": name, "role": "interval", "y": [float(i)], "low": [iv.low * factor], "high": [iv.high * factor]})
        pen.dots(name, [iv.mean * factor], [float(i)], look, size=4.5, key=False)
    pen.label((heading(what), "packets" if shown == "p" else shown), ("", ""))
    pen.ax.set_yticks(range(len(rows)), [named(n) for n, _ in rows])
    pen.ax.set_ylim(len(rows) - 0.4, -0.6)
    pen.ax.grid(axis="y", visible=False)
    low = pen.ax.get_xlim()[0]
    pen.ax.set_xlim(left=min(0.0, low))
    levels(pen, views, {name: (_unit(name), factor) for name in views[0].wish.kind.theory}, upright=True)
