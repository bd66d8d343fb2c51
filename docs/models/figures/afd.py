"""AFD, FRED and RED: what an unresponsive flow gets, against the fair share."""

from __future__ import annotations

from matplotlib.figure import Figure

from .choke import FLOWS, shares


def figure() -> Figure:
    """Share of the link against the rate of the source; lines: all that it sends, and the fair share."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    rates = [0.1, 0.25, 0.5, 0.8, 1.2, 2.0, 3.0, 4.0]
    thresholds = {"limit": "300p", "min": "50p", "max": "100p", "max_p": 0.02, "w_q": 0.002}
    for label, queue in (
        ("RED", {"red": thresholds}),
        ("FRED", {"fred": thresholds}),
        ("AFD", {"afd": {"limit": "300p", "target": "75p"}}),
        ("AFD, shadow = 5000", {"afd": {"limit": "300p", "target": "75p", "shadow": 5000, "sampling": 1}}),
    ):
        means, half = shares(queue, rates)
        axes.errorbar(rates, means, half, fmt="o", ms=4, capsize=3, label=label)
    fine = [i / 50 for i in range(1, 205)]
    axes.plot(fine, [min(r, 1.0) for r in fine], color="0.4", lw=1, label="nothing is taken from it")
    axes.axhline(1 / (FLOWS + 1), color="0.4", lw=1, ls="--", label="fair share")
    axes.set(xlabel="rate of the UDP source / link", ylabel="share of the link", ylim=(0, 1.05))
    axes.legend(fontsize="small")
    return drawing
