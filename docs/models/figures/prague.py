"""Prague and CUBIC side by side over DualPI2."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

COUNTS = [1, 2, 4, 6, 8]
"""Flows of each kind."""
RATE, DELAY = 40e6, 0.005


def figure() -> Figure:
    """Left: the wait in the queue, mean and 99th percentile. Right: the mean rate of a flow."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    wait, rate = drawing.subplots(1, 2)
    empty = DELAY + 8 * 1500 / RATE
    found: dict[str, list[tuple[float, float, float]]] = {"prague": [], "cubic": []}
    for n in COUNTS:
        net = fl.Network(duration="40s", warmup="15s")
        net.link("a", "b", name="link", rate=f"{RATE:.0f}bit/s", delay=f"{DELAY * 1e3}ms", queue="dualpi2")
        net.flow("prague", "a", "b", count=n, tcp="prague", spread="1s")
        net.flow("cubic", "a", "b", count=n, tcp={"cc": "cubic", "ecn": "classic"}, spread="1s")
        flows = net.run(seeds=1).flows
        for kind, values in found.items():
            rows = flows.filter(pl.col("flow").str.starts_with(kind))
            values.append((rows["delay_mean"].mean() - empty, rows["delay_p99"].mean() - empty, rows["goodput"].mean()))
    for kind, label in (("prague", "Prague"), ("cubic", "CUBIC with ECN")):
        mean, late, goodput = zip(*found[kind], strict=True)
        (line,) = wait.plot(COUNTS, [1e3 * v for v in mean], "o", ms=4, label=label)
        wait.plot(COUNTS, [1e3 * v for v in late], "_", ms=9, color=line.get_color())
        rate.plot(COUNTS, [v * 1e-6 for v in goodput], "o", ms=4, label=label)
    wait.set(xlabel="flows of each kind", ylabel="wait in the queue (ms): mean, 99 %", yscale="log")
    rate.plot(COUNTS, [RATE * 1e-6 / (2 * n) for n in COUNTS], color="0.4", lw=1, label="equal shares")
    rate.set(xlabel="flows of each kind", ylabel="mean goodput of a flow (Mbit/s)", ylim=(0, None))
    for axes in (wait, rate):
        axes.legend(fontsize="small")
    return drawing
