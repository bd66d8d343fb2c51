"""CUBIC's window after each loss against equation 1 of RFC 9438; Reno's on the same path."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import cuts_of, window_of

C, BETA = 0.4, 0.7
"""Section 5 of RFC 9438."""
PATH = {"rate": "100Mbit/s", "delay": "50ms", "limit": "200p", "duration": "60s", "sample": "100ms"}


def figure() -> Figure:
    """Windows over time, and W_cubic(t) of each stage of congestion avoidance."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    times, windows = window_of({"cc": {"cubic": {"fast_convergence": False}}, "initial_ssthresh": "800p"}, **PATH)
    # The first reduction ends slow start, between two samples.
    starts = cuts_of(windows)[1:]
    axes.plot(times[::3], windows[::3], ".", ms=4, label="CUBIC")
    for n, (i, end) in enumerate(zip(starts, [*starts[1:], len(times)], strict=True)):
        top = max(windows[max(0, i - 20) : i])
        k = (top * (1 - BETA) / C) ** (1 / 3)
        span = [t for t in times[i:end] if t < times[end - 1] - 0.3]
        axes.plot(
            span, [C * (t - times[i] - k) ** 3 + top for t in span], color="0.4", lw=1, label="C (t - K)³ + W_max" if n == 0 else None
        )
    axes.plot(*window_of({"cc": "sack", "initial_ssthresh": "800p"}, **PATH), color="C1", lw=1, label="Reno with SACK")
    axes.set(xlabel="time (s)", ylabel="congestion window (segments)", ylim=(400, 1150))
    axes.legend(fontsize="small", loc="lower right", ncols=3)
    return drawing
