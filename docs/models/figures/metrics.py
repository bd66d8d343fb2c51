"""Percentiles of the delay in an M/M/1 system, against its exponential law."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

import fairlane as fl

from .common import SEEDS, errors, one_link


def figure() -> Figure:
    """Percentiles of the time in an M/M/1 system, which is exponential with mean service time / (1 - load)."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    loads = [0.2, 0.4, 0.6, 0.7, 0.8]
    fine = [i / 100 for i in range(15, 84)]
    results = []
    for load in loads:
        source = fl.Poisson(rate=f"{round(load * 1e7)}bit/s", size="1000B", sizes="exponential")
        results.append(one_link(duration="310s", warmup="10s", source=source).run(seeds=SEEDS))
    for name, q in (("delay_p50", 0.5), ("delay_p95", 0.95), ("delay_p99", 0.99)):
        (line,) = axes.plot(fine, [-math.log(1 - q) * 0.8 / (1 - r) + 1.0 for r in fine], label=f"{name}, formula")
        means, half = errors([r.value(name, flow="udp") for r in results])
        axes.errorbar(loads, [m * 1e3 for m in means], [h * 1e3 for h in half], fmt="o", ms=4, capsize=3, color=line.get_color())
    axes.set(xlabel="load", ylabel="one-way delay (ms)", yscale="log")
    axes.legend(fontsize="small", title="points: ten runs, 95 %", title_fontsize="small")
    return drawing
