"""Distributions as curves: steps for one run, mean quantiles with a band for several runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from ...base.format import scale
from .formula_curves import levels
from .pen import Pen
from .samples import across, distribution, some
from .view import View, spread

_SHARES = np.concatenate([np.linspace(0.005, 0.99, 198), 1 - np.geomspace(0.01, 1e-4, 40)])
_RECORDED = "send,retransmit,receive"


def draw(
    pen: Pen, views: Sequence[View], samples: Callable[[View, Sequence[str]], pl.DataFrame], column: str, words: str, *, tail: bool = False
) -> tuple[float, str]:
    """Draws the distribution of each flow or group; returns factor and unit of the axis."""
    found: list[tuple[str, list[np.ndarray]]] = []
    for v in views:
        of = v.curves(how="all of", most=8)
        frame = some(samples(v, [f for own in of.values() for f in own]), v, _RECORDED, words)
        kept = {name: frame.filter(pl.col("flow").is_in(own)) for name, own in of.items()}
        kept = {name: part for name, part in kept.items() if not part.is_empty()}
        for name, part in kept.items():
            runs = [np.sort(r[column].to_numpy()) for _, r in part.group_by(["seed"], maintain_order=True)]
            found.append((v.called(name, len(kept)), runs))
    typical = float(np.median(np.concatenate([r for _, runs in found for r in runs])))
    factor, unit = scale("s", typical)
    least = 1.0
    for name, runs in found:
        own = pen.next(name)
        if len(runs) == 1:
            values, shares = distribution(runs[0])
            x, y = np.r_[values[0], values] * factor, np.r_[0.0, shares]
            keep = y < 1 if tail else y <= 1
            pen.line(name, x[keep], (1 - y if tail else y)[keep], own, steps=True)
            least = min(least, 1 / len(runs[0]))
            continue
        shares = _SHARES[1 - 1 / min(map(len, runs)) >= _SHARES]
        mean, low, high = spread(list(across(runs, shares).T), (0.0, np.inf))
        y = 1 - shares if tail else shares
        pen.line(name, mean * factor, y, own)
        if low is not None and high is not None:
            pen.band(name, y, low * factor, high * factor, own, across=True)
        least = min(least, float(1 - shares[-1]) if len(shares) else 1.0)
    pen.label(
        (words, unit),
        ("share of packets with a longer delay" if tail else "share of packets", "") if column == "delay" else ("share of samples", ""),
    )
    if tail:
        pen.ax.set_yscale("log")
        pen.plain("y", decades=True)
        pen.ax.set_ylim(max(least * 0.8, 1e-7), 1.1)
    else:
        pen.ax.set_ylim(0, 1.02)
    pen.ax.margins(x=0.02)
    units = {"rtt": ("s", factor), "full": ("s", factor)} if column == "rtt" else {"delay": ("s", factor)}
    levels(pen, views, units, upright=True)
    return factor, unit
