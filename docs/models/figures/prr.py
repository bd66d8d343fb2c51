"""Packets in flight while a reduction is spread: one loss of twenty, and fifteen."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import dropped

BOUNDS = {"off": "cut at once (RFC 6675)", "crb": "PRR-CRB", "ssrb": "PRR-SSRB", "rfc9937": "RFC 9937"}


def figure() -> Figure:
    """Segments in flight from the first duplicate on, for each bound."""
    drawing = Figure(figsize=(7, 3.2), layout="constrained")
    lost = {"the first of 20 is lost": 1, "the first 15 of 20 are lost": 15}
    for axes, (title, count) in zip(drawing.subplots(1, 2, sharey=True), lost.items(), strict=True):
        for i, (prr, label) in enumerate(BOUNDS.items()):
            params = {"cc": "sack", "initial_window": "20p", "initial_ssthresh": "2p", "prr": prr, "loss_basis": "cwnd"}
            trace = dropped(params, dict.fromkeys(range(count), 1), until=0.45)
            axes.step([1000 * t for t, _, _ in trace], [f for _, f, _ in trace], where="post", lw=1.2, color=f"C{i}", label=label)
        axes.axhline(10, lw=0.6, color="0.5")
        axes.set(xlim=(100, 400), ylim=(0, 24), xlabel="time (ms)")
        axes.set_title(title, fontsize="medium")
    drawing.axes[0].set_ylabel("segments in flight")
    drawing.axes[1].legend(fontsize="small")
    return drawing
