"""The window of one Illinois flow between losses, against alpha of the paper added up."""

from __future__ import annotations

from matplotlib.figure import Figure

from .common import one_flow

RATE, BASE, BUFFER, SIZE = 100e6, 0.1, 300, 1040 * 8
"""bit/s, s, packets, bits of a packet on the wire."""
ALPHA = (0.3, 10.0)
THETA = 5
"""Round trips with an empty queue before the growth is the largest again."""


def alpha(delay: float, most: float) -> float:
    """Growth a round trip (section 3, equation 3)."""
    least, largest = ALPHA
    low = 0.01 * most
    if delay <= low:
        return largest
    k = (most - low) * least / (largest - least)
    return k * largest / (k - low + delay)


def formula(window: float, start: float, until: float) -> tuple[list[float], list[float]]:
    """The window from `start` on, one point a round trip; the growth follows the delay of the round trip before."""
    path, most = RATE * BASE / SIZE, BUFFER * SIZE / RATE
    times, windows, time, delay = [], [], start, 0.0
    while time < until:
        times.append(time)
        windows.append(window)
        window += alpha(delay if len(times) > THETA else most, most)
        delay = max(0.0, window - path) * SIZE / RATE
        time += BASE + delay
    return times, windows


def figure() -> Figure:
    """Window against time, and the formula from each loss on."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    run = one_flow({"cc": "illinois", "initial_ssthresh": "1000p"}, rate="100Mbit/s", limit=f"{BUFFER}p", duration="240s")
    series = run.flow_series
    times, windows = series["time"].to_list(), (series["cwnd"] / 1000.0).to_list()
    axes.plot(times, windows, lw=1.2, label="fairlane")
    cuts = [k for k in range(1, len(times)) if windows[k] < 0.95 * windows[k - 1] and times[k] > 5]
    for begin, end in zip(cuts, [*cuts[1:], len(times) - 1], strict=True):
        axes.plot(
            *formula(windows[begin], times[begin], times[end]), color="0.2", lw=1, ls="--", label="formula" if begin == cuts[0] else None
        )
    axes.set(xlabel="time (s)", ylabel="cwnd (segments)")
    axes.legend(fontsize="small")
    return drawing
