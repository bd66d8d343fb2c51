"""Stacked throughput of flows over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.format import scale
from ...errors import FairlaneError
from .formula_curves import levels
from .pen import Pen
from .view import View, blocks

MOST = 10
"""Most layers; all further flows share one."""


def draw(pen: Pen, views: Sequence[View]) -> None:
    """Draws a layer per flow or group in the order of the scenario; for several runs their mean."""
    (v,) = views
    of = v.curves(how="", most=MOST)
    if not of:
        raise FairlaneError("throughput-stack needs flows, and this result has none")
    of = _few(of)
    flows = [f for own in of.values() for f in own]
    runs = [v.rates("throughput", flows, seed) for seed in v.seeds]
    times, total = runs[0][0], np.mean([np.nan_to_num(m) for _, m in runs], axis=0)
    times, values, length = blocks(times, total)
    layers, at = [], 0
    for own in of.values():
        layers.append(values[:, at : at + len(own)].sum(axis=1))
        at += len(own)
    top = float(np.sum(layers, axis=0).max(initial=0))
    factor, unit = scale("bit/s", top)
    below = np.zeros(len(times))
    # A sample covers the time since the previous one.
    edges = np.r_[times[:1] - length, times] if len(times) else times
    for name, layer in zip(of, layers, strict=True):
        pen.layer(name, edges, below * factor, (below + layer) * factor)
        below = below + layer
    pen.label(("time", "s"), ("throughput", unit), f",\nmeans of {length:.3g} s" if length else "")
    pen.ax.set_ylim(0, 1.05 * top * factor if top else 1)
    pen.over_time(views)
    levels(pen, views, {"capacity": ("bit/s", factor)})


def _few(of: dict[str, list[str]]) -> dict[str, list[str]]:
    """Merges layers so that all can be distinguished."""
    if len(of) <= MOST:
        return of
    names = list(of)
    rest = [f for n in names[MOST - 1 :] for f in of[n]]
    return {n: of[n] for n in names[: MOST - 1]} | {f"{len(names) - MOST + 1} others": rest}
