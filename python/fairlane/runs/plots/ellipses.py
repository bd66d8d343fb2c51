"""Throughput against delay with ellipses at one standard deviation (Winstein and Balakrishnan, SIGCOMM 2013, figure 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.format import scale
from ...errors import FairlaneError
from ...stats.ellipse import Ellipse, ellipse
from ..groups import members
from .formula_curves import levels
from .pen import Ink, Pen
from .view import View

_WIDE = 6.0
"""Ratio of delays from which the axis is logarithmic."""


def draw(pen: Pen, views: Sequence[View]) -> None:
    """Draws a point per flow and run, and an ellipse around the mean per group of flows and result."""
    found: list[tuple[str, np.ndarray, Ellipse]] = []
    for v in views:
        wanted = set(v.flows())
        groups = {g: [f for f in own if f in wanted] for g, own in members(v.result).items()}
        groups = {g: own for g, own in groups.items() if own}
        seeds = v.result.seeds if v.wish.seed in (None, "all") else v.seeds
        for group, flows in groups.items():
            rows = v.result.flows
            kept = rows.filter(rows["flow"].is_in(flows) & rows["seed"].is_in(seeds))
            points = kept.select("delay_mean", "throughput").to_numpy().astype(float)
            points = points[np.isfinite(points).all(axis=1)]
            shape = ellipse((float(d), float(t)) for d, t in points)
            if shape is not None:
                found.append((v.called(group, len(groups)), points, shape))
    if not found:
        raise FairlaneError("ellipses need flows with delivered data, and this result has none")
    factor, unit = scale("bit/s", max(e.throughput for *_, e in found))
    per, per_unit = scale("s", float(np.median([e.delay for *_, e in found])))
    least = min(float(p[:, 0].min()) for _, p, _ in found)
    delays = [e.delay for *_, e in found]
    if max(delays) > _WIDE * min(delays) > 0:
        pen.ax.set_xscale("log")
        pen.plain("x")
    for name, points, shape in found:
        own = pen.next(name)
        pen.dots(f"{name}: flows", points[:, 0] * per, points[:, 1] * factor, own, size=2.8, key=False, alpha=0.5, zorder=2)
        # An ellipse has no meaning below the shortest measured delay or a throughput of zero.
        xs, ys = (np.array(c) for c in zip(*shape.contour(96), strict=True))
        xs, ys = np.maximum(xs, 0.5 * least), np.maximum(ys, 0.0)
        pen.ax.fill(xs * per, ys * factor, color=own.colour, alpha=0.13, lw=0, zorder=1)
        pen.line(name, xs * per, ys * factor, own, width=1.3, role="ellipse")
        pen.dots(
            f"{name}: mean",
            [shape.delay * per],
            [shape.throughput * factor],
            Ink(own.colour, "-", own.marker),
            size=6,
            role="mean",
            key=False,
            zorder=4,
        )
    pen.label(("one-way delay", f"{per_unit}, better →"), ("flow throughput", unit))
    pen.ax.margins(0.08)
    pen.ax.autoscale_view()
    low, high = pen.ax.get_ylim()
    pen.ax.set_ylim(bottom=0.0 if low < 0.3 * high else low)
    levels(pen, views, {"fair": ("bit/s", factor)})
    levels(pen, views, {"delay": ("s", per)}, upright=True)
    if not pen.ax.xaxis_inverted():
        pen.ax.invert_xaxis()
