"""A recorded call: as recorded, and as received while a download competes with it."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

CALL = Path(__file__).resolve().parents[3] / "examples" / "data" / "call.txt"


def figure() -> Figure:
    """Bytes over time, and percentiles of the delay behind two queues."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    left, right = drawing.subplots(1, 2)
    rows = [line.split() for line in CALL.read_text().splitlines() if not line.startswith("#")]
    times = [float(t) - float(rows[0][0]) for t, _ in rows]
    left.step(times, [x / 1e3 for x in accumulate(int(s) for _, s in rows)], where="post", label="recorded")
    net = fl.Network(duration="2100ms", sample="50ms").link("a", "b", name="link", rate="10Gbit/s", delay="1us")
    net.flow("call", "a", "b", udp={"header": "0B"}, source=fl.Replay(file=str(CALL)))
    series = net.run(seeds=1).link_series.filter((pl.col("link") == "link") & (pl.col("time") > 0))
    sent = list(accumulate(x * 0.05 / 8 / 1e3 for x in series["throughput"]))
    left.plot(series["time"], sent, "o", ms=3, mfc="none", label="sent")
    left.set(xlabel="time (s)", ylabel="kB")
    left.legend(fontsize="small")
    names = ("delay_p50", "delay_p95", "delay_p99")
    for k, (label, queue) in enumerate((("100 packets", fl.Droptail(limit="100p")), ("FQ-CoDel", fl.FqCodel()))):
        net = fl.Network(duration="60s", warmup="5s").link("a", "b", name="link", rate="5Mbit/s", delay="20ms", queue=queue)
        net.flow("call", "a", "b", udp={}, source=fl.Replay(file=str(CALL), repeat=True)).flow("tcp", "a", "b", tcp="cubic")
        run = net.run(seeds=1)
        values = [(run.value(n, flow="call").mean or 0.0) * 1e3 for n in names]
        right.bar([i + 0.4 * k - 0.2 for i in range(3)], values, width=0.4, label=label)
    right.set(ylabel="one-way delay of the call (ms)", xticks=range(3), xticklabels=["median", "95 %", "99 %"])
    right.legend(fontsize="small")
    return drawing
