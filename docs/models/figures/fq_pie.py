"""Delay of bulk TCP flows under FQ-PIE, against its target."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import bulk_flows


def figure() -> Figure:
    """Each queue is held at the target, whatever number of flows there is."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    targets = [10, 15, 20, 30, 40, 60]
    axes.plot([0, 65], [0, 65], color="black", lw=1, label="target")
    for flows, mark in ((1, "o"), (3, "s"), (6, "^")):
        waits = []
        for target in targets:
            net = bulk_flows({"fq_pie": {"target": f"{target}ms"}}, flows, duration="100s", warmup="20s")
            waits.append(1e3 * net.run(seeds=1).value("sojourn_mean", link="link").mean)
        axes.plot(targets, waits, mark, ms=5, label=f"{flows} flow{'s' if flows > 1 else ''}, measured")
    axes.set(xlabel="target (ms)", ylabel="mean wait in the queue (ms)", xlim=(0, 65), ylim=(0, 75))
    axes.legend(fontsize="small")
    return drawing
