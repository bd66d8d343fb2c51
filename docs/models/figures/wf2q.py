"""The burst of Bennett and Zhang's example under WFQ and WF2Q+, against the fluid server."""

from __future__ import annotations

import math

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

SERVICE = 0.8e-3
"""Seconds that a packet of 1000 bytes takes at 10 Mbit/s."""


def left(queue: str) -> tuple[list[float], list[float]]:
    """Times in packet times, and packets of the burst that still wait."""
    classes: list[dict[str, object]] = [{"match": "flow:burst", "weight": 10}]
    classes += [{"match": f"flow:other.{k}"} for k in range(10)]
    net = fl.Network(duration="17.6ms", sample="80us")
    net.link("a", "b", name="link", rate="10Mbit/s", delay="1ms", queue={queue: {"classes": classes}})
    # Eleven packets, and one of each other flow, within ten microseconds.
    net.flow("burst", "a", "b", stop="8.5us", udp={"header": "0B"}, source=fl.Cbr(rate="10Gbit/s", size="1000B"))
    net.flow("other", "a", "b", count=10, start="9us", stop="9.5us", udp={"header": "0B"}, source=fl.Cbr(rate="10Gbit/s", size="1000B"))
    series = net.run(seeds=1).link_series.filter((pl.col("link") == "link") & (pl.col("time") > 0))
    return [t / SERVICE for t in series["time"]], list(series["class0_queue"])


def figure() -> Figure:
    """Packets of the burst that wait: one class of half the link sends eleven at once, ten of a twentieth each send one."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    fine = [i / 50 for i in range(1101)]
    # The fluid server begins a packet of the burst every two packet times.
    axes.step(fine, [max(0, 10 - math.floor(t / 2)) for t in fine], "k--", lw=1, where="post", label="not yet begun by the fluid server")
    for queue, name in (("wfq", "WFQ"), ("wf2q", "WF2Q+")):
        times, waiting = left(queue)
        axes.plot(times, waiting, "o", ms=3, mfc="none", label=f"{name}, waiting")
    axes.set(xlabel="time (packet times)", ylabel="packets of the burst", xlim=(0, 22), ylim=(-0.3, 11))
    axes.legend(fontsize="small")
    return drawing
