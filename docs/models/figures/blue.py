"""BLUE under a steady overload: its probability climbs by d1 every freeze_time, to the share that has to go."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

from .common import one_link


def figure() -> Figure:
    """p_m against time for two settings of the paper; slopes d1 / freeze_time, and 1 - 1 / load."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    load, limit = 2.0, 100
    for freeze, step in ((100, 0.02), (10, 0.0025)):
        queue = {"blue": {"limit": f"{limit}p", "freeze_time": f"{freeze}ms", "increment": step, "decrement": step / 10}}
        source = fl.Poisson(rate=f"{load * 10}Mbit/s", size="1000B")
        series = one_link(duration="6s", sample="20ms", queue=queue, source=source).run(seeds=1).link_series
        series = series.filter(pl.col("link") == "link")
        label = f"d1 = {step}, freeze_time {freeze} ms"
        (line,) = axes.plot(series["time"], series["drop_prob"], ".", ms=2, label=f"measured, {label}")
        # The buffer is full after limit / (load - 1) transmissions; each overflow may then count, freeze_time apart.
        full, enough = limit * 0.0008 / (load - 1), 1 - 1 / load
        ramp = enough / step * freeze / 1000
        axes.plot([0, full, full + ramp], [0, 0, enough], color=line.get_color(), lw=1)
    axes.axhline(1 - 1 / load, color="0.4", lw=1, ls="--", label="1 - 1 / load")
    axes.set(xlabel="time (s)", ylabel="p_m", ylim=(0, 0.6))
    axes.legend(fontsize="small", loc="lower right")
    return drawing
