"""Utilisation by TCP flows whose windows ModRED has cut to one segment."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import bulk_flows, errors

SEGMENT, DELAY, ACK_DELAY = 1000, 0.02, 0.04
"""Payload in bytes; delay of the link in seconds; delay of an acknowledgment for a lone segment."""


def figure() -> Figure:
    """With windows cut for good, n flows carry n segments a round trip, up to the link; the delay of acknowledgments counts too."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    counts = [2, 5, 10, 20, 30, 40, 50]
    # Wire times of a data segment and of its acknowledgment, both of 40 bytes more.
    wire = 8 * (SEGMENT + 40) / 1e7
    rtt = 2 * DELAY + wire + 8 * 40 / 1e7
    always = {"min": "0p", "in_max": "1000p", "out_max": "1000p"}
    for label, params, every, trip in (
        ("windows always cut, every segment acknowledged", always, 1, rtt),
        ("windows always cut, delayed acknowledgments", always, 2, rtt + ACK_DELAY),
        ("cut from an average of 5, drops above 10", {}, 1, None),
    ):
        queue = {"modred": {"limit": "100p", "window": f"{SEGMENT}B", **params}}
        tcp = {"cc": "newreno", "mss": f"{SEGMENT}B", "ack_every": every, "ack_delay": f"{round(1000 * ACK_DELAY)}ms"}
        runs = [bulk_flows(queue, n, duration="60s", warmup="20s", tcp=tcp).run(seeds="1..3") for n in counts]
        means, half = errors([r.value("utilisation", link="link") for r in runs])
        (bars, *_) = axes.errorbar(counts, means, half, fmt="o", ms=4, capsize=3, label=label)
        if trip:
            fine = [i / 4 for i in range(4, 220)]
            axes.plot(
                fine, [min(n * wire / trip, 1.0) for n in fine], lw=1, color=bars.get_color(), label=f"n segments in {1000 * trip:.0f} ms"
            )
    axes.set(xlabel="TCP flows", ylabel="utilisation")
    axes.legend(fontsize="small")
    return drawing
