"""WRED under a steady overload of three drop precedences, each against its own curve."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

from .red import mean_gap

LEVELS = {"AFx1": (10, 40, 70), "AFx2": (12, 25, 55), "AFx3": (14, 10, 40)}
"""Code point of class 1, lower and upper threshold."""


def figure() -> Figure:
    """Share dropped of each precedence against the average of the one queue; lines: one over RED's mean gap."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    levels = [{"match": f"dscp:{code}", "min": f"{low}p", "max": f"{high}p", "max_p": 0.1} for code, low, high in LEVELS.values()]
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in LEVELS}
    for drop in (0.01, 0.02, 0.04, 0.06, 0.09, 0.12, 0.16, 0.2, 0.3):
        net = fl.Network(duration="120s", warmup="60s", sample="50ms")
        queue = {"wred": {"limit": "1000p", "levels": levels, "w_q": 0.0005, "gentle": True}}
        net.link("a", "b", name="link", rate="10Mbit/s", delay="1ms", queue=queue)
        rate = f"{round(1e7 / (1 - drop) / 3)}bit/s"
        for name, (code, _, _) in LEVELS.items():
            source = fl.Poisson(rate=rate, size="1000B")
            net.flow(name.lower(), "a", "b", **{"class": code}, udp={"header": "0B"}, source=source)
        result = net.run(seeds=1)
        late = result.link_series.filter((pl.col("link") == "link") & (pl.col("time") >= 60))
        avg = late["avg"].mean()
        for name in LEVELS:
            points[name].append((avg, result.value("loss", flow=name.lower()).mean))
    for name, (_, low, high) in LEVELS.items():
        fine = [low + i * 0.25 for i in range(1, 4 * (80 - low))]
        p_b = [0.1 * (a - low) / (high - low) if a < high else min(1.0, 0.1 + 0.9 * (a - high) / high) for a in fine]
        (line,) = axes.plot(fine, [1 / mean_gap(p, wait=False) for p in p_b], label=f"{name}, formula, {low} to {high}")
        axes.plot(*zip(*points[name], strict=True), "o", ms=4, color=line.get_color(), label=f"{name}, measured")
    axes.set(xlabel="average queue (packets)", ylabel="share of arrivals dropped", ylim=(0, 0.6), xlim=(5, 65))
    axes.legend(fontsize="small")
    return drawing
