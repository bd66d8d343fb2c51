"""Flow completion times by size, with percentiles (Dukkipati and McKeown 2006)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from ...base.format import quantity as spoken
from ...base.format import scale
from ...errors import FairlaneError
from ...stats import Interval
from .formulas import Routes
from .pen import Ink, Pen
from .view import View

PERCENTILES = (50, 95, 99)
_CLASS = 20
"""Least flows per class of sizes."""
_CLASSES = 8
_DASHES = ("-", (0, (5, 1.6)), (0, (1, 1.2)))


def completed(view: View) -> tuple[np.ndarray, np.ndarray, int]:
    """Returns sizes (bytes delivered) and completion times of the finished flows over all selected runs, and the number of all flows."""
    seeds = view.result.seeds if view.wish.seed in (None, "all") else view.seeds
    rows = view.result.flows.filter(pl.col("seed").is_in(seeds) & pl.col("flow").is_in(view.flows()))
    if "completion_time" not in rows.columns:
        return np.zeros(0), np.zeros(0), rows.height
    ended = rows.filter(pl.col("completion_time").is_finite())
    if view.time != (None, None):
        raise FairlaneError("fct shows whole flows: leave out --time, or time=")
    start, end = view.measured
    return (ended["goodput"] * (end - start) / 8).to_numpy(), ended["completion_time"].to_numpy(), rows.height


def draw(pen: Pen, views: Sequence[View]) -> None:
    """Draws a point per flow, and percentiles of size classes with equal numbers of flows."""
    found = []
    for v in views:
        sizes, times, of = completed(v)
        keep = sizes > 0
        found.append((v, sizes[keep], times[keep], of))
    if not any(len(s) for _, s, *_ in found):
        raise FairlaneError(
            'fct needs flows that end, and none did: give sources an end, such as source.file.size = "100kB", or the run more time'
        )
    per, unit = scale("s", float(np.median(np.concatenate([t for *_, t, _ in found]))))
    by, size_unit = scale("byte", float(np.median(np.concatenate([s for _, s, *_ in found]))))
    for v, sizes, times, of in found:
        name = v.called("flows", 1)
        own = pen.next(name)
        pen.dots(f"{name} ({len(sizes)} of {of} ended)", sizes * by, times * per, own, size=2.6, alpha=0.55, zorder=2)
        classes = split(sizes)
        for q, dash in zip(PERCENTILES, _DASHES, strict=True):
            kept = [c for c in classes if len(c) >= 100 / (100 - q)]
            if kept:
                x = [float(np.median(sizes[c])) * by for c in kept]
                y = [float(np.quantile(times[c], q / 100)) * per for c in kept]
                pen.line(
                    f"{name}: {q} %",
                    x,
                    y,
                    Ink(own.colour, dash, own.marker),
                    width=1.3,
                    role=f"p{q}",
                    key=False,
                    marker=own.marker,
                    markersize=3.2 * pen.wide,
                )
    for q, dash in zip(PERCENTILES, _DASHES, strict=True):
        if any(d["role"] == f"p{q}" for d in pen.drawn):
            pen.sample("median" if q == 50 else f"{q}th percentile", dash)
    pen.label(("size", size_unit), ("completion time", unit))
    for axis, values in (("x", np.concatenate([s * by for _, s, *_ in found])), ("y", np.concatenate([t * per for *_, t, _ in found]))):
        if len(values) and values.min() > 0 and values.max() > 10 * values.min():
            (pen.ax.set_xscale if axis == "x" else pen.ax.set_yscale)("log")
            pen.plain(axis)
        elif axis == "y":
            pen.ax.set_ylim(bottom=0)
    if "ideal" in views[0].wish.theory:
        _ideal(pen, [(v, s) for v, s, *_ in found], by, per)


def split(sizes: np.ndarray) -> list[np.ndarray]:
    """Returns the indices of the flows in each class: equal numbers, in the order of sizes; a size is never in two classes.

    >>> [c.tolist() for c in split(np.array([3.0, 3.0, 3.0]))]
    [[0, 1, 2]]
    """
    order = np.argsort(sizes, kind="stable")
    n = len(order)
    classes = max(1, min(_CLASSES, n // _CLASS))
    if n == 0:
        return []
    ordered = sizes[order]
    cuts = [ordered[min(n - 1, round(i * n / classes))] for i in range(1, classes)]
    edges = np.unique(np.searchsorted(ordered, cuts, "left")).astype(int)
    return [c for c in np.split(order, edges) if len(c)]


def _ideal(pen: Pen, found: Sequence[tuple[View, np.ndarray]], by: float, per: float) -> None:
    paths = {}
    for v, _ in found:
        routes = Routes(v.result.scenario)
        for f in v.flows():
            p = routes.path(f)
            paths[round(p.rtt, 12), p.rate] = p
    if len(paths) > 4:
        raise FairlaneError(f"ideal differs for {len(paths)} paths: select flows with --flow, or flow=")
    sizes = np.concatenate([s for _, s in found])
    x = np.geomspace(sizes.min(), max(sizes.max(), sizes.min() * 1.0001), 60)
    for p in paths.values():
        rtt_text = spoken(Interval(p.rtt, None, None, None, 1), "s")
        pen.curve(f"{rtt_text} + size at {spoken(Interval(p.rate, None, None, None, 1), 'bit/s')}", x * by, (p.rtt + 8 * x / p.rate) * per)
