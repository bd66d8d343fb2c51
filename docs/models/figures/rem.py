"""The queue that REM holds by drops, against the balance of its price."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import bulk_flows, errors


def figure() -> Figure:
    """With a constant price, alpha (queue - b*) = capacity - arrivals, both in packets of an update: line and points."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    counts = [10, 20, 30, 40, 50]
    # 1500 bytes at 10 Mbit/s take 1.2 ms, so the link sends 1.667 packets in an update of 2 ms.
    capacity = 2 / 1.2
    for target in (20, 60):
        queue = {"rem": {"limit": "400p", "target": f"{target}p", "mean_packet": "1500B"}}
        results = [bulk_flows(queue, n, duration="400s", warmup="200s").run(seeds="1..3") for n in counts]
        means, half = errors([r.value("queue_mean", link="link") for r in results])
        (bars, *_) = axes.errorbar(counts, means, half, fmt="o", ms=4, capsize=3, label=f"measured, b* = {target}")
        balance = []
        for r in results:
            load = r.value("utilisation", link="link").mean / (1 - r.value("loss", link="link").mean)
            balance.append(target - (load - 1) * capacity / 0.1)
        axes.plot(counts, balance, "-", lw=1, color=bars.get_color(), label="balance of the price")
        axes.axhline(target, color=bars.get_color(), lw=0.8, ls=":")
    axes.set(xlabel="TCP flows", ylabel="packets waiting, time mean", ylim=(0, 80))
    axes.legend(fontsize="small")
    return drawing
