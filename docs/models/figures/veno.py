"""Throughput of Veno under random loss, against AIMD with its cut and with Reno's."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import lossy_window

LOSSES = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02)
"""Parts of the segments lost."""


def figure() -> Figure:
    """Segments a round trip against the part lost."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    for cc, cut, marker in (("veno", 0.2, "o"), ("reno", 0.5, "s")):
        windows, bars = lossy_window(cc, LOSSES, rate="100Mbit/s")
        drawn = axes.errorbar(LOSSES, windows, yerr=bars, fmt=marker, ms=4, capsize=2, label=cc.capitalize())
        law = [((2 - cut) / (2 * cut * p)) ** 0.5 for p in LOSSES]
        axes.plot(LOSSES, law, color=drawn.lines[0].get_color(), lw=1, ls="--", label=f"AIMD, cut of {cut}")
    axes.set(xlabel="part of the segments lost", ylabel="segments a round trip", xscale="log", yscale="log")
    axes.legend(fontsize="small")
    return drawing
