"""The metrics and time series: what each is called, its unit and what it is, as the core declares them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

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
        )
        for r in rows
    )


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


@lru_cache(maxsize=1)
def series() -> tuple[Series, ...]:
    """All declared time series, in the order of their tables; a queue or congestion control of one's own may have others."""
    rows = json.loads(_core.series())
    return tuple(Series(r["name"], f"{r['table']}_series", r["unit"], r["feed"], r["doc"]) for r in rows)


def series_of(column: str) -> tuple[Series, ...]:
    """The declared series that a column of the tables over time is; `class0_avg` is an `avg`."""
    name = _core.series_name(column)
    return tuple(s for s in series() if s.name == name)


def unit(name: str) -> str:
    """Unit of a metric or of a column of a time series; empty if it has none."""
    return units().get(name) or next((s.unit for s in series_of(name)), "")


def jain(shares: Iterable[float]) -> float:
    """Jain's fairness index, the core's: 1 if all have the same, 1/n if one of n has all, NaN if nobody has anything.

    >>> jain([1.0, 1.0, 1.0, 0.0])
    0.75
    """
    return _core.jain(list(shares))
