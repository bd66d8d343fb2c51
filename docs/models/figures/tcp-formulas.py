"""Goodput of one flow against the probability of loss: Reno and PFTK, SACK and the square-root law, CUBIC and its formula."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from validation.formulas import cases, formulas, measure

SECONDS = 1000


def figure() -> Figure:
    """Lines: the formulas. Points: runs of 1000 s, two seeds."""
    drawing = Figure(figsize=(7, 3.6), layout="constrained")
    axes = drawing.add_subplot()
    p = np.geomspace(1e-5, 6e-2, 200)
    rtt, rto = cases.RTT, cases.RTO
    lines = {
        "reno": ("PFTK", [formulas.pftk(x, rtt, 1, rto) for x in p]),
        "sack": ("square-root law", [formulas.square_root(x, rtt, 1) for x in p]),
        "cubic": ("RFC 9438 section 5.1", [formulas.cubic(x, rtt) for x in p]),
    }
    points = {"reno": cases.LOSSES, "sack": cases.LOSSES, "cubic": (1e-5, 3e-5, *cases.LOSSES)}
    for color, (cc, (label, values)) in zip(("C0", "C1", "C2"), lines.items(), strict=True):
        axes.plot(p, values, color=color, lw=1, label=label)
        runs = [cases.LossCase(cc, 1, x, "", formulas.square_root, 0.0) for x in points[cc]]
        got = [measure.segments_per_second(run, seconds=SECONDS, seeds="1..2")[0] for run in runs]
        axes.plot(points[cc], got, "oxs"[["reno", "sack", "cubic"].index(cc)], color=color, ms=5, fillstyle="none", label=cc)
    axes.set(xscale="log", yscale="log", xlabel="probability of loss", ylabel="goodput (segments/s)")
    axes.legend(fontsize="small", ncols=2)
    return drawing
