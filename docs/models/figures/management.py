"""Loss of Poisson arrivals with exponential sizes, against M/M/1/K: Management has room for one less than DropTail."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

from .common import errors, one_link

LOAD = 0.9


def figure() -> Figure:
    """Blocking of M/M/1/K (Kleinrock, volume 1): with the packet in transmission, K is n for Management and n + 1 for DropTail."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    limits = [2, 3, 4, 6, 8, 11, 15, 20]
    for name, extra in (("management", 0), ("droptail", 1)):
        blocked = [(1 - LOAD) * LOAD ** (n + extra) / (1 - LOAD ** (n + extra + 1)) for n in limits]
        (line,) = axes.plot(limits, blocked, label=f"{name}, formula with K = n{' + 1' * extra}")
        losses = []
        for n in limits:
            source = fl.Poisson(rate=f"{round(LOAD * 1e7)}bit/s", size="1000B", sizes="exponential")
            net = one_link(duration="210s", warmup="10s", queue={name: {"limit": f"{n}p"}}, source=source)
            losses.append(net.run(seeds="1..5").value("loss", link="link"))
        means, half = errors(losses)
        axes.errorbar(limits, means, half, fmt="o", ms=4, capsize=3, color=line.get_color(), label=f"{name}, five runs, 95 %")
    axes.set(xlabel="limit n (packets); load 0.9", ylabel="share of arrivals lost", yscale="log")
    axes.legend(fontsize="small")
    return drawing
