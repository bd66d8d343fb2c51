"""H-TCP's window after each loss against the sum of alpha(Delta) over the round trips."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import cuts_of, window_of

RTT = 0.1
PATH = {"rate": "100Mbit/s", "delay": "50ms", "limit": "200p", "duration": "40s", "sample": "100ms"}


def alpha(delta: float) -> float:
    """draft-leith-tcp-htcp-06, Delta_L = 1 s."""
    d = max(0.0, delta - 1.0)
    return 1 + 10 * d + 0.25 * d * d


def figure() -> Figure:
    """Windows over time, and 2 (1 - beta) alpha segments a round trip with the beta of each loss."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    times, windows = window_of({"cc": "htcp", "initial_ssthresh": "800p"}, **PATH)
    starts = cuts_of(windows)
    axes.plot(times[::2], windows[::2], ".", ms=4, label="H-TCP")
    path = 100e6 * RTT / 8 / 1488
    for n, (i, end) in enumerate(zip(starts, [*starts[1:], len(times)], strict=True)):
        beta = windows[i] / max(windows[max(0, i - 20) : i])
        w, t, line = windows[i], times[i], []
        while t < times[end - 1] - 0.3:
            line.append((t, w))
            w += 2 * (1 - beta) * alpha(t - times[i] + RTT)
            t += RTT * max(1.0, w / path)
        axes.plot([t for t, _ in line], [w for _, w in line], color="0.4", lw=1, label="sum of 2 (1 - beta) alpha" if n == 0 else None)
    axes.plot(*window_of({"cc": "sack", "initial_ssthresh": "800p"}, **PATH), color="C1", lw=1, label="Reno with SACK")
    axes.set(xlabel="time (s)", ylabel="congestion window (segments)", ylim=(350, 1150))
    axes.legend(fontsize="small", loc="lower right", ncols=3)
    return drawing
