"""The rate of a flow in congestion avoidance on paths of different round-trip times: Hybla and Reno against their formulas."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import window_of

RTT0 = 0.025
RTTS = (0.025, 0.1, 0.3)
FIRST = 300
"""Initial window: large, because the formula is for windows that a round trip changes little."""


def figure() -> Figure:
    """Segments a second over time."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    panes = drawing.subplots(1, 2, sharey=True)
    for axes, cc, title in zip(panes, ("hybla", "reno"), ("Hybla: slope 1 / RTT0²", "Reno: slope 1 / RTT²"), strict=True):
        for n, rtt in enumerate(RTTS):
            path = {"rate": "10Gbit/s", "delay": f"{rtt * 500}ms", "limit": "100000p", "duration": "10s", "sample": "250ms"}
            times, windows = window_of({"cc": cc, "initial_window": f"{FIRST}p", "initial_ssthresh": "10p"}, **path)
            slope = 1 / RTT0**2 if cc == "hybla" else 1 / rtt**2
            # Two round trips pass before the window begins to grow: the handshake, and the first data.
            axes.plot(times, [(FIRST / rtt + slope * max(0.0, t - 2 * rtt)) / 1000 for t in times], color=f"C{n}", lw=1)
            axes.plot(
                times[::2], [w / rtt / 1000 for w in windows[::2]], "osx"[n], color=f"C{n}", ms=4, mfc="none", label=f"{1000 * rtt:.0f} ms"
            )
        axes.set(xlabel="time (s)", title=title)
        axes.legend(fontsize="small", title="circles and so on: runs; lines: formula" if cc == "hybla" else None, title_fontsize="small")
    panes[0].set(ylabel="window / RTT (1000 segments/s)")
    return drawing
