"""RAP: the sawtooth of its rate, and its mean."""

from __future__ import annotations

import math

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

from .tfrc import lossy

LOSSES = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02)


def alone(source: object) -> pl.DataFrame:
    """The series of one flow on a link of 10 Mbit/s and 40 ms there and back, with a queue of 25 packets."""
    net = fl.Network(duration="60s", sample="200ms")
    net.link("a", "b", name="link", rate="10Mbit/s", delay="20ms", queue=fl.Droptail(limit="25p"))
    return net.flow("rate", "a", "b", udp={}, source=source).run(seeds=1).flow_series.filter(pl.col("time") > 30)


def figure() -> Figure:
    """Left: RAP and TFRC alone. Right: the mean against AIMD."""
    drawing = Figure(figsize=(8, 3.2), layout="constrained")
    left, right = drawing.subplots(1, 2)
    for label, source in {"RAP": {"rap": {}}, "TFRC": {"tfrc": {}}}.items():
        series = alone(source)
        left.plot(series["time"], series["rate"] / 1e6, lw=1, label=label)
    left.set(xlabel="time in s", ylabel="allowed rate in Mbit/s", ylim=(0, None))
    left.legend(frameon=False, fontsize=8)
    rates = [(goodput.mean or 0.0) * 0.1 / 8000 for goodput, _ in lossy({"rap": {}}, LOSSES)]
    right.loglog(LOSSES, rates, "o", ms=4, label="simulated")
    right.loglog(LOSSES, [math.sqrt(1.5 / p) for p in LOSSES], lw=1, label="√(1.5 / p)")
    right.set(xlabel="loss", ylabel="packets a round trip")
    right.legend(frameon=False, fontsize=8)
    return drawing
