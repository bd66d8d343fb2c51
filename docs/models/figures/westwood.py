"""Throughput of Westwood+ under random loss, against Reno and the square-root law."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import lossy_window

LOSSES = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
"""Parts of the segments lost."""


def figure() -> Figure:
    """Segments a round trip against the part lost."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    for cc, marker in (("westwood", "o"), ("reno", "s")):
        windows, bars = lossy_window(cc, LOSSES, rate="10Mbit/s")
        axes.errorbar(
            LOSSES, windows, yerr=bars, fmt=f"{marker}-", ms=4, lw=0.8, capsize=2, label={"westwood": "Westwood+", "reno": "Reno"}[cc]
        )
    axes.plot(LOSSES, [(1.5 / p) ** 0.5 for p in LOSSES], color="0.4", lw=1, ls="--", label="sqrt(3 / 2p)")
    # 100 ms and the time to send a packet, at 10 Mbit/s.
    axes.axhline(10e6 / 8320 * (0.1 + 8320 / 10e6), color="0.7", lw=1, ls=":", label="what the path holds")
    axes.set(xlabel="part of the segments lost", ylabel="segments a round trip", xscale="log", yscale="log")
    axes.legend(fontsize="small")
    return drawing
