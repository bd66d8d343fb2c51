"""Goodput of flows against their loss, to compare with formulas of TCP throughput."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from ...base.format import number, scale
from ...errors import FairlaneError
from .formulas import pftk, quantity, square_root
from .pen import Pen
from .view import View

_RTO = 1.0
"""Default timeout in seconds, the minimum of RFC 6298, section 2.4."""


def draw(pen: Pen, views: Sequence[View]) -> None:
    """Draws a point per flow and run on logarithmic axes; flows without loss are counted in a note."""
    found = []
    for v in views:
        seeds = v.result.seeds if v.wish.seed in (None, "all") else v.seeds
        rows = v.result.flows.filter(pl.col("seed").is_in(seeds) & pl.col("flow").is_in(v.flows()))
        kept = rows.filter((pl.col("loss") > 0) & (pl.col("goodput") > 0))
        if kept.height < rows.height:
            pen.note(f"{rows.height - kept.height} of {rows.height} points not drawn: no loss, or no data delivered")
        found.append((v, kept))
    if not any(k.height for _, k in found):
        raise FairlaneError("loss-throughput needs flows with losses and delivered data, and this result has none")
    factor, unit = scale("bit/s", float(pl.concat([k.select("goodput") for _, k in found])["goodput"].median() or 0))  # type: ignore[arg-type]
    for v, kept in found:
        name = v.called("flows", 1)
        pen.dots(name, kept["loss"], kept["goodput"] * factor, pen.next(name), size=3.6, alpha=0.8)
    pen.label(("share of packets lost", ""), ("goodput of a flow", unit))
    pen.ax.set_xscale("log")
    pen.ax.set_yscale("log")
    pen.plain("x")
    pen.plain("y")
    pen.ax.margins(0.1)
    for v, kept in found:
        if v.wish.theory and kept.height:
            _laws(pen, v, kept, factor)


def _laws(pen: Pen, v: View, kept: pl.DataFrame, factor: float) -> None:
    """Draws the formulas at the mean round-trip time of the flows of a result."""
    rtts = kept["rtt_mean"].drop_nans().to_numpy()
    if not len(rtts):
        raise FairlaneError("formulas of TCP throughput need round-trip times, which only TCP flows measure")
    rtt = float(rtts.mean())
    if rtts.max() > 1.5 * rtts.min():
        pen.note(
            f"round-trip times differ ({number(rtts.min() * 1e3, 3)} to {number(rtts.max() * 1e3, 3)} ms); the formulas use their mean"
        )
    specs = {f["name"]: v.result.scenario["flows"].get(f["group"], {}).get("tcp") for f in v.result.scenario["expanded"]["flows"]}
    tcp = next((t for f in kept["flow"].to_list() if isinstance(t := specs.get(f), dict)), {})
    mss = abs(quantity("len", tcp.get("mss")) or 1460.0)
    b = float(tcp.get("ack_every") or 1)
    rto = max(quantity("dur", tcp.get("rto_min")) or _RTO, rtt + (quantity("dur", tcp.get("rto_granularity")) or 0.0))
    losses = kept["loss"].to_numpy()
    p = np.geomspace(losses.min() / 2, min(1.0, losses.max() * 2), 100)
    of = f", {v.label}" if v.many else ""
    at = f"RTT {number(rtt * 1e3, 3)} ms, b = {number(b, 2)}{of}"
    if "sqrt" in v.wish.theory:
        pen.curve(f"square-root law, {at}", p, square_root(rtt, p, mss, b) * factor)
    if "pftk" in v.wish.theory:
        pen.curve(f"PFTK, {at}", p, pftk(rtt, p, mss, b, rto) * factor, dash=(0, (1, 1.2)))
