"""The metrics and time series: what each is called, its unit and what it is, as the core declares them."""

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
"""What one number of the members of a group may be: `flows.tcp.goodput.sum`; `jain` is Jain's index of fairness among them."""
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
    """What a metric of flows is of a group: their "sum", the formula over "all" their packets, the "mean" of the flows, or "null"."""
    least: float = -math.inf
    """The least value that is possible."""
    most: float = math.inf
    """The largest one."""


@lru_cache(maxsize=1)
def metrics() -> tuple[Metric, ...]:
    """All metrics, in the order of their tables."""
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
    """The metrics of a row of a group: its own, and those of flows that mean something of several together."""
    return tuple(m for m in metrics() if m.table == "groups" or m.pooled not in ("", "null"))


def metrics_in(table: str) -> tuple[Metric, ...]:
    """The metrics that a row of a table has."""
    return pooled() if table == "groups" else tuple(m for m in metrics() if m.table == table)


@lru_cache(maxsize=1)
def units() -> dict[str, str]:
    """Unit of each metric; a name means the same in every table."""
    return {m.name: m.unit for m in metrics()}


@dataclass(frozen=True, slots=True)
class Series:
    """One time series of flows or of links."""

    name: str
    table: str
    unit: str
    feed: str
    """Who feeds it: the sampler for everything, or where there is a control; or, as a gauge, the algorithms that have it."""
    doc: str
    least: float = -math.inf
    """The least value that is possible."""
    most: float = math.inf
    """The largest one."""


@lru_cache(maxsize=1)
def series() -> tuple[Series, ...]:
    """All declared time series, in the order of their tables; a queue or congestion control of one's own may have others."""
    rows = json.loads(_core.series())
    return tuple(Series(r["name"], f"{r['table']}_series", r["unit"], r["feed"], r["doc"], *_bounds(r)) for r in rows)


def series_of(column: str) -> tuple[Series, ...]:
    """The declared series that a column of the tables over time is; `class0_avg` is an `avg`."""
    name = _core.series_name(column)
    return tuple(s for s in series() if s.name == name)


def unit(name: str) -> str:
    """Unit of a metric or of a column of a time series; empty if it has none."""
    return units().get(name) or next((s.unit for s in series_of(name)), "")


@lru_cache(maxsize=1024)
def within(name: str, how: str = "") -> tuple[float, float]:
    """The least and the largest possible value of a metric or of a column of a time series, infinite where there is none, or where nothing
    is known of it. `how`: of one number of several members, as in `AGGREGATES`; a sum of shares may be above one.

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
    """Jain's fairness index, the core's: 1 if all have the same, 1/n if one of n has all, NaN if nobody has anything.

    `fair`: the metric `fair_share` of each, which is the same for flows with the same bottleneck. Each is taken in units of the mean of
    those with the same bottleneck then, so flows that do not compete are not compared.

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
