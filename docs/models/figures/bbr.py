"""Share of BBR version 1 in competition with Reno: by buffer, and by the number of Reno flows."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

RATE, BDP = 20.0, 67
"""Mbit/s of the bottleneck, and packets that 40 ms of it hold."""


def share(cc: str, others: int, limit: int) -> float:
    """Share of the link that one flow has against Reno flows."""
    net = fl.Network(duration="120s", warmup="40s")
    net.link("a", "b", name="link", rate=f"{RATE}Mbit/s", delay="20ms", queue=fl.Droptail(limit=f"{limit}p"))
    net.flow("model", "a", "b", tcp={"cc": cc})
    net.flow("reno", "a", "b", count=others, tcp={"cc": "sack"}, spread="1s")
    return (net.run(seeds="1..3").value("goodput", flow="model").mean or 0.0) / (RATE * 1e6) * 1500 / 1460


def figure() -> Figure:
    """Shares by buffer, with one competing flow, and by the number of flows, with ten BDP of buffer."""
    drawing = Figure(figsize=(7.5, 3.2), layout="constrained")
    left, right = drawing.subplots(1, 2, sharey=True)
    buffers = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
    for cc, marker in (("bbr", "o-"), ("bbr3", "s-"), ("sack", "x:")):
        left.plot(buffers, [share(cc, 1, round(b * BDP)) for b in buffers], marker, ms=4, label=cc)
    left.set(xscale="log", xlabel="buffer (BDP), with one Reno flow", ylabel="share of the link", ylim=(0, 1))
    left.set_xticks(buffers, [f"{b:g}" for b in buffers])
    left.legend(fontsize="small")
    flows = (1, 2, 4, 8, 16)
    for cc, marker in (("bbr", "o-"), ("bbr3", "s-")):
        right.plot(flows, [share(cc, n, 10 * BDP) for n in flows], marker, ms=4, label=cc)
    right.plot(flows, [1 / (n + 1) for n in flows], ":", color="0.4", label="equal shares")
    right.set(xscale="log", xlabel="flows of Reno, buffer 10 BDP")
    right.set_xticks(flows, [str(n) for n in flows])
    right.legend(fontsize="small")
    for axes in (left, right):
        axes.minorticks_off()
    return drawing
