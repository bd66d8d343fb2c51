"""The queue that PI holds, against its reference, for growing numbers of TCP flows."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import bulk_flows, errors


def figure() -> Figure:
    """Time mean of the queue (points) and q_ref (lines); RED for comparison."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    counts = [10, 20, 30, 40, 50, 60]
    red = {"limit": "400p", "min": "20p", "max": "100p", "max_p": 0.1, "mean_packet": "1500B"}
    for label, target, queue in (
        ("pi, target 50", 50, {"pi": {"limit": "400p", "target": "50p"}}),
        ("pi, target 100", 100, {"pi": {"limit": "400p", "target": "100p"}}),
        ("red, 20 to 100", None, {"red": red}),
    ):
        values = [bulk_flows(queue, n, duration="400s", warmup="200s").run(seeds="1..3").value("queue_mean", link="link") for n in counts]
        means, half = errors(values)
        (bars, *_) = axes.errorbar(counts, means, half, fmt="o", ms=4, capsize=3, label=label)
        if target:
            axes.axhline(target, color=bars.get_color(), lw=1)
    axes.set(xlabel="TCP flows", ylabel="packets waiting, time mean", ylim=(0, 130))
    axes.legend(fontsize="small", loc="lower right")
    return drawing
