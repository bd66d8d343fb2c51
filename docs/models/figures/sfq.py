"""How many flows share a queue of SFQ, against balls thrown into urns."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl
from fairlane.stats import interval

from .common import SEEDS, errors

BUCKETS = 64


def sharing(flows: int) -> fl.Interval:
    """Share of the flows that get at most 3/4 of what the best get: they share a queue."""
    net = fl.Network(duration="12s", warmup="2s")
    net.link("a", "b", name="link", rate="2Mbit/s", delay="1ms", queue={"sfq": {"limit": "2000p", "buckets": BUCKETS}})
    net.flow("f", "a", "b", count=flows, udp={"header": "0B"}, source=fl.Poisson(rate="2Mbit/s", size="1000B"))
    result = net.run(seeds=SEEDS)
    shares = []
    for _, run in result.flows.group_by("seed"):
        rates = run["goodput"]
        shares.append(float((rates < 0.75 * rates.max()).mean()))
    return interval(shares)


def figure() -> Figure:
    """A flow is alone in its queue with probability (1 - 1/m)^(n - 1)."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    fine = range(1, 61)
    axes.plot(fine, [1 - (1 - 1 / BUCKETS) ** (n - 1) for n in fine], label=f"formula, {BUCKETS} queues")
    counts = [2, 5, 10, 15, 20, 30, 40, 60]
    means, widths = errors([sharing(n) for n in counts])
    axes.errorbar(counts, means, yerr=widths, fmt="o", ms=4, capsize=2, label="measured, ten salts, 95 % interval")
    axes.set(xlabel="flows", ylabel="share of the flows that share a queue", ylim=(0, 1), xlim=(0, 62))
    axes.legend(fontsize="small")
    return drawing
