"""DCTCP's queue against the analysis of Alizadeh et al. 2010, section 3.3."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

RATE, RTT, PACKET = 100e6, 0.01, 1500
"""bit/s, seconds, bytes on the wire"""
PIPE = RATE * RTT / (8 * PACKET)
"""Packets that a round trip holds."""
STEPS = [15, 20, 30, 40, 60, 80]
"""Thresholds K, in packets."""


def run(cc: str, k: int, seconds: float) -> fl.Result:
    """One flow and a step: packets that wait for K others are marked (CoDel's `ce_threshold` alone, K packets as time)."""
    step = f"{k * 8 * PACKET / RATE * 1e6:.0f}us"
    net = fl.Network(duration=f"{seconds}s", sample="200us")
    queue = {"codel": {"limit": "1000p", "target": "1s", "interval": "10s", "ecn": True, "ce_threshold": step}}
    net.link("a", "b", name="link", rate=f"{RATE:.0f}bit/s", delay=f"{RTT / 2 * 1e3}ms", queue=queue)
    tcp = {"preset": "rfc", "cc": cc, "ack_every": 1} | ({"ecn": "classic"} if cc == "sack" else {})
    return net.flow("tcp", "a", "b", tcp=tcp).run(seeds=1)


def figure() -> Figure:
    """Left: the queue of DCTCP and of Reno with ECN at K = 20. Right: how far it swings, against the square root."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    queue, swing = drawing.subplots(1, 2)
    for label, cc in (("Reno with ECN", "sack"), ("DCTCP", "dctcp")):
        series = run(cc, 20, 6.0).link_series.filter((pl.col("link") == "link") & (pl.col("time") >= 5))
        series = series.gather_every(5)
        queue.plot(series["time"], series["queue"], lw=1, label=label)
    queue.set(xlabel="time (s)", ylabel="packets waiting, K = 20", ylim=(0, None))
    queue.legend(fontsize="small")
    found = []
    for k in STEPS:
        series = run("dctcp", k, 8.0).link_series.filter((pl.col("link") == "link") & (pl.col("time") >= 4))
        found.append(series["queue"].max() - series["queue"].min())
    swing.plot(STEPS, found, "o", ms=4, label="DCTCP")
    fine = range(10, 91)
    swing.plot(fine, [(2 * (PIPE + k)) ** 0.5 / 2 for k in fine], color="0.4", lw=1, label="sqrt(2 (C RTT + K)) / 2")
    swing.set(xlabel="K (packets)", ylabel="swing of the queue (packets)", ylim=(0, 14))
    swing.legend(fontsize="small", loc="lower right")
    return drawing
