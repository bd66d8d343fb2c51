"""Congestion window and slow-start threshold over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.format import scale
from ...errors import FairlaneError
from ..curves import Curve, curves
from .formula_curves import levels
from .pen import Ink, Pen
from .view import View

_DOTS = (0, (1, 1.5))


def draw(pen: Pen, views: Sequence[View]) -> None:
    """Draws the window of each flow or the mean of a group, and its threshold as a thin dotted line in the same colour."""
    found: list[tuple[str, Curve, Curve]] = []
    for v in views:
        frame, of = v.series("flow_series", "cwnd", "ssthresh"), v.curves("cwnd")
        if not of:
            raise FairlaneError("window needs TCP flows, and this result has none")
        for name, flows in of.items():
            cwnd, ssthresh = (curves(v.result, "flow_series", w, {name: flows}, "mean", v.seeds, frame)[0] for w in ("cwnd", "ssthresh"))
            found.append((v.called(name, len(of)), cwnd, ssthresh))
    top = max((float(np.nanmax(c.values, initial=0)) for _, c, _ in found), default=0.0)
    factor, unit = scale("byte", top)
    for name, cwnd, ssthresh in found:
        own = pen.next(name)
        pen.line(name, cwnd.times, cwnd.values * factor, own)
        if cwnd.low is not None and cwnd.high is not None:
            pen.band(name, cwnd.times, cwnd.low * factor, cwnd.high * factor, own)
        pen.line(
            f"{name}: threshold",
            ssthresh.times,
            ssthresh.values * factor,
            Ink(own.colour, _DOTS, ""),
            width=0.9,
            role="ssthresh",
            key=False,
        )
    pen.sample("slow-start threshold", _DOTS)
    pen.label(("time", "s"), ("window", unit))
    # The initial threshold may lie far above all windows.
    pen.ax.set_ylim(0, 1.08 * top * factor if top else 1)
    pen.over_time(views)
    levels(pen, views, {"bdp": ("byte", factor), "fair": ("byte", factor)})
