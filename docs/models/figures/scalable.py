"""Recovery time of Scalable TCP after a loss, at several rates, against its formula, with Reno for comparison."""

from __future__ import annotations

import math
from itertools import pairwise

from matplotlib.figure import Figure

from .common import cuts_of, window_of

RATES = (10, 20, 50, 100, 200)
"""Rates of the link in Mbit/s."""
RTT = 0.1


def recovery(cc: str, rate: int) -> float:
    """Round trips between one loss and the next, the median of those seen."""
    path = rate * 1e6 * RTT / 8 / 1488
    # The buffer is small, so that the round-trip time is nearly the same all the time.
    settings = {"rate": f"{rate}Mbit/s", "delay": "50ms", "limit": f"{max(4, int(path / 20))}p", "sample": "50ms"}
    duration = "40s" if cc == "scalable" else f"{40 + 2 * rate}s"
    times, windows = window_of({"cc": cc, "initial_ssthresh": f"{int(0.9 * path)}p"}, duration=duration, **settings)
    starts = [times[i] for i in cuts_of(windows)][1:]
    gaps = sorted(b - a for a, b in pairwise(starts))
    return gaps[len(gaps) // 2] / RTT


def figure() -> Figure:
    """Both axes are logarithmic."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    windows = [r * 1e6 * RTT / 8 / 1488 for r in RATES]
    axes.plot(windows, [math.log(1 / 0.875) / math.log(1.01)] * len(windows), color="C0", lw=1, label="ln(1/(1-b)) / ln(1+a), Kelly 2003")
    axes.plot(windows, [recovery("scalable", r) for r in RATES], "o", color="C0", ms=5, mfc="none", label="Scalable TCP")
    axes.plot(windows, [w * 1.05 / 2 for w in windows], color="C1", lw=1, label="half of the window")
    axes.plot(windows, [recovery("sack", r) for r in RATES], "s", color="C1", ms=5, mfc="none", label="Reno with SACK")
    axes.set(xscale="log", yscale="log", xlabel="bandwidth-delay product (segments)", ylabel="round trips from loss to loss")
    axes.legend(fontsize="small")
    return drawing
