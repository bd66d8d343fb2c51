"""The index of dispersion of a Markov-modulated Poisson process against the formula of Heffes and Lucantoni."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

RATES, STAYS = (100.0, 900.0), (0.15, 0.05)
"""Packets a second and mean stays in seconds."""


def dispersion(t: np.ndarray) -> np.ndarray:
    """Variance over mean of the counts in windows of `t` seconds."""
    s1, s2 = 1 / STAYS[0], 1 / STAYS[1]
    total = s1 + s2
    limit = 2 * s1 * s2 * (RATES[0] - RATES[1]) ** 2 / (total**2 * (RATES[0] * s2 + RATES[1] * s1))
    return 1 + limit * (1 - (1 - np.exp(-total * t)) / (total * t))


def counts(source: object) -> np.ndarray:
    """Packets in each 10 ms of 2,000 s."""
    net = fl.Network(duration="2001s", sample="10ms").link("a", "b", name="link", rate="100Gbit/s", delay="0s")
    net.flow("udp", "a", "b", udp={"header": "0B"}, source=source)
    series = net.run(seeds=1).link_series.filter((pl.col("link") == "link") & (pl.col("time") > 0.5))
    return np.round(series["throughput"].to_numpy() * 0.01 / 8000)[:200_000]


def figure() -> Figure:
    """Index of dispersion of the counts against the window."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    states = [{"rate": f"{8 * r:.0f}kbit/s", "stay": f"{1000 * s:.0f}ms"} for r, s in zip(RATES, STAYS, strict=True)]
    windows = np.array([1, 2, 4, 8, 16, 32, 64, 128, 256])
    for label, source, style in (
        ("mmpp", fl.Mmpp(states=states, size="1000B"), "o"),
        ("poisson", fl.Poisson(rate="2400kbit/s", size="1000B"), "x"),
    ):
        x = counts(source)
        sums = [x[: len(x) // w * w].reshape(-1, w).sum(axis=1) for w in windows]
        axes.semilogx(windows * 0.01, [np.var(s) / np.mean(s) for s in sums], style, label=label)
    t = np.logspace(-2, 0.5, 100)
    axes.semilogx(t, dispersion(t), color="0.4", lw=1, label="Heffes and Lucantoni 1986")
    axes.axhline(1, color="0.7", lw=0.8)
    axes.set(xlabel="window (s)", ylabel="variance / mean of the counts")
    axes.legend(fontsize="small")
    return drawing
