"""The metrics and time series that the core declares: name, unit and meaning."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .. import _core

TABLES = ("flows", "groups", "links", "network")
AGGREGATES = ("mean", "sum", "min", "max", "jain")
"""Aggregates over the members of a group, as in `flows.tcp.goodput.sum`; `jain` is Jain's fairness index."""
_OF = {"flow": "flows", "group": "groups", "link": "links", "network": "network"}


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of one table."""

    name: str
    table: str
    unit: str
    formula: str
    doc: str
    source: str
    pooled: str = ""
    """Value for a group: "sum" of the flows, the formula over "all" packets, "mean" of the flows, or "null"."""
    least: float = -math.inf
    """Smallest possible value."""
    most: float = math.inf
    """Largest possible value."""


@lru_cache(maxsize=1)
def metrics() -> tuple[Metric, ...]:
    """Returns all metrics, ordered by table."""
    rows = json.loads(_core.metrics())
    return tuple(
        Metric(
            r["name"],
            _OF.get(r["table"], r["table"]),
            r["unit"],
            r.get("formula", ""),
            r.get("doc", ""),
            r.get("source", ""),
            r.get("pooled") or "",
            *_bounds(r),
        )
        for r in rows
    )


def _bounds(row: dict[str, Any]) -> tuple[float, float]:
    least, most = row.get("least"), row.get("most")
    return -math.inf if least is None else float(least), math.inf if most is None else float(most)


@lru_cache(maxsize=1)
def pooled() -> tuple[Metric, ...]:
    """Returns the metrics of a group: its own, and metrics of flows that are defined for several flows."""
    return tuple(m for m in metrics() if m.table == "groups" or m.pooled not in ("", "null"))


def metrics_in(table: str) -> tuple[Metric, ...]:
    """Returns the metrics of a table."""
    return pooled() if table == "groups" else tuple(m for m in metrics() if m.table == table)


@lru_cache(maxsize=1)
def units() -> dict[str, str]:
    """Returns the unit of each metric, which is the same in every table."""
    return {m.name: m.unit for m in metrics()}


@dataclass(frozen=True, slots=True)
class Series:
    """A time series of flows or of links."""

    name: str
    table: str
    unit: str
    feed: str
    """Origin: the sampler, always or with a control; or a gauge of an algorithm."""
    doc: str
    least: float = -math.inf
    """Smallest possible value."""
    most: float = math.inf
    """Largest possible value."""


@lru_cache(maxsize=1)
def series() -> tuple[Series, ...]:
    """Returns all declared time series, ordered by table; plug-ins may have others."""
    rows = json.loads(_core.series())
    return tuple(Series(r["name"], f"{r['table']}_series", r["unit"], r["feed"], r["doc"], *_bounds(r)) for r in rows)


def series_of(column: str) -> tuple[Series, ...]:
    """Returns the declared series of a column; `class0_avg` is an `avg`."""
    name = _core.series_name(column)
    return tuple(s for s in series() if s.name == name)


def unit(name: str) -> str:
    """Returns the unit of a metric or of a column of a time series; "" if it has none."""
    return units().get(name) or next((s.unit for s in series_of(name)), "")


@lru_cache(maxsize=1024)
def within(name: str, how: str = "") -> tuple[float, float]:
    """Returns the smallest and the largest possible value of a metric or of a column, infinite if there is none or it is unknown.

    `how` is an aggregate over members (`AGGREGATES`); a sum of shares may exceed one.

    >>> within("loss"), within("goodput"), within("goodput", "jain")
    ((0.0, 1.0), (0.0, inf), (0.0, 1.0))
    """
    if how == "jain":
        return 0.0, 1.0
    known: Sequence[Metric | Series] = [m for m in metrics() if m.name == name] or series_of(name)
    if not known:
        return -math.inf, math.inf
    least, most = min(m.least for m in known), max(m.most for m in known)
    if how != "sum":
        return least, most
    return (0.0 if least >= 0.0 else -math.inf), (0.0 if most <= 0.0 else math.inf)


def jain(shares: Iterable[float], fair: Iterable[float] | None = None) -> float:
    """Returns Jain's fairness index: 1 if all are equal, 1/n if one of n has all, NaN if all are zero.

    `fair` is the metric `fair_share` of each flow, equal for flows with the same bottleneck. With it each value is divided by the mean of
    its bottleneck, so that flows that do not compete are not compared.

    >>> jain([1.0, 1.0, 1.0, 0.0])
    0.75
    >>> jain([1.0, 1.0, 9.0, 9.0]), jain([1.0, 1.0, 9.0, 9.0], fair=[1.0, 1.0, 9.0, 9.0])
    (0.6097560975609756, 1.0)
    """
    values = list(shares)
    if fair is not None:
        own: dict[float, list[float]] = {}
        at = [place if math.isfinite(place) else 0.0 for place in fair]
        for x, place in zip(values, at, strict=True):
            own.setdefault(place, []).append(x)
        if len(own) > 1:
            means = {place: math.fsum(xs) / len(xs) for place, xs in own.items()}
            values = [x / means[place] if means[place] else 0.0 for x, place in zip(values, at, strict=True)]
    return _core.jain(values)
