"""Windows against the queue: a cycle of window and queue is a loop, an equilibrium a cloud (Shenker, Zhang and Clark 1990 watched both)."""

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
    """The sum of the windows over the bytes that wait at the link, instant by instant; open where it begins, filled where it ends."""
    found = []
    for v in views:
        flows = v.flows("cwnd")
        if not flows:
            raise FairlaneError("phase needs the congestion windows of flows over TCP, and there are none")
        names = v.links("queue_bytes")
        if len(names) != 1:
            raise FairlaneError(f"phase is of one link, not of {len(names)}: choose one with --link NAME, or link=")
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
        (f"queue of {of.pop()}" if len(of) == 1 else "queue", unit),
        ("sum of the windows" if any(len(f) > 1 for _, f, *_ in found) else "window", unit),
    )
    pen.ax.set_xlim(left=0)
    pen.ax.set_ylim(bottom=0)
    if "bdp" in views[0].wish.theory:
        _line(pen, found, factor)


def _path(v: View, flows: Sequence[str], link: str) -> tuple[np.ndarray, np.ndarray]:
    """Bytes that wait, and the sum of the windows at the same instants of the first run drawn; the warm-up is left out."""
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
        raise FairlaneError("phase has no samples after the warm-up: a longer run, or another span")
    return both["queue_bytes"].to_numpy(), both["window"].to_numpy()


def _line(pen: Pen, found: Sequence[tuple[View, list[str], str, np.ndarray, np.ndarray]], factor: float) -> None:
    """Where the windows are the bandwidth-delay product and what waits, nothing is lost and nothing idle."""
    values = sorted(
        {round(bandwidth_delay(p.rate, p.rtt)) for v, flows, *_ in found for p in (Routes(v.result.scenario).path(f) for f in flows)}
    )
    limits = pen.ax.get_xlim()
    for value in values[:6]:
        shown, unit = scale("byte", value)
        name = f"bandwidth-delay product {value * shown:.3g} {unit} + queue"
        pen.curve(name, limits, [value * factor, value * factor + limits[1]])
    pen.ax.set_xlim(limits)
