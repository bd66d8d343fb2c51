"""Tables of cached runs: from rows to columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..study.rows import Rows
from .definition import RunTables, Series

Kept = tuple[tuple[str, Sequence[str], tuple[str, ...]], ...]
"""The columns that a paper keeps: table, columns and names of flows, links, network, and of the series of flows and links."""


def tables_of_run(rows: Rows, kept: Kept) -> RunTables:
    """Returns the tables of a job: names, and numbers in their order; None where there is no value."""
    found = rows.values()
    flows, links, network = (_columns(found, *k) for k in kept[:3])
    flow_series, link_series = (_series(rows, *k) for k in kept[3:])
    return RunTables(
        flows,
        links,
        network,
        int(found["run", "packet_hops"][""]),
        [text for metric, text in rows.texts if metric == "warning"],
        flow_series,
        link_series,
        next((text for metric, text in rows.texts if metric == "fingerprint"), ""),
    )


def _columns(
    found: Mapping[tuple[str, str], Mapping[str, float]], table: str, columns: Sequence[str], names: Sequence[str]
) -> dict[str, list[Any]]:
    # Reasons of drops differ between queues: one that does not know a reason has no column of it.
    there = [c for c in columns if (table, c) in found or not c.startswith(("drops_", "marks_"))]
    return {"name": list(names), **{c: [found.get((table, c), {}).get(n) for n in names] for c in there}}


def _series(rows: Rows, table: str, columns: Sequence[str], names: Sequence[str]) -> Series:
    found = rows.series(table, columns, names)
    return Series() if found is None else Series(tuple(names), *found)
