"""Random loss: what is left of the rate with BBR version 3, version 1, CUBIC and Reno."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

LOSSES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.02, 0.04, 0.08)
RATE = 20.0
"""Mbit/s."""


def left_over(cc: str, loss: float) -> float:
    """Share of the link that one flow uses."""
    net = fl.Network(duration="60s", warmup="10s")
    queue = fl.Droptail(limit="200p")
    net.link("a", "b", name="link", rate=f"{RATE}Mbit/s", delay="20ms", queue=queue, loss=loss, reverse={"loss": 0.0})
    net.flow("tcp", "a", "b", tcp={"cc": cc, "recovery": "sack", "rack": True})
    return (net.run(seeds="1..3").value("goodput", flow="tcp").mean or 0.0) / (RATE * 1e6) * 1500 / 1460


def figure() -> Figure:
    """Use of the link against the chance that a packet is lost."""
    drawing = Figure(figsize=(6, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    for cc, marker in (("bbr", "o-"), ("bbr3", "s-"), ("cubic", "^-"), ("sack", "x-")):
        axes.plot([100 * loss for loss in LOSSES], [left_over(cc, loss) for loss in LOSSES], marker, ms=4, label=cc)
    axes.axvline(2, color="0.6", lw=0.8, ls=":")
    axes.set(
        xscale="log", xlabel="packets lost at random (%); dotted: the threshold of version 3", ylabel="use of the link", ylim=(0, 1.02)
    )
    axes.legend(fontsize="small")
    return drawing
