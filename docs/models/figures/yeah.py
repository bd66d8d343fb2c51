"""The queue under one YeAH flow and one of Scalable TCP, against the bound at which YeAH empties it."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import one_flow

QMAX = 80
"""Packets in the queue that are too many (Qmax)."""


def figure() -> Figure:
    """Queue against time."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    for cc, label in (("scalable", "Scalable TCP"), ("yeah", "YeAH")):
        run = one_flow({"cc": cc, "initial_ssthresh": "1000p"}, rate="100Mbit/s", limit="1000p", duration="60s")
        links = run.link_series
        links = links.filter(links["link"] == "link")
        axes.plot(links["time"], links["queue"], lw=1, label=label)
    axes.axhline(QMAX, color="0.4", lw=0.8, ls="--", label="Qmax")
    axes.set(xlabel="time (s)", ylabel="packets in the queue")
    axes.legend(fontsize="small")
    return drawing
