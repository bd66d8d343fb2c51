"""BIC's window after each loss against the growth of each round trip that its rules ask for."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import cuts_of, window_of

BETA, MOST, SEARCH, SMOOTH = 0.8, 16.0, 4.0, 20.0
RTT = 0.1
PATH = {"rate": "100Mbit/s", "delay": "50ms", "limit": "200p", "duration": "60s", "sample": "100ms"}


def growth(window: float, top: float) -> float:
    """Segments that a round trip adds."""
    far = abs(window - top)
    smooth = SEARCH / SMOOTH
    if window < top:
        return min(far / SEARCH, MOST) if far > SEARCH else smooth
    return min(far / (SEARCH - 1), MOST) if far >= SEARCH else smooth


def figure() -> Figure:
    """Windows over time, and the sum of the steps."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    times, windows = window_of({"cc": {"bic": {"fast_convergence": False}}, "initial_ssthresh": "800p"}, **PATH)
    starts = cuts_of(windows)
    axes.plot(times[::2], windows[::2], ".", ms=4, label="BIC")
    path = 100e6 * RTT / 8 / 1488
    for n, (i, end) in enumerate(zip(starts, [*starts[1:], len(times)], strict=True)):
        top = max(windows[max(0, i - 20) : i])
        w, t, line = windows[i], times[i], []
        while t < times[end - 1] - 0.3:
            line.append((t, w))
            w += growth(w, top)
            # Beyond what the path holds a round trip takes as long as the queue is.
            t += RTT * max(1.0, w / path)
        axes.plot([t for t, _ in line], [w for _, w in line], color="0.4", lw=1, label="sum of the steps" if n == 0 else None)
    axes.axhline(path, color="0.7", lw=0.8, ls="--", label="bandwidth-delay product")
    axes.set(xlabel="time (s)", ylabel="congestion window (segments)", ylim=(700, 1100))
    axes.legend(fontsize="small", loc="lower right", ncols=3)
    return drawing
