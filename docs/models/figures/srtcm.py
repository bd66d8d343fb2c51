"""Colours of the single rate marker by the offered load, against the shares that its profile allows."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import fairlane as fl

COLOURS = {"green": "C2", "yellow": "C1", "red": "C3"}


def shares(queue: dict[str, object], mbps: float) -> dict[str, float]:
    """Share of each colour among the packets of a CBR flow, after a second in which the buckets were emptied."""
    net = fl.Network(duration="11s", sample="1s").link("a", "b", name="link", rate="10Mbit/s", delay="1ms", queue=queue)
    net.flow("udp", "a", "b", udp={"header": "0B"}, source=fl.Cbr(rate=f"{round(mbps * 1e6)}bit/s", size="1000B"))
    series = net.run(seeds=1).link_series.filter((pl.col("link") == "link") & (pl.col("time") >= 0.999)).sort("time")
    counts = {c: series[f"{c}_packets"][-1] - series[f"{c}_packets"][0] for c in COLOURS}
    return {c: n / sum(counts.values()) for c, n in counts.items()}


def draw(axes: Axes, queue: dict[str, object], laws: dict[str, Callable[[float], float]]) -> None:
    """Measured shares as points, their laws as lines."""
    fine = [i / 50 for i in range(25, 501)]
    loads = [0.8, 1.5, 2.2, 3, 3.8, 4.5, 5.5, 6.5, 8, 9.5]
    found = [shares(queue, load) for load in loads]
    for name, law in laws.items():
        axes.plot(fine, [law(x) for x in fine], color=COLOURS[name], label=f"{name}, formula")
        axes.plot(loads, [f[name] for f in found], "o", ms=5, mfc="none", color=COLOURS[name], label=f"{name}, measured")
    axes.set(xlabel="rate of the flow (Mbit/s)", ylabel="share of its packets", ylim=(-0.03, 1.03))
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))


def figure() -> Figure:
    """Steady shares with CIR 2 Mbit/s: what is beyond it is red once the excess burst is used up."""
    drawing = Figure(figsize=(7, 3), layout="constrained")
    cir = 2.0
    laws = {
        "green": lambda x: min(1, cir / x),
        "yellow": lambda _: 0.0,
        "red": lambda x: max(0, 1 - cir / x),
    }
    draw(drawing.add_subplot(), {"srtcm": {"cir": "2Mbit/s", "cbs": "5000B", "ebs": "5000B"}}, laws)
    return drawing
