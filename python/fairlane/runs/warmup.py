"""Warm-up estimate from the time series of a result (MSER-5)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from ..base.format import seconds
from ..errors import FairlaneError, suggest
from ..stats import Warmup, mser5
from ..stats.intervals import finite
from .tables import series, series_names

if TYPE_CHECKING:
    from .data import ResultData


def warmup(result: ResultData, metric: str, *, flow: str | None = None, link: str | None = None) -> Warmup:
    """Returns the estimate; see `Result.warmup`."""
    if (flow is None) == (link is None):
        raise FairlaneError('a warm-up needs the series of one flow or one link: give flow="NAME" or link="NAME"')
    key, label = ("flow", flow) if flow is not None else ("link", link)
    names = series_names(result, f"{key}_series")
    if not names:
        raise FairlaneError('this result has no time series: give the scenario a sampling step, such as sample = "100ms"')
    metrics = [c for c in names if c not in ("seed", "time", key)]
    if metric not in metrics:
        raise suggest(metric, metrics, f"series of a {key}")
    frame = series(result, f"{key}_series", metric)
    own = frame.filter(pl.col(key) == label)
    if own.is_empty():
        raise suggest(str(label), frame[key].unique().to_list(), key)
    cuts: list[float | None] = []
    step = 0.0
    for seed in result.seeds:
        run = own.filter(pl.col("seed") == seed).sort("time")
        times, values = run["time"].to_list(), run[metric].cast(pl.Float64).to_list()
        step = times[1] - times[0] if len(times) > 1 else 0.0
        # A round-trip time has no value before the first measurement; that time belongs to the warm-up.
        first = next((i for i, x in enumerate(values) if x is not None and math.isfinite(x)), len(values))
        rest = values[first:]
        if len(finite(rest)) < len(rest):
            raise FairlaneError(f"{metric} of {label} has samples without a value: use another series")
        found = mser5(rest)
        cuts.append(None if found.cut is None else times[first + found.cut - 1] if first + found.cut else 0.0)
    whole = None if any(c is None for c in cuts) else max(c for c in cuts if c is not None)
    return Warmup(metric, str(label), whole, tuple(cuts), seconds(result.description["warmup"]), step)
