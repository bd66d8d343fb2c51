"""Round-trip times over time: smoothed, and single samples if events were recorded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from ...base.format import scale
from ...errors import FairlaneError
from ..curves import Curve, curves
from .formula_curves import levels
from .pen import Pen
from .samples import round_trips
from .view import View


def draw(pen: Pen, views: Sequence[View]) -> None:
    """Draws the smoothed round-trip time as lines, and samples of one run as dots."""
    found: list[tuple[View, str, list[str], Curve]] = []
    for v in views:
        frame, of = v.series("flow_series", "srtt"), v.curves("srtt")
        if not of:
            raise FairlaneError("rtt needs TCP flows with acknowledgments, and this result has none")
        found += [
            (v, v.called(n, len(of)), own, curves(v.result, "flow_series", "srtt", {n: own}, "mean", v.seeds, frame)[0])
            for n, own in of.items()
        ]
    values = np.concatenate([c.values for *_, c in found])
    factor, unit = scale("s", float(np.nanmedian(values)) if np.isfinite(values).any() else 0.0)
    dotted = False
    for v, name, own, c in found:
        colour = pen.next(name)
        if v.recorded() and v.wish.seed != "all":
            samples = _drawn(round_trips(v, own, measured=False), v)
            if not samples.is_empty():
                dotted = True
                pen.dots(
                    f"{name}: samples",
                    samples["time"],
                    samples["rtt"] * factor,
                    colour,
                    size=1.6,
                    marker="o",
                    key=False,
                    alpha=0.45,
                    zorder=2,
                )
        pen.line(name, c.times, c.values * factor, colour)
        if c.low is not None and c.high is not None:
            pen.band(name, c.times, c.low * factor, c.high * factor, colour)
    if not dotted and not any(v.wish.seed == "all" for v in views):
        pen.note(f"single RTT samples not drawn: {views[0].how('send,retransmit,receive')}")
    pen.label(("time", "s"), ("round-trip time, smoothed and samples" if dotted else "smoothed round-trip time", unit))
    pen.ax.set_ylim(bottom=0)
    pen.over_time(views)
    levels(pen, views, {"rtt": ("s", factor), "full": ("s", factor)})


def _drawn(frame: pl.DataFrame, view: View) -> pl.DataFrame:
    start, end = view.time
    frame = frame.filter(pl.col("time") >= start) if start is not None else frame
    return frame.filter(pl.col("time") <= end) if end is not None else frame
