"""Waiting time of the packets that are sent under a steady overload: random drop between its neighbours."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

import fairlane as fl

from .common import one_link

PLACES, SERVICE = 100, 0.8
"""Length of the queue, and milliseconds that the link needs for a packet."""


def figure() -> Figure:
    """The fluid limit of a full queue that loses from everywhere: n s ln(r) / (r - 1), between the two ends."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    fine = [1.05 + i * 0.01 for i in range(200)]
    loads = [1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0]
    laws = {
        "droptail": lambda _: PLACES * SERVICE,
        "randomdrop": lambda r: PLACES * SERVICE * math.log(r) / (r - 1),
        "headdrop": lambda r: PLACES * SERVICE / r,
    }
    for name, formula in laws.items():
        (line,) = axes.plot(fine, [formula(r) for r in fine], label=f"{name}, formula")
        waits = []
        for load in loads:
            source = fl.Poisson(rate=f"{round(load * 1e7)}bit/s", size="1000B")
            net = one_link(duration="60s", warmup="10s", queue={name: {"limit": f"{PLACES}p"}}, source=source)
            waits.append(1000 * net.run(seeds=1).value("delay_mean", flow="udp").mean - SERVICE - 1.0)
        axes.plot(loads, waits, "o", ms=4, color=line.get_color(), label=f"{name}, measured")
    axes.set(xlabel="offered load", ylabel="wait of a packet that is sent (ms)", ylim=(0, 90))
    axes.legend(fontsize="small")
    return drawing
