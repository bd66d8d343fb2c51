"""The average queue against the number of TCP flows: adaptive RED in its target band, RED outside."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

from .common import bulk_flows

LOW, HIGH = 20, 60
"""Thresholds, in packets."""


def figure() -> Figure:
    """Mean of RED's average; the band is min + 0.4 (max - min) to min + 0.6 (max - min) (Floyd, Gummadi and Shenker 2001)."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    width = HIGH - LOW
    axes.axhspan(LOW + 0.4 * width, LOW + 0.6 * width, color="0.85", label="target band")
    counts = [5, 10, 15, 20, 30, 40, 60, 80]
    common = {"limit": "300p", "min": f"{LOW}p", "max": f"{HIGH}p", "mean_packet": "1500B"}
    for name, queue in (
        ("ared", {"ared": common}),
        ("red, max_p = 0.1", {"red": {**common, "max_p": 0.1}}),
        ("red, max_p = 0.02", {"red": {**common, "max_p": 0.02}}),
    ):
        means = []
        for flows in counts:
            result = bulk_flows(queue, flows, duration="120s", warmup="40s", sample="100ms").run(seeds=1)
            late = result.link_series.filter((pl.col("link") == "link") & (pl.col("time") >= 40))
            means.append(late["avg"].mean())
        axes.plot(counts, means, "o-", ms=4, lw=1, label=name)
    axes.set(xlabel="TCP flows", ylabel="average queue (packets)", ylim=(0, 100))
    axes.legend(fontsize="small")
    return drawing
