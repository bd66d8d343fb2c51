"""When CoDel drops, under a load that does not answer: against the schedule of RFC 8289, section 5.3."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

from .common import one_link

TARGET, INTERVAL, SERVICE = 0.005, 0.1, 0.0008
"""CoDel's parameters and the time to send a packet, in seconds."""


def schedule(start: float, until: float) -> tuple[list[float], list[int]]:
    """Times of the drops from the first on, and their count."""
    times, t = [], start
    while t < until:
        times.append(t)
        t += INTERVAL / len(times) ** 0.5
    return times, list(range(1, len(times) + 1))


def figure() -> Figure:
    """Drops so far against time: CoDel with exact and with 16-bit square roots, and COBALT."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    rate, until = 1.25, 6.0
    # A packet that arrives at t waits (rate - 1) t: the first to wait for the target leaves at rate / (rate - 1) of it.
    # The first drop comes an interval later.
    first = TARGET * rate / (rate - 1) + INTERVAL
    axes.plot(*schedule(first, until), color="0.4", lw=1, drawstyle="steps-post", label="100 ms / sqrt(count), RFC 8289")
    for label, queue, marker in (
        ("CoDel", {"codel": {"limit": "1000000p"}}, "o"),
        ("CoDel, preset linux", {"codel": {"preset": "linux", "limit": "1000000p"}}, "x"),
        ("COBALT", {"cobalt": {"limit": "1000000p"}}, "+"),
    ):
        source = fl.Cbr(rate=f"{rate * 10}Mbit/s", size="1000B")
        series = one_link(duration=f"{until}s", sample="100ms", queue=queue, source=source).run(seeds=1).link_series
        series = series.filter(pl.col("link") == "link")
        axes.plot(series["time"], series["drops"].cum_sum(), marker, ms=4, label=label)
    axes.set(xlabel="time (s)", ylabel="packets dropped so far")
    axes.legend(fontsize="small")
    return drawing
