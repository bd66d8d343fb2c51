"""How long a short file takes with Fast Open and without, against the round trips that each needs (RFC 7413 section 1)."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl


def duration(delay: int, mode: str) -> float:
    """Time until the file has arrived, in ms, over `delay` ms one way."""
    net = fl.Network(duration="5s")
    net.link("a", "b", name="link", rate="10Mbit/s", delay=f"{delay}ms")
    tcp = {"cc": "newreno", "fast_open": mode}
    net.flow("first", "a", "b", tcp=tcp, source={"file": {"size": "1000B"}})
    net.flow("second", "a", "b", tcp=tcp, source={"file": {"size": "1000B"}}, start="2s")
    return 1e3 * net.run(seeds=1).flows["completion_time"][1]


def figure() -> Figure:
    """Times against the delay of the path."""
    drawing = Figure(figsize=(7, 3), layout="constrained")
    axes = drawing.subplots()
    delays = range(5, 101, 5)
    for mode, label, trips in (("off", "three-way handshake first", 1.5), ("cookie", "data in the SYN", 0.5)):
        axes.plot(delays, [duration(d, mode) for d in delays], "o", ms=3, label=label)
        axes.plot(delays, [2 * trips * d for d in delays], lw=0.8, color="0.4", ls="--")
    axes.set(xlabel="delay one way (ms)", ylabel="time to arrive (ms)", xlim=(0, None), ylim=(0, None))
    axes.plot([], [], lw=0.8, color="0.4", ls="--", label="1.5 and 0.5 round trips")
    axes.legend(fontsize="small")
    return drawing
