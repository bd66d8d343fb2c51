"""RIO under a steady overload: packets in and out of profile, each against its own curve and average."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

from .red import mean_gap

IN, OUT = (20, 60), (10, 50)
"""Thresholds of packets in and out of profile."""


def ramp(avg: float, low: int, high: int) -> float:
    """p_b of the gentle curve with max_p = 0.1."""
    return max(0.0, 0.1 * (avg - low) / (high - low)) if avg < high else min(1.0, 0.1 + 0.9 * (avg - high) / high)


def figure() -> Figure:
    """Share dropped against the average that judges: of IN packets for IN, of all packets for OUT; lines: one over RED's mean gap."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    points: dict[str, list[tuple[float, float]]] = {"in": [], "out": []}
    for inside, outside in [
        (0.3, 0.75),
        (0.5, 0.55),
        (0.5, 0.6),
        (0.7, 0.4),
        (0.8, 0.3),
        (0.9, 0.2),
        (1.0, 0.15),
        (1.05, 0.2),
        (1.1, 0.2),
        (1.15, 0.3),
    ]:
        net = fl.Network(duration="120s", warmup="60s", sample="50ms")
        queue = {
            "rio": {
                "limit": "1000p", "in_min": f"{IN[0]}p", "in_max": f"{IN[1]}p", "in_max_p": 0.1, "out_min": f"{OUT[0]}p",
                "out_max": f"{OUT[1]}p", "out_max_p": 0.1, "w_q": 0.0005, "gentle": True,
            }
        }  # fmt: skip
        net.link("a", "b", name="link", rate="10Mbit/s", delay="1ms", queue=queue)
        for name, code, load in (("in", 10, inside), ("out", 12, outside)):
            source = fl.Poisson(rate=f"{round(load * 1e7)}bit/s", size="1000B")
            net.flow(name, "a", "b", **{"class": code}, udp={"header": "0B"}, source=source)
        result = net.run(seeds=1)
        late = result.link_series.filter((pl.col("link") == "link") & (pl.col("time") >= 60))
        points["in"].append((late["avg_in"].mean(), result.value("loss", flow="in").mean))
        points["out"].append((late["avg"].mean(), result.value("loss", flow="out").mean))
    for name, label, (low, high) in (("in", "IN, by the average of IN", IN), ("out", "OUT, by the total average", OUT)):
        fine = [low + i * 0.25 for i in range(1, 4 * (100 - low))]
        (line,) = axes.plot(fine, [1 / mean_gap(ramp(a, low, high), wait=False) for a in fine], label=f"{label}, formula")
        axes.plot(*zip(*points[name], strict=True), "o", ms=4, color=line.get_color(), label=f"{label}, measured")
    axes.set(xlabel="average queue (packets)", ylabel="share of arrivals dropped", ylim=(0, 1), xlim=(0, 100))
    axes.legend(fontsize="small")
    return drawing
