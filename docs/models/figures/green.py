"""GREEN's loss against its formula, for growing numbers of TCP flows."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import bulk_flows, errors

RATE, SEGMENT, C = 10e6, 1000, 1.22
"""Link in bit/s, segment in bytes, constant of the formula."""


def figure() -> Figure:
    """Left: loss; lines: (N MSS c / (L RTT))^2. Right: the delay that is left."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    loss, delay = drawing.subplots(1, 2)
    counts = [2, 5, 10, 20, 30, 40]
    for rtt in (60, 100):
        queue = {"green": {"limit": "1000p", "rtt": f"{rtt}ms", "mss": f"{SEGMENT}B", "c": C}}
        tcp = {"cc": "newreno", "mss": f"{SEGMENT}B", "ack_every": 1}
        runs = [bulk_flows(queue, n, duration="120s", warmup="40s", tcp=tcp).run(seeds="1..3") for n in counts]
        means, half = errors([r.value("loss", link="link") for r in runs])
        (bars, *_) = loss.errorbar(counts, means, half, fmt="o", ms=4, capsize=3, label=f"measured, RTT {rtt} ms")
        fine = [i / 4 for i in range(4, 165)]
        share = SEGMENT * C / (RATE / 8 * rtt / 1000)
        loss.plot(fine, [(n * share) ** 2 for n in fine], lw=1, color=bars.get_color())
        waits, half = errors([r.value("sojourn_mean", link="link") for r in runs])
        delay.errorbar(counts, [1000 * w for w in waits], [1000 * h for h in half], fmt="o", ms=4, capsize=3, label=f"RTT {rtt} ms")
    loss.set(xlabel="TCP flows", ylabel="share of arrivals dropped", ylim=(0, None))
    loss.legend(fontsize="small")
    delay.set(xlabel="TCP flows", ylabel="mean wait in the queue (ms)", ylim=(0, None))
    delay.legend(fontsize="small")
    return drawing
