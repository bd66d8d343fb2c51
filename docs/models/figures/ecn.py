"""Benefit of marks: the same flows through the same RED, with ECN and without."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

COUNTS = [2, 5, 10, 20, 30]
"""Numbers of TCP flows."""

RED = {"red": {"min": "10p", "max": "60p", "limit": "200p", "ecn": True}}


def network(ecn: str, flows: int, duration: str, warmup: str, sample: str | None = None) -> fl.Network:
    """SACK flows over 10 Mbit/s and a round trip of 40 ms."""
    settings = {"sample": sample} if sample else {}
    net = fl.Network(duration=duration, warmup=warmup, **settings)
    net.link("a", "b", name="link", rate="10Mbit/s", delay="20ms", queue=RED)
    return net.flow("tcp", "a", "b", count=flows, tcp={"cc": "sack", "ecn": ecn}, spread="1s")


def figure() -> Figure:
    """Left: window of one flow. Right: share of the data that is sent again."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    window, again = drawing.subplots(1, 2)
    for label, ecn in (("without ECN", "off"), ("ECN", "classic")):
        series = network(ecn, 1, "40s", "0s", "20ms").run(seeds=1).flow_series.filter(pl.col("time") >= 5)
        window.plot(series["time"], series["cwnd"] / 1460, lw=1, label=label)
        shares = []
        for n in COUNTS:
            flows = network(ecn, n, "60s", "10s").run(seeds=1).flows
            shares.append(flows["retransmits"].sum() / flows["packets_sent"].sum())
        again.plot(COUNTS, shares, "o", ms=4, label=label)
    window.set(xlabel="time (s)", ylabel="congestion window (segments)", ylim=(0, None))
    again.set(xlabel="TCP flows", ylabel="share of packets sent again", ylim=(-0.002, None))
    for axes in (window, again):
        axes.legend(fontsize="small")
    return drawing
