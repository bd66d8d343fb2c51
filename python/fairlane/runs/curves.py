"""Curves of a figure: time series of flows, links or groups of flows, from one run or with their interval over all runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ..base.metrics import unit, within
from ..stats.intervals import ANY, CONFIDENCE, Range, bounded, t_factor
from .tables import series

if TYPE_CHECKING:
    from .data import ResultData

#: Most points of a rate over time. Over steps of a few packets a rate jumps between zero and the link rate and draws a solid band.
MAX_RATES = 300
AGGREGATES = ("mean", "sum", "min", "max")
"""Aggregates over the flows of a group."""


@dataclass(frozen=True)
class Curve:
    """Quantity over time, with an interval over the runs if there are several."""

    name: str
    times: np.ndarray
    values: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    span: float = 0.0
    """Time over which each value is a mean; 0 for a single sampling step."""


def curves(
    result: ResultData,
    table: str,
    what: str,
    of: Mapping[str, Sequence[str]],
    aggregate: str,
    seeds: Sequence[int],
    rows: pl.DataFrame | None = None,
) -> list[Curve]:
    """Returns a curve for each name in `of`: at each instant the `aggregate` of its members, averaged over `seeds`.

    `rows`: rows of the table to use (default: all).
    """
    key = "flow" if table == "flow_series" else "link"
    wanted = {m for members in of.values() for m in members}
    frame = series(result, table, what) if rows is None else rows
    frame = frame.filter(pl.col("seed").is_in(list(seeds)) & pl.col(key).is_in(list(wanted)))
    value = pl.col(what).cast(pl.Float64)
    # Infinite values (thresholds) are left out of the axis and of means.
    frame = frame.select("seed", "time", key, pl.when(value.is_finite()).then(value).alias("value"))
    return [
        _curve(frame.filter(pl.col(key).is_in(list(members))), name, unit(what) == "bit/s", aggregate, within(what, aggregate))
        for name, members in of.items()
    ]


def _curve(frame: pl.DataFrame, name: str, rate: bool, aggregate: str, of: Range) -> Curve:
    some = pl.col("value").count() > 0
    per_run = frame.group_by("seed", "time").agg(pl.when(some).then(getattr(pl.col("value"), aggregate)()).alias("value"))
    wide = per_run.pivot(on="seed", index="time", values="value", aggregate_function="first").sort("time")
    times = wide["time"].to_numpy()
    runs = wide.drop("time").to_numpy().astype(float)
    block = -(-len(times) // MAX_RATES) if rate and len(times) else 1
    step = float(times[1] - times[0]) if len(times) > 1 else 0.0
    times, runs = _blocks(times[:, None], block)[:, 0], _blocks(runs, block)
    span = block * step if block > 1 else 0.0
    if runs.shape[1] < 2:
        return Curve(name, times, runs[:, 0] if runs.shape[1] else times * np.nan, span=span)
    return Curve(name, times, *mean_and_interval(runs, of), span=span)


def _blocks(values: np.ndarray, block: int) -> np.ndarray:
    """Returns the means of `block` rows each; an incomplete last block is dropped."""
    whole = len(values) // block * block
    means: np.ndarray = values[:whole].reshape(-1, block, values.shape[1]).mean(axis=1)
    return means


def mean_and_interval(runs: np.ndarray, of: Range = ANY) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns mean and interval of each row over its finite values, bounded by a range; see `fairlane.stats.interval`."""
    there = np.isfinite(runs)
    n = there.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(n > 0, np.where(there, runs, 0.0).sum(axis=1) / n, np.nan)
        squares = np.where(there, (runs - mean[:, None]) ** 2, 0.0).sum(axis=1)
        factor = np.array([_t(int(k)) for k in n])
        half = np.where(n > 1, factor * np.sqrt(squares / (n - 1) / n), 0.0)
    if of == ANY:
        return mean, mean - half, mean + half
    ends = [bounded(m, h, of) if h > 0 else (m, m) for m, h in zip(mean.tolist(), half.tolist(), strict=True)]
    low, high = np.array(ends, float).reshape(-1, 2).T
    return mean, low, high


@lru_cache(maxsize=1024)
def _t(n: int) -> float:
    return t_factor(CONFIDENCE, n - 1) if n > 1 else 0.0
