"""Congestion-signal control: who sends when at one source, and class means of 200 flows between the bounds of strict priority."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

from .common import CLASSES, class_means, who_sends

BOUNDS = ((187, 366), (551, 728), (996, 1171), (1427, 1600), (775, 1171), (1212, 1600))
"""Seconds under strict priority: one flow of a class after the other, and equal shares within a class."""
PRINTED = (290.39, 612.04, 1084.67, 1581.06, 802.65, 1390.16)
"""Yang and Fu 2001, table 4, cc/cc, FCFS, first source."""


def figure() -> Figure:
    """Goodput over time, and points of class means with the bounds."""
    drawing = Figure(figsize=(7.5, 3.2), layout="constrained")
    left, right = drawing.subplots(1, 2)
    who_sends(left, fl.CongestionSignal(), source=fl.File(size="1MB"))
    means, places = class_means("congestion_signal"), range(len(CLASSES))
    low, high = [b[0] for b in BOUNDS], [b[1] for b in BOUNDS]
    right.vlines(places, low, high, color="0.75", lw=9, label="strict priority")
    right.plot(places, [means[c] for c in CLASSES], "C0o", ms=5, label="fairlane")
    right.plot(places, PRINTED, "rx", ms=5, label="Yang and Fu 2001")
    right.set(xticks=list(places), xticklabels=CLASSES, ylabel="mean transmission time (s)", ylim=(0, None))
    right.legend(fontsize="small")
    return drawing
