"""RED under a steady overload, against the drop probability of Floyd and Jacobson 1993."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

import fairlane as fl

from .common import one_link


def mean_gap(p_b: float, *, wait: bool) -> float:
    """Mean number of arrivals from drop to drop at a steady p_b, from p_a of Floyd and Jacobson 1993, section 4."""
    left, mean, count, last = 1.0, 0.0, 0, 2.0 if wait else 1.0
    while left > 1e-12:
        count += 1
        expected = count * p_b
        p = 0.0 if expected < last - 1 else p_b / (last - expected) if expected < last else 1.0
        mean += count * left * min(p, 1.0)
        left *= 1 - min(p, 1.0)
    return mean


def figure() -> Figure:
    """Share dropped at a steady overload, against the mean of the average queue."""
    drawing = Figure(figsize=(7, 3.4), layout="constrained")
    axes = drawing.add_subplot()
    fine = [20 + i * 0.25 for i in range(1, 240)]
    for wait, label in ((False, "wait = false"), (True, "wait = true")):
        formula = []
        for avg in fine:
            p_b = 0.1 * (avg - 20) / 40 if avg < 60 else 0.1 + 0.9 * (avg - 60) / 60
            formula.append(1 / mean_gap(p_b, wait=wait))
        (line,) = axes.plot(fine, formula, label=f"formula, {label}")
        xs, ys = [], []
        for drop in (0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4):
            rate = f"{round(1e7 / (1 - drop))}bit/s"
            # A slow average makes p_b nearly constant, which the formula supposes.
            queue = fl.Red(limit="1000p", min="20p", max="60p", max_p=0.1, w_q=0.0005, gentle=True, wait=wait)
            net = one_link(duration="120s", warmup="60s", sample="50ms", queue=queue, source=fl.Cbr(rate=rate, size="1000B"))
            result = net.run(seeds=1)
            late = result.link_series.filter((pl.col("link") == "link") & (pl.col("time") >= 60))
            xs.append(late["avg"].mean())
            ys.append(result.value("loss", link="link").mean)
        axes.plot(xs, ys, "o", ms=4, color=line.get_color(), label=f"measured, {label}")
    axes.set(xlabel="average queue (packets); min 20, max 60, max_p 0.1", ylabel="share of arrivals dropped", xlim=(18, 80), ylim=(0, 0.5))
    axes.legend(fontsize="small")
    return drawing
