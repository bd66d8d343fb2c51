"""Delay of a chain of links and losses of an impaired one, against what was asked for."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

from .common import SEEDS, errors, one_link


def figure() -> Figure:
    """Delay over a chain of store-and-forward links, and losses of an impaired link."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    left, right = drawing.subplots(1, 2)
    hops = list(range(1, 11))
    delays = []
    for n in hops:
        net = fl.Network(duration="2s")
        for k in range(n):
            net.link(f"n{k}", f"n{k + 1}", rate=f"{k + 1}Mbit/s", delay=f"{k + 1}ms")
        net.flow("udp", "n0", f"n{n}", udp={"header": "0B"}, source=fl.Cbr(rate="80kbit/s", size="1000B"))
        delays.append((net.run().value("delay_max", flow="udp").mean or 0.0) * 1e3)
    left.plot(hops, [sum(8 / (k + 1) + k + 1 for k in range(n)) for n in hops], label="sum of length / rate + delay")
    left.plot(hops, delays, "o", ms=5, mfc="none", label="measured")
    left.set(xlabel="links of the path", ylabel="one-way delay (ms)")
    left.legend(fontsize="small")
    wanted = [0.0005, 0.002, 0.01, 0.05, 0.2, 0.5]
    found = []
    for loss in wanted:
        net = one_link(duration="100s", loss=loss, source=fl.Cbr(rate="8Mbit/s", size="1000B"))
        found.append(net.run(seeds=SEEDS).value("loss", flow="udp"))
    means, half = errors(found)
    right.plot(wanted, wanted, label="as asked for")
    right.errorbar(wanted, means, half, fmt="o", ms=4, capsize=3, label="measured, ten runs, 95 %")
    right.set(xlabel="loss of the link", ylabel="loss of the flow", xscale="log", yscale="log")
    right.legend(fontsize="small")
    return drawing
