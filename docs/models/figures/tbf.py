"""Output of a token bucket, against its envelope."""

from __future__ import annotations

from itertools import accumulate

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

RATE, BURST, PEAK, MTU = 2e6, 50_000, 10e6, 1500


def sent(**params: str) -> tuple[list[float], list[float]]:
    """Times in ms, and kilobyte sent until then, behind a flow that always has more."""
    queue = {"tbf": {"rate": "2Mbit/s", "burst": f"{BURST}B", "queue": {"droptail": {"limit": "100p"}}, **params}}
    net = fl.Network(duration="150ms", sample="1ms").link("a", "b", name="link", rate="100Mbit/s", delay="1ms", queue=queue)
    net.flow("udp", "a", "b", udp={"header": "0B"}, source=fl.Cbr(rate="50Mbit/s", size="1000B"))
    series = net.run(seeds=1).link_series.filter((pl.col("link") == "link") & (pl.col("time") > 0))
    return [1e3 * t for t in series["time"]], list(accumulate(v * 1e-3 / 8e3 for v in series["throughput"]))


def figure() -> Figure:
    """Data sent by a saturated source, with and without a peak rate."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    fine = [i / 4 for i in range(601)]

    def bucket(t: float, rate: float, depth: float) -> float:
        return (depth + rate / 8 * t / 1e3) / 1e3

    source = [50e6 / 8 * t / 1e6 for t in fine]
    plain = [min(s, bucket(t, RATE, BURST)) for s, t in zip(source, fine, strict=True)]
    peak = [min(p, bucket(t, PEAK, MTU)) for p, t in zip(plain, fine, strict=True)]
    for envelope, params, name in ((plain, {}, "one bucket"), (peak, {"peakrate": "10Mbit/s", "mtu": f"{MTU}B"}, "with a peak rate")):
        (line,) = axes.plot(fine, envelope, label=f"{name}, envelope")
        times, kilobytes = sent(**params)
        axes.plot(times[::3], kilobytes[::3], "o", ms=3.5, mfc="none", color=line.get_color(), label=f"{name}, sent")
    axes.set(xlabel="time (ms)", ylabel="sent (kilobyte)", xlim=(0, 150), ylim=(0, None))
    axes.legend(fontsize="small")
    return drawing
