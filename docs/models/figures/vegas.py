"""The window of one Vegas flow, against that of ns-2."""

from __future__ import annotations

import csv
from pathlib import Path

from matplotlib.figure import Figure

import fairlane as fl

NS2 = Path(__file__).resolve().parents[3] / "validation" / "data" / "ns2" / "C1_cwnd.csv"
"""Windows of ns-2.35 every 0.1 s, case C1."""
UNTIL = 4.0
"""Seconds shown."""


def window(**tcp: object) -> tuple[list[float], list[float]]:
    """Times and windows in packets of one flow over the dumbbell of case C1."""
    net = fl.Network(duration=f"{UNTIL}s", sample="10ms")
    for name, ends, rate, delay in (
        ("in", ("s", "r1"), "100Mbit/s", "1ms"),
        ("middle", ("r1", "r2"), "10Mbit/s", "20ms"),
        ("out", ("r2", "d"), "100Mbit/s", "1ms"),
    ):
        net.link(*ends, name=name, rate=rate, delay=delay, queue=fl.Droptail(limit="50p"))
    series = net.flow("tcp", "s", "d", tcp=tcp).run(seeds=1).flow_series
    return series["time"].to_list(), (series["cwnd"] / 1000.0).to_list()


def ns2() -> tuple[list[float], list[float]]:
    """Times and windows in packets of ns-2."""
    with NS2.open(newline="", encoding="ascii") as file:
        rows = [(float(row["time_s"]), float(row["cwnd_pkts"])) for row in csv.DictReader(file) if row["case"] == "Vegas"]
    shown = [row for row in rows if row[0] <= UNTIL]
    return [t for t, _ in shown], [w for _, w in shown]


def figure() -> Figure:
    """Window against time."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    axes.plot(*window(preset="ns2", cc="vegas", window="10000p"), lw=1.2, label="fairlane")
    axes.plot(*ns2(), "o", ms=4, mfc="none", label="ns-2.35")
    # Round trip of a packet of 1000 bytes and its acknowledgment of 40 over the empty path, in packets of the bottleneck.
    path = (2 * 0.022 + 1040 * 8 * (1 / 10e6 + 2 / 100e6)) * 10e6 / 8000
    for extra in (1, 3):
        axes.axhline(path + extra, color="0.4", lw=0.8, ls="--")
    axes.set(xlabel="time (s)", ylabel="cwnd (packets)")
    axes.legend(fontsize="small")
    return drawing
