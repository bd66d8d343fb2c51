"""TFRC: its rate and TCP's, and the throughput equation."""

from __future__ import annotations

import math

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import fairlane as fl

from .common import SEEDS

TCP = {"preset": "rfc", "cc": "newreno", "recovery": "sack", "mss": "1000B", "ack_every": 1}


def shared(source: object, *, flows: int, duration: str) -> fl.Network:
    """Flows of a rate control and as many of TCP behind a RED queue of 10 Mbit/s and 48 ms."""
    net = fl.Network(duration=duration, sample="1s")
    net.dumbbell(
        pairs=2 * flows,
        access={"rate": "100Mbit/s", "delay": "2ms"},
        bottleneck={"rate": "10Mbit/s", "delay": "20ms", "queue": {"red": {"limit": "100p", "min": "10p", "max": "50p"}}},
    )
    net.flow("tcp", "s{i}", "d{i}", count=flows, spread="1s", tcp=TCP)
    return net.flow("rate", "s{i}", "d{i}", count=flows, first=flows, spread="1s", udp={}, source=source)


def lossy(source: object, losses: tuple[float, ...]) -> list[tuple[fl.Interval, fl.Result]]:
    """Goodput, and the whole result, of one flow over a path of 100 ms there and back with random losses."""
    found = []
    for loss in losses:
        net = fl.Network(duration="220s", warmup="20s")
        net.link("a", "b", name="link", rate="1Gbit/s", delay="50ms", queue=fl.Droptail(limit="10000p"), loss=loss, reverse={"loss": 0.0})
        result = net.flow("rate", "a", "b", udp={}, source=source).run(seeds=SEEDS)
        found.append((result.value("goodput", flow="rate"), result))
    return found


def equation(p: float) -> float:
    """Packets a round trip (RFC 5348 section 3.1)."""
    return 1.0 / (math.sqrt(2 * p / 3) + 12 * math.sqrt(3 * p / 8) * p * (1 + 32 * p * p))


def draw_rates(axes: Axes, series: pl.DataFrame, names: dict[str, str]) -> None:
    """Throughput over time of the named flows."""
    for flow, label in names.items():
        one = series.filter((pl.col("flow") == flow) & (pl.col("time") > 1))
        axes.plot(one["time"], one["throughput"] / 1e6, lw=1, label=label)
    axes.set(xlabel="time in s", ylabel="rate in Mbit/s", ylim=(0, None))
    axes.legend(frameon=False, fontsize=8)


LOSSES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)


def figure() -> Figure:
    """Left: one flow of four. Right: the equation."""
    drawing = Figure(figsize=(8, 3.2), layout="constrained")
    left, right = drawing.subplots(1, 2)
    series = shared({"tfrc": {}}, flows=4, duration="100s").run(seeds=1).flow_series
    draw_rates(left, series, {"tcp.0": "TCP", "rate.0": "TFRC"})
    rates, events = [], []
    for goodput, result in lossy({"tfrc": {}}, LOSSES):
        rates.append((goodput.mean or 0.0) * 0.1 / 8000)
        # The sender's mean loss event rate: losses of one round trip are one event.
        flows = result.flows
        events.append(float(flows["cwnd_cuts"].sum()) / float(flows["packets_sent"].sum()))
    right.loglog(events, rates, "o", ms=4, label="simulated")
    grid = [10 ** (-3.3 + 0.1 * k) for k in range(26)]
    right.loglog(grid, [equation(p) for p in grid], lw=1, label="equation")
    right.set(xlabel="loss event rate", ylabel="packets a round trip")
    right.legend(frameon=False, fontsize=8)
    return drawing
