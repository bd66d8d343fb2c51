"""A LEDBAT flow alone and competing with Reno: rates and queueing delay, against the target of RFC 6817."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

TARGET = 60
"""ms"""


def figure() -> Figure:
    """Rates and delay against time."""
    drawing = Figure(figsize=(7, 4.2), layout="constrained")
    rates, delays = drawing.subplots(2, 1, sharex=True)
    net = fl.Network(duration="200s", sample="1s")
    net.link("a", "b", name="link", rate="10Mbit/s", delay="22ms", queue=fl.Droptail(limit="200p"))
    common = {"mss": "1000B", "ack_every": 1}
    net.flow("ledbat", "a", "b", tcp={"cc": {"ledbat": {"target": f"{TARGET}ms"}}, "timestamps": True, **common})
    net.flow("reno", "a", "b", tcp={"cc": "reno", "recovery": "sack", **common}, start="60s", stop="140s")
    run = net.run(seeds=1)
    for name, label in (("ledbat", "LEDBAT"), ("reno", "Reno")):
        series = run.flow_series.filter(pl.col("flow") == name)
        rates.plot(series["time"], series["goodput"] / 1e6, lw=1, label=label)
    links = run.link_series.filter(pl.col("link") == "link")
    delays.plot(links["time"], links["queue"] * 1.04 * 8 / 10, lw=1, color="0.2")
    delays.axhline(TARGET, color="0.4", lw=0.8, ls="--", label="target")
    rates.set(ylabel="goodput (Mbit/s)")
    delays.set(xlabel="time (s)", ylabel="queueing delay (ms)")
    rates.legend(fontsize="small")
    delays.legend(fontsize="small")
    return drawing
