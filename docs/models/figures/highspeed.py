"""HighSpeed TCP's average window under random loss against its response function, with Reno for comparison."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import average_window

LOSSES = {1e-2: "60s", 3e-3: "60s", 1e-3: "120s", 3e-4: "120s", 1e-4: "120s", 3e-5: "90s"}


def figure() -> Figure:
    """Both axes are logarithmic: a power law is a straight line."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    lines = (
        ("highspeed", "o", "C0", "0.12 / p^0.835, RFC 3649", lambda p: 0.12 / p**0.835 if p < 1e-3 else 1.2 / p**0.5),
        ("sack", "s", "C1", "1.2 / p^0.5, RFC 5681", lambda p: 1.2 / p**0.5),
    )
    for cc, marker, color, label, formula in lines:
        axes.plot(list(LOSSES), [formula(p) for p in LOSSES], color=color, lw=1, label=label)
        got = [average_window({"cc": cc}, p, duration=t) for p, t in LOSSES.items()]
        axes.plot(
            list(LOSSES), got, marker, color=color, ms=5, mfc="none", label={"highspeed": "HighSpeed TCP", "sack": "Reno with SACK"}[cc]
        )
    axes.set(xscale="log", yscale="log", xlabel="probability of loss", ylabel="average window (segments)")
    axes.legend(fontsize="small")
    return drawing
