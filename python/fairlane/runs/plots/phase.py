"""Windows against the queue length: a cycle is a loop, an equilibrium is a cloud (Shenker, Zhang and Clark 1990)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from ...base.format import scale
from ...errors import FairlaneError
from .formulas import Routes, bandwidth_delay
from .pen import Pen
from .view import View


def draw(pen: Pen, views: Sequence[View]) -> None:
    """Draws the sum of the windows over the queue length at each instant, with an open mark at the start and a filled one at the end."""
    found = []
    for v in views:
        flows = v.flows("cwnd")
        if not flows:
            raise FairlaneError("phase needs TCP flows, and this result has none")
        names = v.links("queue_bytes")
        if len(names) != 1:
            raise FairlaneError(f"phase shows one link, not {len(names)}: select one with --link NAME, or link=")
        found.append((v, flows, names[0], *_path(v, flows, names[0])))
    most = max((float(np.nanmax(np.r_[q, w], initial=0)) for *_, q, w in found), default=0.0)
    factor, unit = scale("byte", most)
    for v, flows, link, queue, window in found:
        name = v.called(f"{flows[0] if len(flows) == 1 else f'{len(flows)} flows'} at {link}", 1)
        own = pen.next(name)
        pen.line(name, queue * factor, window * factor, own, width=0.7, role="phase", alpha=0.8)
        pen.dots(f"{name}: begin", queue[:1] * factor, window[:1] * factor, own, size=5, hollow=True, role="begin", key=False, zorder=4)
        pen.dots(f"{name}: end", queue[-1:] * factor, window[-1:] * factor, own, size=5, role="end", key=False, zorder=4)
    of = {link for _, _, link, *_ in found}
    pen.label(
        (f"queue length of {of.pop()}" if len(of) == 1 else "queue length", unit),
        ("sum of the congestion windows" if any(len(f) > 1 for _, f, *_ in found) else "congestion window", unit),
    )
    pen.ax.set_xlim(left=0)
    pen.ax.set_ylim(bottom=0)
    if "bdp" in views[0].wish.theory:
        _line(pen, found, factor)


def _path(v: View, flows: Sequence[str], link: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns the queue length and the sum of the windows at the same instants of the first selected run, without the warm-up."""
    start, end = v.measured
    seed = v.seeds[0]
    times, windows = v.matrix("cwnd", flows, seed)
    rows = v.series("link_series", "queue_bytes").filter((pl.col("seed") == seed) & (pl.col("link") == link)).sort("time")
    if rows.is_empty():
        raise FairlaneError(f"phase: the link {link!r} has no time series: name it under `links` in the scenario")
    total = pl.DataFrame({"time": times, "window": np.nansum(windows, axis=1)})
    both = rows.select("time", pl.col("queue_bytes").cast(pl.Float64)).join(total, on="time", how="inner", maintain_order="left")
    both = both.filter((pl.col("time") >= start) & (pl.col("time") <= end))
    if both.is_empty():
        raise FairlaneError("phase has no samples after the warm-up: use a longer run, or another span")
    return both["queue_bytes"].to_numpy(), both["window"].to_numpy()


def _line(pen: Pen, found: Sequence[tuple[View, list[str], str, np.ndarray, np.ndarray]], factor: float) -> None:
    """Draws the line at which the windows equal BDP plus queue: the link is busy and nothing is lost."""
    values = sorted(
        {round(bandwidth_delay(p.rate, p.rtt)) for v, flows, *_ in found for p in (Routes(v.result.scenario).path(f) for f in flows)}
    )
    limits = pen.ax.get_xlim()
    for value in values[:6]:
        shown, unit = scale("byte", value)
        name = f"bandwidth-delay product {value * shown:.3g} {unit} + queue"
        pen.curve(name, limits, [value * factor, value * factor + limits[1]])
    pen.ax.set_xlim(limits)
