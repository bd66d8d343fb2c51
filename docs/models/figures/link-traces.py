"""A mobile link's capacity, what CUBIC sends over it, and the delay in two queues."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

TRACE = Path(__file__).resolve().parents[3] / "examples" / "data" / "cellular.down"
SPAN = 16.0
BIN = 0.25


def figure() -> Figure:
    """Capacity and throughput in quarters of a second, and the backlog in time of the mean rate."""
    drawing = Figure(figsize=(7, 4.6), layout="constrained")
    above, below = drawing.subplots(2, 1, sharex=True)
    times = [int(line) / 1000 for line in TRACE.read_text().splitlines() if not line.startswith("#")]
    round_s = times[-1]
    bins = [0.0] * int(SPAN / BIN)
    for k in range(int(SPAN / round_s) + 1):
        for t in times:
            if t + k * round_s < SPAN:
                bins[int((t + k * round_s) / BIN)] += 12_000 / BIN / 1e6
    above.bar([BIN * (i + 0.5) for i in range(len(bins))], bins, width=BIN, color="0.85", label="what the link could carry")
    for label, queue in (("200 packets", fl.Droptail(limit="200p")), ("FQ-CoDel", fl.FqCodel())):
        net = fl.Network(duration=f"{SPAN:g}s", sample=f"{BIN:g}s")
        net.link("a", "b", name="link", trace=str(TRACE), delay="20ms", queue=queue, reverse={"rate": "10Mbit/s"})
        run = net.flow("tcp", "a", "b", tcp="cubic").run(seeds=1)
        links = run.link_series.filter((pl.col("link") == "link") & (pl.col("time") > 0))
        flows = run.flow_series.filter(pl.col("time") > 0)
        above.step(links["time"], links["throughput"] / 1e6, where="pre", lw=1, label=label)
        below.plot(flows["time"], flows["srtt"] * 1e3, lw=1, label=label)
    above.set(ylabel="Mbit/s")
    above.legend(fontsize="small", ncols=3)
    below.set(xlabel="time (s)", ylabel="smoothed RTT (ms)", ylim=(0, None))
    below.legend(fontsize="small")
    return drawing
