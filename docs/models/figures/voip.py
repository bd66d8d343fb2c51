"""Talk spurts and silences of a call, read from its packets."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

INTERVAL = 0.02
"""Time between the packets of a spurt, in seconds."""


def figure() -> Figure:
    """Share of the spurts and silences that last longer than a time."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    net = fl.Network(duration="20000s", sample="20ms").link("a", "b", name="link", rate="1Gbit/s", delay="0s")
    net.flow("udp", "a", "b", udp={}, source=fl.Voip(codec="g711")).set("flows.udp.start", "10ms")
    series = net.run(seeds=1).link_series.filter((pl.col("link") == "link") & (pl.col("time") > 1))
    sent = series["throughput"].to_numpy() > 0
    edges = np.flatnonzero(np.diff(sent))
    lengths, talks = np.diff(edges) * INTERVAL, sent[edges[:-1] + 1]
    t = np.linspace(0, 8, 81)
    for k, (label, which, mean) in enumerate((("talk spurts", talks, 1.004), ("silences", ~talks, 1.587))):
        longer = [(lengths[which] > x + INTERVAL / 2).mean() for x in t]
        axes.semilogy(t, longer, "o", ms=3, color=f"C{k}", label=label)
        axes.semilogy(t, np.exp(-t / mean), lw=1, color=f"C{k}", label=f"exp(-t / {mean} s), ITU-T P.59")
    axes.set(xlabel="time (s)", ylabel="share that lasts longer", ylim=(1e-3, 1.2))
    axes.legend(fontsize="small")
    return drawing
