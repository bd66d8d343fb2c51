"""The delay that PIE holds, against its target, for growing numbers of TCP flows."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import bulk_flows, errors


def figure() -> Figure:
    """Mean wait in the queue (points) and targets (lines); a plain buffer of 60 packets for comparison."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    counts = [2, 5, 10, 20, 30, 40]
    for label, target, queue in (
        ("target 15 ms", 15, {"pie": {}}),
        ("target 30 ms", 30, {"pie": {"target": "30ms"}}),
        ("target 15 ms, departure rate", None, {"pie": {"estimate": "dequeue_rate"}}),
        ("DropTail, 60 packets", None, {"droptail": {"limit": "60p"}}),
    ):
        runs = [bulk_flows(queue, n, duration="120s", warmup="40s").run(seeds="1..3") for n in counts]
        means, half = errors([r.value("sojourn_mean", link="link") for r in runs])
        means, half = [1000 * m for m in means], [1000 * h for h in half]
        (bars, *_) = axes.errorbar(counts, means, half, fmt="o", ms=4, capsize=3, label=label)
        if target:
            axes.axhline(target, color=bars.get_color(), lw=1)
    axes.set(xlabel="TCP flows", ylabel="mean wait in the queue (ms)", ylim=(0, None))
    axes.legend(fontsize="small")
    return drawing
