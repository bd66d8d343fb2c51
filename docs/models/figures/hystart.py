"""The window in the first second of a flow with each kind of slow start, and what the path and its buffer hold."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import window_of

RATE, RTT, LIMIT = 50e6, 0.08, 900
PATH = {"rate": "50Mbit/s", "delay": "40ms", "limit": f"{LIMIT}p", "duration": "2500ms", "sample": "20ms"}


def figure() -> Figure:
    """Standard slow start overshoots what the path holds, the others end before."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    kinds = {"standard": "standard", "limited": "limited, RFC 3742", "hystart": "HyStart", "hystart_plus_plus": "HyStart++, RFC 9406"}
    for kind, label in kinds.items():
        times, windows = window_of({"cc": "sack", "slow_start": kind, "byte_counting": 2}, **PATH)
        axes.plot(times, windows, lw=1.2, label=label)
    path = RATE * RTT / 8 / 1488
    for window, label in ((path, "path"), (path * 9 / 8, "+ 1/8 of the RTT"), (path + LIMIT, "path and buffer")):
        axes.axhline(window, color="0.5", lw=0.8, ls="--")
        axes.annotate(label, (2.5, window), fontsize="x-small", ha="right", va="bottom", color="0.4")
    axes.set(xlabel="time (s)", ylabel="congestion window (segments)", ylim=(0, 2500))
    axes.legend(fontsize="small", loc="upper left", ncols=2)
    return drawing
