"""The count of COBALT in an overload and after it: up and down by the same rule; CoDel's for comparison."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

from .common import one_link

INTERVAL = 0.1
"""COBALT's interval, in seconds."""


def up(start: float, until: float) -> tuple[list[float], list[int]]:
    """Times at which the count becomes 2, 3...: interval / sqrt(count) apart."""
    times, counts, t = [start - INTERVAL], [1], start
    while t < until:
        times.append(t)
        counts.append(counts[-1] + 1)
        t += INTERVAL / counts[-1] ** 0.5
    return times, counts


def down(start: float, count: int) -> tuple[list[float], list[int]]:
    """Times at which the count falls by one, from its top to 0."""
    times, counts, t = [start], [count], start
    while counts[-1] > 0:
        t += INTERVAL / max(counts[-1], 1) ** 0.5
        times.append(t)
        counts.append(counts[-1] - 1)
    return times, counts


def figure() -> Figure:
    """Two seconds of 13 Mbit/s over a link of 10, with 1 Mbit/s before and after."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    peak = None
    for name, marker in (("cobalt", "o"), ("codel", "x")):
        source = fl.Cbr(rate="1Mbit/s", size="1000B")
        net = one_link(duration="8s", sample="50ms", queue={name: {"limit": "1000000p"}}, source=source)
        net.flow("burst", "a", "b", udp={"header": "0B"}, source=fl.Cbr(rate="12Mbit/s", size="1000B"), start="1s", stop="3s")
        series = net.run(seeds=1).link_series.filter(pl.col("link") == "link")
        axes.plot(series["time"], series["count"], marker, ms=3, label=f"{name}, measured")
        if name == "cobalt":
            top = series["count"].max()
            peak = (series.filter(pl.col("count") == top)["time"].max(), int(top))
    # Above target from 1.02 s on: a packet that arrives t later waits 0.3 t and leaves at 1.3 t.
    first = 1 + 0.005 / 0.3 * 1.3 + INTERVAL
    times, counts = up(first, peak[0])
    axes.plot(times, counts, color="0.4", lw=1, drawstyle="steps-post", label="interval / sqrt(count), up and down")
    axes.plot(*down(peak[0], peak[1]), color="0.4", lw=1, drawstyle="steps-post")
    axes.set(xlabel="time (s)", ylabel="count")
    axes.legend(fontsize="small")
    return drawing
