"""Time slots: sending times of the flows of one source; class means of 200 flows next to the fluid model and the paper."""

from __future__ import annotations

from matplotlib.figure import Figure

import fairlane as fl

from .common import CLASSES, class_means, who_sends

MODEL = (448.3, 1106.9, 1428.7, 1895.2, 1548.3, 1804.8)
"""Seconds: 0.5 Mbit/s a source, slots of 0.1 s, 1 s lost in each turn of TCP."""
PRINTED = (450.42, 1114.75, 1447.57, 1910.88, 1533.65, 1719.07)
"""Yang and Fu 2001, table 4, ts/ts, FCFS, first source."""


def figure() -> Figure:
    """Goodput over time, and bars of class means."""
    drawing = Figure(figsize=(7.5, 3.2), layout="constrained")
    left, right = drawing.subplots(1, 2)
    who_sends(left, fl.TimeSlots(slot="30ms"))
    means, places = class_means("time_slots"), range(len(CLASSES))
    right.bar(places, [means[c] for c in CLASSES], color="C0", alpha=0.6, label="fairlane")
    right.plot(places, MODEL, "k_", ms=18, label="fluid model")
    right.plot(places, PRINTED, "rx", ms=5, label="Yang and Fu 2001")
    right.set(xticks=list(places), xticklabels=CLASSES, ylabel="mean transmission time (s)")
    right.legend(fontsize="small")
    return drawing
