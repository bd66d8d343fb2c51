"""Mean number waiting before one link, against M/D/1 and M/M/1."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

from .common import SEEDS, errors, one_link


def figure() -> Figure:
    """Mean number waiting before one link, against M/D/1 and M/M/1 (Kleinrock, volume 1)."""
    loads = [0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9]
    fine = [i / 200 for i in range(20, 186)]
    laws = {
        "fixed": ("fixed sizes", "M/D/1", lambda r: r * r / (2 * (1 - r))),
        "exponential": ("exponential sizes", "M/M/1", lambda r: r * r / (1 - r)),
    }
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    for sizes, (label, name, law) in laws.items():
        waiting = []
        for load in loads:
            source = fl.Poisson(rate=f"{round(load * 1e7)}bit/s", size="1000B", sizes=sizes)
            waiting.append(one_link(duration="210s", warmup="10s", source=source).run(seeds=SEEDS).value("queue_mean", link="link"))
        (line,) = axes.plot(fine, [law(r) for r in fine], label=f"{name}, formula")
        means, half = errors(waiting)
        axes.errorbar(loads, means, half, fmt="o", ms=4, capsize=3, color=line.get_color(), label=f"{label}, ten runs, 95 %")
    axes.set(xlabel="load", ylabel="packets waiting, time mean", yscale="log")
    axes.legend(fontsize="small")
    return drawing
