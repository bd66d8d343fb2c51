"""PI2 drops the square of its controller's output: measured loss against the mean of p'."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

from .common import bulk_flows

COUNTS = [2, 5, 10, 20, 30, 40, 60]
"""Numbers of TCP flows."""


def figure() -> Figure:
    """Left: loss against p'. Right: the delay against the target."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    square, delay = drawing.subplots(1, 2)
    for target in (20, 10):
        outputs, losses, waits = [], [], []
        for n in COUNTS:
            net = bulk_flows({"pi2": {"target": f"{target}ms"}}, n, duration="120s", warmup="40s", sample="100ms")
            result = net.run(seeds=1)
            late = result.link_series.filter((pl.col("link") == "link") & (pl.col("time") >= 40))
            # What is dropped is the mean of p' squared, a little more than the square of its mean.
            outputs.append((late["p"] ** 2).mean() ** 0.5)
            losses.append(result.value("loss", link="link").mean)
            waits.append(1000 * result.value("sojourn_mean", link="link").mean)
        square.plot(outputs, losses, "o", ms=4, label=f"measured, target {target} ms")
        (line,) = delay.plot(COUNTS, waits, "o", ms=4, label=f"measured, target {target} ms")
        delay.axhline(target, color=line.get_color(), lw=1)
    fine = [i / 400 for i in range(160)]
    square.plot(fine, [x * x for x in fine], color="0.4", lw=1, label="p' squared")
    square.set(xlabel="p', root mean square", ylabel="share of arrivals dropped", xlim=(0, 0.4), ylim=(0, None))
    square.legend(fontsize="small")
    delay.set(xlabel="TCP flows", ylabel="mean wait in the queue (ms)", ylim=(0, None))
    delay.legend(fontsize="small")
    return drawing
