"""Jain's fairness index over time and over the time scale (Jain, Chiu and Hawe 1984; Koksal, Kassab and Balakrishnan 2000)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from ...errors import FairlaneError
from .pen import Pen
from .view import View, spread

_WINDOWS = 100
"""Number of spans for the index over time."""
_SCALES = 25
FEWEST = 4
"""Least windows of a time scale."""


def index(shares: np.ndarray, places: Sequence[np.ndarray] = ()) -> np.ndarray:
    """Returns Jain's index of each row: (sum)^2 / (n * sum of squares); NaN if all values are zero.

    `places`: the columns of the flows with the same bottleneck, for each bottleneck. Each flow is taken in units of their mean then.

    >>> index(np.array([[1.0, 1.0, 1.0, 0.0], [2.0, 2.0, 2.0, 2.0]])).tolist()
    [0.75, 1.0]
    """
    x = np.nan_to_num(shares)
    for own in places if len(places) > 1 else ():
        mean = x[:, own].mean(axis=1, keepdims=True)
        x[:, own] = np.divide(x[:, own], mean, out=np.zeros_like(x[:, own]), where=mean > 0)
    squares = (x * x).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: np.ndarray = np.where(squares > 0, x.sum(axis=1) ** 2 / (x.shape[1] * squares), np.nan)
    return found


def means(values: np.ndarray, k: int) -> np.ndarray:
    """Returns means over `k` rows each; an incomplete last block is dropped."""
    n = len(values) // k * k
    found: np.ndarray = np.nan_to_num(values[:n]).reshape(-1, k, values.shape[1]).mean(axis=1)
    return found


def _goodputs(view: View) -> tuple[np.ndarray, list[np.ndarray], list[list[np.ndarray]], float]:
    """Returns instants, goodputs of all flows by run, the flows by bottleneck, and the sampling step."""
    flows = view.flows()
    if len(flows) < 2:
        raise FairlaneError(
            f"{view.wish.kind.name} needs at least two flows with a common bottleneck; selected: {', '.join(flows) or 'none'}"
        )
    found = [view.rates("goodput", flows, seed) for seed in view.seeds]
    times = found[0][0]
    places = [_places(view, flows, seed) for seed in view.seeds]
    return times, [m for _, m in found], places, float(times[1] - times[0]) if len(times) > 1 else float(times[0]) if len(times) else 1.0


def _places(view: View, flows: Sequence[str], seed: int) -> list[np.ndarray]:
    """Returns the indices of flows by bottleneck; flows with a common bottleneck have equal `fair_share`."""
    table = view.result.flows
    if "fair_share" not in table.columns:
        return []
    fair = dict(table.filter(pl.col("seed") == seed).select("flow", "fair_share").iter_rows())
    values = np.array([fair.get(f) for f in flows], float)
    return [np.flatnonzero(values == x) for x in np.unique(values[np.isfinite(values)])]


def over_time(pen: Pen, views: Sequence[View]) -> None:
    """Draws the index of the goodputs in spans of equal length."""
    spans = set()
    for v in views:
        times, runs, places, step = _goodputs(v)
        k = max(1, round(len(times) / _WINDOWS))
        spans.add(k * step)
        middle = times[: len(times) // k * k].reshape(-1, k)
        middle = middle[:, -1] - k * step / 2
        mean, low, high = spread([index(means(m, k), own) for m, own in zip(runs, places, strict=True)], (0.0, 1.0))
        name = v.called("all flows", 1)
        own = pen.next(name)
        pen.line(name, middle, mean, own)
        if low is not None and high is not None:
            pen.band(name, middle, low, high, own)
    pen.label(("time", "s"), ("Jain's index", ""), f", spans of {', '.join(f'{s:.3g}' for s in sorted(spans))} s")
    pen.ax.set_ylim(0, 1.03)
    pen.over_time(views)


def over_scale(pen: Pen, views: Sequence[View]) -> None:
    """Draws the mean index over windows of each length, without the warm-up."""
    for v in views:
        times, runs, places, step = _goodputs(v)
        start, end = v.measured
        inside = (times > start + 1e-9) & (times <= end + 1e-9)
        n = int(inside.sum())
        if n < FEWEST:
            raise FairlaneError(
                f"jain-scale needs {FEWEST} samples after the warm-up and found {n}: use a longer run, or a smaller sampling step"
            )
        ks = np.unique(np.geomspace(1, n // FEWEST, _SCALES).round().astype(int))
        rows = [np.array([_mean(index(means(m[inside], k), own)) for k in ks]) for m, own in zip(runs, places, strict=True)]
        mean, low, high = spread(rows, (0.0, 1.0))
        name = v.called("all flows", 1)
        own = pen.next(name)
        pen.line(name, ks * step, mean, own, marker=own.marker, markersize=3 * pen.wide)
        if low is not None and high is not None:
            pen.band(name, ks * step, low, high, own)
    pen.label(("time scale", "s"), ("mean Jain's index", ""))
    pen.ax.set_xscale("log")
    pen.plain("x")
    pen.ax.set_ylim(0, 1.03)


def _mean(values: np.ndarray) -> float:
    kept = values[np.isfinite(values)]
    return float(kept.mean()) if len(kept) else float("nan")
