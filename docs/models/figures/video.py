"""The autocorrelation of the frame sizes of a video: the period of its group of pictures."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

GOP, MEANS, CV = "IBBPBBPBBPBB", {"I": 15000, "P": 8000, "B": 3000}, 0.3


def sizes(correlation: float) -> np.ndarray:
    """Bytes of each frame over 200 s."""
    net = fl.Network(duration="200s", sample="40ms").link("a", "b", name="link", rate="100Gbit/s", delay="0s")
    video = fl.Video(gop=GOP, i_size="15kB", p_size="8kB", b_size="3kB", cv=CV, correlation=correlation, first=0)
    net.flow("udp", "a", "b", udp={"header": "0B"}, source=video).set("flows.udp.start", "10ms")
    series = net.run(seeds=1).link_series.filter((pl.col("link") == "link") & (pl.col("time") > 0.02))
    return series["throughput"].to_numpy() * 0.04 / 8


def expected(lags: np.ndarray) -> np.ndarray:
    """The autocorrelation of independent sizes around the means of their types."""
    means = np.array([MEANS[c] for c in GOP], dtype=float)
    around = means - means.mean()
    between = np.array([(around * np.roll(around, -lag)).mean() for lag in lags])
    within = CV**2 * (means**2).mean()
    return between / (around.var() + within)


def figure() -> Figure:
    """Autocorrelation against the lag in frames."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    lags = np.arange(1, 37)
    for correlation, style in ((0.0, "o"), (0.9, "s")):
        x = sizes(correlation)
        x = x - x.mean()
        r = [(x[:-lag] * x[lag:]).mean() / x.var() for lag in lags]
        axes.plot(lags, r, style, ms=4, label=f"correlation = {correlation}")
    axes.plot(lags, expected(lags), color="0.4", lw=1, label="means and variation of the types")
    axes.set(xlabel="lag (frames)", ylabel="autocorrelation of frame sizes", xticks=range(0, 37, 6))
    axes.legend(fontsize="small", ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return drawing
