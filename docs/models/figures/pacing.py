"""One flow of Reno with and without pacing, over small buffers."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

BUFFERS = (2, 4, 8, 16, 32, 64)
"""Packets."""


def used(pacing: bool, flows: int, limit: int) -> float:
    """Use of a link of 20 Mbit/s by flows of 40 ms."""
    net = fl.Network(duration="60s", warmup="20s")
    net.link("a", "b", name="link", rate="20Mbit/s", delay="20ms", queue=fl.Droptail(limit=f"{limit}p"))
    net.flow("tcp", "a", "b", count=flows, tcp={"cc": "sack", "pacing": pacing}, spread="1s")
    return net.run(seeds="1..3").value("utilisation", link="link").mean or 0.0


def figure() -> Figure:
    """Use of the link against the buffer, for one flow and for ten."""
    drawing = Figure(figsize=(6, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    for flows, colour in ((1, "C0"), (10, "C1")):
        for pacing, style in ((True, "o-"), (False, "x--")):
            label = f"{flows} flow{'s' if flows > 1 else ''}, {'paced' if pacing else 'in bursts'}"
            axes.plot(BUFFERS, [used(pacing, flows, b) for b in BUFFERS], style, color=colour, ms=4, label=label)
    axes.set(xscale="log", xlabel="buffer (packets); the BDP is 67", ylabel="use of the link")
    axes.set_xticks(BUFFERS, [str(b) for b in BUFFERS])
    axes.minorticks_off()
    axes.legend(fontsize="small")
    return drawing
