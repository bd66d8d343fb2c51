"""Marks at the head and at the tail: how far slow start overshoots a threshold before its sender hears of it."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

TRIP, SERVICE = 40.0, 0.8
"""Round trip without waiting, and the link's time for a packet, in milliseconds."""


def peak(threshold: int, mark_from: str) -> float:
    """The longest queue of one flow in slow start behind a queue that marks from a threshold on."""
    step = {"min": f"{threshold}p", "max": f"{threshold}p", "max_p": 1.0, "w_q": 1.0, "gentle": False, "ecn": True, "hard_drop": False}
    net = fl.Network(duration="2s")
    net.link("a", "b", name="link", rate="10Mbit/s", delay="20ms", queue={"red": {**step, "limit": "10000p", "mark_from": mark_from}})
    net.flow("tcp", "a", "b", tcp={"cc": "sack", "ecn": "classic", "mss": "960B", "ack_every": 1})
    return float(net.run(seeds=1).value("queue_max", link="link").mean or 0.0)


def figure() -> Figure:
    """The queue grows by a packet for each that leaves until a mark has come round; from the tail it waits behind the threshold first."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    thresholds = [40, 50, 60, 80, 100]
    for mark_from, waits in (("tail", 1), ("head", 0)):
        (line,) = axes.plot(thresholds, [(1 + waits) * k + TRIP / SERVICE for k in thresholds], label=f"mark_from = {mark_from}, formula")
        peaks = [peak(k, mark_from) for k in thresholds]
        axes.plot(thresholds, peaks, "o", ms=4, color=line.get_color(), label=f"mark_from = {mark_from}, measured")
    axes.set(xlabel="threshold (packets)", ylabel="longest queue (packets)", ylim=(0, None))
    axes.legend(fontsize="small")
    return drawing
