"""The metrics: what each is called, its unit, formula and source, as the core declares them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

TABLES = ("flows", "links", "network")
_OF = {"flow": "flows", "link": "links", "network": "network"}


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of one table."""

    name: str
    table: str
    unit: str
    formula: str
    doc: str
    source: str


@lru_cache(maxsize=1)
def metrics() -> tuple[Metric, ...]:
    """All metrics, in the order of their tables."""
    from .. import _core

    rows = json.loads(_core.metrics())
    return tuple(
        Metric(
            r["name"],
            _OF.get(r["table"], r["table"]),
            r["unit"],
            r.get("formula", ""),
            r.get("doc", ""),
            r.get("source", ""),
        )
        for r in rows
    )


@lru_cache(maxsize=1)
def units() -> dict[str, str]:
    """Unit of each metric; a name means the same in every table."""
    return {m.name: m.unit for m in metrics()}


def unit(name: str) -> str:
    """Unit of a metric or of a column of a time series; empty if it has none."""
    return units().get(name, SERIES.get(name, ""))


SERIES = {
    "time": "s",
    "cwnd": "byte",
    "ssthresh": "byte",
    "in_flight": "byte",
    "srtt": "s",
    "rto": "s",
    "queue": "packets",
    "queue_bytes": "byte",
    "throughput": "bit/s",
    "goodput": "bit/s",
    "drops": "packets",
    "rate": "bit/s",
    "loss_event_rate": "1",
}
