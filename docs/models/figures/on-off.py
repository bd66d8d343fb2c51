"""The variance of the mean rate over growing windows: the aggregate of on-off sources against the slope 2H - 2."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

HURST = 0.8


def rates(source: object) -> np.ndarray:
    """Packets of 50 sources in each second."""
    net = fl.Network(duration="4100s", sample="1s").link("a", "b", name="link", rate="1Gbit/s", delay="0s")
    net.flow("udp", "a", "b", count=50, udp={"header": "0B"}, source=source)
    series = net.run(seeds=1).link_series.filter((pl.col("link") == "link") & (pl.col("time") > 3))
    return series["throughput"].to_numpy()[:4096]


def figure() -> Figure:
    """Variance against window, both relative to one second, for three kinds of periods."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    bursts = {"rate": "160kbit/s", "size": "1000B", "on": "200ms", "off": "200ms"}
    windows = 2 ** np.arange(7)
    cases = (
        (f"Pareto, hurst = {HURST}", fl.OnOff(**bursts, periods="pareto", hurst=HURST), HURST, "o"),
        ("exponential", fl.OnOff(**bursts), 0.5, "s"),
        ("poisson", fl.Poisson(rate="80kbit/s", size="1000B"), 0.5, "x"),
    )
    for k, (label, source, hurst, marker) in enumerate(cases):
        x = rates(source)
        # Windows of one second are not yet far from the periods: the lines begin at two.
        spread = np.array([np.var(x[: len(x) // w * w].reshape(-1, w).mean(axis=1)) for w in windows])
        axes.loglog(windows, spread / spread[1], marker, ms=5, color=f"C{k}", label=label)
        if marker != "x":
            axes.loglog(windows, (windows / 2.0) ** (2 * hurst - 2), lw=1, color=f"C{k}", label=f"slope {2 * hurst - 2:.1f}")
    axes.set(xlabel="window (s)", ylabel="variance of the mean rate, over that for 2 s")
    axes.legend(fontsize="small")
    return drawing
