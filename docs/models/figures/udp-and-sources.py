"""Packets in short windows, against the Poisson law."""

from __future__ import annotations

import math

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl


def figure() -> Figure:
    """Packets in windows of 10 ms, ten in the mean: Poisson against its probabilities, CBR with and without jitter."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    sources = {
        "cbr, jitter 1": fl.Cbr(rate="8Mbit/s", size="1000B", jitter=1.0),
        "poisson": fl.Poisson(rate="8Mbit/s", size="1000B"),
        "cbr (all in one bar, cut off)": fl.Cbr(rate="8Mbit/s", size="1000B"),
    }
    for k, (label, source) in enumerate(sources.items()):
        net = fl.Network(duration="200s", sample="10ms").link("a", "b", name="link", rate="100Gbit/s", delay="1us")
        net.flow("udp", "a", "b", udp={"header": "0B"}, source=source).set("flows.udp.start", "5us")
        series = net.run(seeds=1).link_series.filter((pl.col("link") == "link") & (pl.col("time") > 0.01))
        counts = (series["throughput"] * 0.01 / 8000).round().cast(pl.Int64)
        share = [(counts == n).sum() / len(counts) for n in range(26)]
        axes.bar([n + 0.27 * (k - 1) for n in range(26)], share, width=0.27, label=label, color=f"C{k}")
    axes.plot(range(26), [math.exp(-10) * 10**n / math.factorial(n) for n in range(26)], "k_", ms=9, label="Poisson law")
    axes.set(xlabel="packets in 10 ms", ylabel="share of the windows", ylim=(0, 0.5))
    axes.legend(fontsize="small")
    return drawing
